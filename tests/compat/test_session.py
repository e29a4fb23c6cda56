"""The session as applications and loops of the ecosystem know it: order, errors, what it has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_core import AmplifierSession, ModuleLoader
from amplifier_core.testing import EventRecorder, MockContextManager, MockProvider, MockTool
from tests.support.ecosystem import FOLDER, LOOPS, build_plan, entry
from tests.support.modules import imports_undone, write_package

NOTING = """
async def mount(coordinator, config):
    coordinator.get_capability("order").append("MODULE")
    await coordinator.mount("POINT", object(), name="MODULE")

async def on_session_ready(coordinator):
    coordinator.get_capability("order").append("MODULE is ready")
"""
NOTING_HOOKS = NOTING.replace('    await coordinator.mount("POINT", object(), name="MODULE")\n', "")
POINTS = {
    "hooks-noting": NOTING_HOOKS,
    "tool-noting": NOTING.replace("POINT", "tools"),
    "provider-noting": NOTING.replace("POINT", "providers"),
    "context-noting": NOTING.replace("POINT", "context").replace('object(), name="MODULE"', "[]"),
    "loop-noting": NOTING.replace("POINT", "orchestrator"),
}


@pytest.fixture(autouse=True)
def _undo_imports() -> Iterator[None]:
    with imports_undone():
        yield


# Start


async def test_hooks_are_mounted_last_and_then_everybody_is_told(tmp_path: Path) -> None:
    """Loop, context, providers, tools, hooks; all `on_session_ready`; a child's fork."""
    for module_id, text in POINTS.items():
        write_package(tmp_path, module_id, text.replace("MODULE", module_id))

    def name(module_id: str) -> dict[str, Any]:
        package = f"amplifier_module_{module_id.replace('-', '_')}"
        return {"module": module_id, "source": str(tmp_path / package)}

    plan = {
        "hooks": [name("hooks-noting")],
        "tools": [name("tool-noting")],
        "providers": [name("provider-noting")],
        "session": {"context": name("context-noting"), "orchestrator": name("loop-noting")},
    }
    session = AmplifierSession(plan, parent_id="parent")
    order: list[str] = []
    session.coordinator.register_capability("order", order)
    session.coordinator.hooks.register("session:*", lambda event, _: order.append(event))
    await session.initialize()
    mounted = ["loop-noting", "context-noting", "provider-noting", "tool-noting", "hooks-noting"]
    assert order == [*mounted, *(f"{one} is ready" for one in mounted), "session:fork"]


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("resumed", [False, True])
async def test_the_start_is_told_once_at_the_first_prompt(loop: str, resumed: bool) -> None:
    """And not when the session is initialised."""
    plan = build_plan(["One.", "Two."], loop=loop)
    session = AmplifierSession(plan, is_resumed=resumed)
    heard = EventRecorder()
    session.coordinator.hooks.register("*", heard)
    await session.initialize()
    await session.initialize()
    assert [name for name, _ in heard.events if name.startswith("session:")] == []
    await session.execute("First")
    await session.execute("Second")
    names = [name for name, _ in heard.events]
    assert names.count("session:start") == 1
    assert names.count("session:resume") == int(resumed)
    assert names.index("session:start") < names.index("prompt:submit")
    await session.cleanup()


# Calling the loop


class NotingLoop:
    """Notes with what it is called; emits nothing."""

    given: dict[str, Any]

    async def execute(self, *given: Any, **named: Any) -> str:
        assert given == ()
        self.given = named
        return "Done."


async def test_the_loop_is_called_with_six_keywords() -> None:
    """By name only; the session tells of no prompt that the loop leaves untold, but it has the
    answer judged."""
    session = AmplifierSession(build_plan([]))
    heard, loop = EventRecorder(), NotingLoop()
    session.coordinator.hooks.register("prompt:*", heard)
    await session.initialize()
    await session.coordinator.mount("orchestrator", loop)
    assert await session.execute("Hello") == "Done."
    coordinator = session.coordinator
    assert loop.given == {
        "prompt": "Hello",
        "context": coordinator.get("context"),
        "providers": coordinator.get("providers"),
        "tools": coordinator.get("tools"),
        "hooks": coordinator.hooks,
        "coordinator": coordinator,
    }
    assert heard.names == ["prompt:answer"]
    await session.cleanup()


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ("orchestrator", "No orchestrator"),
        ("context", "No context"),
        ("providers", "No providers mounted"),
    ],
)
async def test_what_is_missing_at_a_prompt_is_said(point: str, message: str) -> None:
    """A RuntimeError; once it is mounted by hand, the session works."""
    session = AmplifierSession(build_plan(["Hi."]))
    await session.initialize()
    coordinator = session.coordinator
    name = "parrot" if point == "providers" else None
    taken = coordinator.get(point, name)
    await coordinator.unmount(point, name)
    with pytest.raises(RuntimeError, match=message):
        await session.execute("Hello")
    await coordinator.mount(point, taken, name=name)
    assert await session.execute("Hello") == "Hi."
    await session.cleanup()


# Constructing


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ({}, "Configuration is required"),
        ({"session": {"context": "context-simple"}}, "must specify session.orchestrator"),
        ({"session": {"orchestrator": "loop-basic"}}, "must specify session.context"),
    ],
)
def test_an_incomplete_plan_is_a_value_error(plan: dict[str, Any], message: str) -> None:
    """At construction, in these words."""
    with pytest.raises(ValueError, match=message):
        AmplifierSession(plan)


async def test_a_session_has_what_applications_look_at() -> None:
    """What it was given, and a loader of its own if it was given none."""
    plan, loader = build_plan(["Hi."]), ModuleLoader()
    session = AmplifierSession(plan, loader, "me", "above", is_resumed=True)
    assert (session.session_id, session.parent_id) == ("me", "above")
    assert (session.is_resumed, session.initialized) == (True, False)
    assert session.config is plan
    assert session.loader is session.coordinator.loader is loader
    other = AmplifierSession(plan)
    assert isinstance(other.loader, ModuleLoader)
    assert other.coordinator.loader is other.loader
    assert (other.parent_id, other.is_resumed) == (None, False)
    assert other.session_id != session.session_id


async def test_the_plan_may_be_changed_before_the_start() -> None:
    """An application adds what it knows only then."""
    plan = build_plan(["Hi."], tools=[])
    session = AmplifierSession(plan)
    plan["tools"].append(entry("tool-notes"))
    session.config["hooks"] = [entry("hooks-routing")]
    await session.initialize()
    assert list(session.coordinator.get("tools")) == ["notes"]
    assert session.coordinator.get_capability("session.routing")["tools"] == ["notes"]
    await session.cleanup()


async def test_a_loop_and_a_context_may_be_named_by_a_string() -> None:
    """Their options are then beside the session, and their sources in it."""
    plan = build_plan([[("notes", {"operation": "add"})], "Never asked for."])
    plan["session"] = {
        "orchestrator": "loop-plain",
        "orchestrator_source": str(FOLDER / "amplifier_module_loop_plain"),
        "context": "context-window",
        "context_source": str(FOLDER / "amplifier_module_context_window"),
    }
    plan["orchestrator"] = {"config": {"max_iterations": 1}}
    plan["context"] = {"config": {"instructions": "Be brief."}}
    async with AmplifierSession(plan) as session:
        await session.execute("Add")
        assert session.coordinator.get("orchestrator").max_iterations == 1
        assert session.context.instructions == "Be brief."  # type: ignore[attr-defined]
        assert len(await session.context.get_messages()) == 3


@pytest.mark.parametrize("kind", ["start", "resume", "fork"])
async def test_metadata_of_the_plan_is_on_the_events_of_the_start(kind: str) -> None:
    """As it was set; without it there is no such field."""
    for settings in ({"metadata": {"team": "a"}}, {}):
        plan = build_plan(["Hi."])
        plan["session"].update(settings)
        parent = "above" if kind == "fork" else None
        session = AmplifierSession(plan, parent_id=parent, is_resumed=kind == "resume")
        heard = EventRecorder()
        session.coordinator.hooks.register(f"session:{kind}", heard)
        await session.initialize()
        await session.execute("Hello")
        ((_, data),) = heard.events
        assert data.get("metadata") == settings.get("metadata")
        assert ("metadata" in data) is ("metadata" in settings)
        await session.cleanup()


# End


class NotingLoader(ModuleLoader):
    """Notes that it was cleaned up."""

    order: list[str]

    def cleanup(self) -> None:
        self.order.append("loader")
        super().cleanup()


@pytest.mark.parametrize("initialised", [False, True])
async def test_the_end_is_told_before_everything_is_undone(initialised: bool) -> None:
    """Only if there was a start; the loader is cleaned up in any case."""
    order: list[str] = []
    loader = NotingLoader()
    loader.order = order
    session = AmplifierSession(build_plan(["Hi."]), loader)
    session.coordinator.hooks.register("session:end", lambda event, _: order.append(event))
    session.coordinator.register_cleanup(lambda: order.append("coordinator"))
    if initialised:
        await session.initialize()
    await session.cleanup()
    assert order == [*(["session:end"] if initialised else []), "coordinator", "loader"]
    assert not session.initialized


async def test_a_session_works_with_doubles_that_are_mounted_by_hand() -> None:
    """As authors try their loops."""
    session = AmplifierSession(build_plan([], loop="loop-blocks", tools=[]))
    await session.initialize()
    coordinator = session.coordinator
    context = MockContextManager()
    await coordinator.mount("context", context)
    await coordinator.mount("tools", MockTool(), name="mock_tool")
    await coordinator.mount("providers", MockProvider(reply="Hello."), name="parrot")
    assert await session.execute("Hi") == "Hello."
    assert context.messages[0] == {"role": "user", "content": "Hi"}
    await session.cleanup()
