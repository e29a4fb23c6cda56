"""Modules written the way the existing ecosystem writes them mount and run unmodified.

The modules under `modules/` use only what such modules use; nothing in them was adapted to us.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from amplifier_core.approval import ApprovalTimeoutError
from amplifier_core.events import ALL_EVENTS
from amplifier_core.interfaces import ApprovalResponse
from amplifier_core.models import HookResult
from amplifier_core.session import AmplifierSession
from amplifier_core.testing import EventRecorder, RecordingDisplay

MODULES = Path(__file__).parent / "modules"
FORMS = ["DictAsync", "DictPlain", "RoleAsync", "RolePlain"]


def entry(name: str, **config: Any) -> dict[str, Any]:
    return {"module": name, "source": str(MODULES / f"{name}.py"), "config": config}


def plan(**more: Any) -> dict[str, Any]:
    return {
        "session": {
            "orchestrator": more.pop("loop", "loop-basic"),
            "context": more.pop("context", entry("context_forms")),
            **more.pop("session", {}),
        },
        "providers": [entry("provider_canned", **more.pop("provider", {}))],
        "tools": [entry("tool_shell")],
        "hooks": [],
        **more,
    }


def code_of(session: AmplifierSession, name: str) -> ModuleType:
    """The module as this session imported it."""
    (mounted,) = [one for one in session.mounting.mounted if one.id == name]
    assert mounted.error is None, mounted.error
    assert mounted.origin.endswith(f"{name}.py")
    stem = f"amplifier_file_{name}"
    return next(module for key, module in sys.modules.items() if key.startswith(stem))


@pytest.fixture(autouse=True)
def _forget_imported_files() -> Iterator[None]:
    yield
    for name in [one for one in sys.modules if one.startswith("amplifier_file_")]:
        del sys.modules[name]


class Person:
    """Takes its arguments by position."""

    def __init__(self, answer: str | Exception) -> None:
        self.answer = answer
        self.asked: list[tuple[Any, ...]] = []

    async def request_approval(self, *given: Any) -> str:
        self.asked.append(given)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


async def turn(session: AmplifierSession, prompt: str = "ls") -> str:
    async with session:
        return await session.execute(prompt)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loop", ["loop-basic", "loop-streaming"])
async def test_our_loops_run_on_contexts_of_every_form(form: str, loop: str) -> None:
    """A foreign context is served as it wants to be called."""
    session = AmplifierSession(plan(loop=loop, context=entry("context_forms", form=form)))
    inject = HookResult(action="inject_context", context_injection="a remark")
    session.coordinator.hooks.register("tool:post", EventRecorder(inject))
    reply = await turn(session)
    assert "ran" in reply
    said = [one["content"] for one in session.context.messages if one["role"] == "system"]  # type: ignore[attr-defined]
    assert "a remark" in said


@pytest.mark.parametrize("form", ["DictAsync"])
async def test_a_loop_that_emits_and_processes_by_itself(form: str) -> None:
    """No hook's answer is lost with a loop that we did not write."""
    screen = RecordingDisplay()
    session = AmplifierSession(
        plan(
            loop=entry("loop_emitting"),
            context=entry("context_forms", form=form),
            hooks=[entry("hooks_everywhere"), entry("hooks_forms")],
        ),
        display_system=screen,
    )
    async with session:
        reply = await session.execute("ls")
        called = code_of(session, "hooks_forms").CALLED
        lines = code_of(session, "hooks_everywhere").LINES
        messages = list(session.context.messages)  # type: ignore[attr-defined]
    assert "ran" in reply
    assert called == [
        "bound method", "object", "plain function", "async, None", "several injections",
    ]  # fmt: skip
    assert ("two remarks were made", "info", "hook:remarks") in screen.messages
    assert [one["content"] for one in messages if one["role"] == "user"] == ["ls", "first remark"]
    assert "second remark" not in str(messages)
    heard = [event for event, _ in lines]
    for event in ("prompt:submit", "tool:pre", "tool:post", "execution:end", "session:start"):
        assert event in heard
    assert {found for _, found in lines} == {session.session_id}


async def test_one_name_over_every_event_is_removed_registration_by_registration() -> None:
    """Each undo takes back its own."""
    session = AmplifierSession(plan(hooks=[entry("hooks_everywhere")]))
    await session.initialize()
    hooks = session.coordinator.hooks
    listed = hooks.list_handlers()
    assert sum("everywhere" in names for names in listed.values()) >= len(set(ALL_EVENTS)) - 4
    undo = hooks.register("tool:pre", EventRecorder(), name="everywhere")
    undo()
    assert "everywhere" in hooks.list_handlers("tool:pre")["tool:pre"]
    await session.cleanup()
    assert not any("everywhere" in names for names in hooks.list_handlers().values())


async def test_what_a_handler_writes_into_its_data_does_not_leak() -> None:
    """Existing handlers do write there."""
    session = AmplifierSession(plan(hooks=[entry("hooks_everywhere", priority=1)]))
    heard = EventRecorder()
    session.coordinator.hooks.register("*", heard, priority=1000)
    await turn(session)
    assert heard.events
    assert not [event for event, data in heard.events if "seen_by" in data]


@pytest.mark.parametrize("approved", [True, False])
async def test_an_approval_module_asks_the_provider_it_was_given(approved: bool) -> None:
    """`approval.register_provider`, ApprovalRequest and ApprovalResponse."""
    requests: list[Any] = []

    class Provider:
        async def request_approval(self, request: Any) -> ApprovalResponse:
            requests.append(request)
            return ApprovalResponse(approved=approved, reason="because")

    session = AmplifierSession(plan(hooks=[entry("hooks_approval")]))
    async with session:
        session.coordinator.get_capability("approval.register_provider")(Provider())
        reply = await session.execute("rm -rf build")
        events = await session.coordinator.collect_contributions("observability.events")
    (request,) = requests
    assert (request.tool_name, request.risk_level) == ("shell", "high")
    assert events == [["approval:asked_provider", "approval:answered"]]
    assert ("Operation denied by approval_hook: because" in reply) is not approved


async def test_contributed_events_are_heard() -> None:
    """A logger asks the modules which events of their own there are."""
    session = AmplifierSession(plan(hooks=[entry("hooks_everywhere")]))
    session.coordinator.register_contributor(
        "observability.events", "tool_shell", lambda: ["shell:ran"]
    )
    async with session:
        await session.execute("ls")
        lines = code_of(session, "hooks_everywhere").LINES
    assert "shell:ran" in [event for event, _ in lines]


@pytest.mark.parametrize("loop", ["loop-basic", entry("loop_emitting")], ids=["ours", "theirs"])
@pytest.mark.parametrize(
    ("answer", "runs"), [("Allow once", True), ("Deny", False), (ApprovalTimeoutError("x"), False)]
)
async def test_an_approval_system_is_called_by_position(loop: Any, answer: Any, runs: bool) -> None:
    """Existing front ends name their parameters as they like."""
    person = Person(answer)
    session = AmplifierSession(plan(loop=loop), approval_system=person)
    ask = HookResult(
        action="ask_user",
        approval_prompt="run it?",
        approval_options=["Allow once", "Deny"],
        approval_timeout=9.0,
    )
    session.coordinator.hooks.register("tool:pre", EventRecorder(ask), name="gate")
    reply = await turn(session)
    assert person.asked == [("run it?", ["Allow once", "Deny"], 9.0, "deny")]
    assert ("ran" in reply) is runs


async def test_a_tool_module_keeps_state_and_learns_of_start_and_end(tmp_path: Path) -> None:
    """Arbitrary attributes on the coordinator, `on_session_ready` after all mounts, clean-up."""
    session = AmplifierSession(plan())
    session.coordinator.register_capability("session.working_dir", str(tmp_path))
    async with session:
        reply = await session.execute("ls")
        ready = code_of(session, "tool_shell").READY
        assert ready == [["shell"]]
        assert session.coordinator.todo_state == [  # type: ignore[attr-defined]
            {"content": "ls", "status": "completed", "activeForm": "running"}
        ]
    assert str(tmp_path) in reply
    assert ready == [["shell"], "cleaned"]
    assert session.coordinator.get("providers") == {}


async def test_an_error_given_as_a_dict_stays_one_and_reads_as_a_sentence() -> None:
    """Callers read the dict, the agent its message."""
    session = AmplifierSession(plan())
    async with session:
        result = await session.execute_tool("shell", {})
    assert (result.success, result.error) == (False, {"message": "a command is needed"})
    assert result.get_serialized_output() == "a command is needed"


async def test_a_provider_that_asks_to_slow_down_is_asked_again() -> None:
    """The loop retries; the provider need not."""
    session = AmplifierSession(plan(provider={"failures": 2}))
    heard = EventRecorder()
    session.coordinator.hooks.register("provider:retry", heard)
    assert "ran" in await turn(session)
    assert [data["error"]["status_code"] for _, data in heard.events] == [429, 429]
    counted = {"total_messages": 4, "tool_invocations": 1, "total_tokens": 30}
    assert session.stats == {**counted, "hook_failures": 0}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("nowhere", object()), "Unknown mount point"),
        (("tools", object()), "Name required"),
        (("hooks", object()), "Hooks should be registered"),
    ],
)
async def test_mounting_wrongly_is_a_value_error(given: tuple[Any, ...], message: str) -> None:
    """With words that existing modules look for."""
    session = AmplifierSession(plan())
    with pytest.raises(ValueError, match=message):
        await session.coordinator.mount(*given)


async def test_the_session_is_called_as_the_ecosystem_calls_it() -> None:
    """AmplifierSession(config, loader, session_id, parent_id, approval_system, display_system)."""
    screen, person = RecordingDisplay(), Person("Deny")
    session = AmplifierSession(plan(), None, "child", "parent", person, screen, True)
    heard = EventRecorder()
    session.coordinator.hooks.register("session:*", heard)
    coordinator = session.coordinator
    assert (coordinator.session_id, coordinator.parent_id, coordinator.session) == (
        "child",
        "parent",
        session,
    )
    assert (coordinator.approval_system, coordinator.display_system) == (person, screen)
    assert coordinator.config["session"]["orchestrator"] == "loop-basic"
    assert not session.initialized
    await session.initialize()
    assert session.initialized
    assert heard.names == ["session:fork"]
    await session.start()
    await session.cleanup()
    assert heard.names == ["session:fork", "session:start", "session:resume", "session:end"]
    assert heard.events[1][1]["source"] == "resume"
    assert {data["parent_id"] for _, data in heard.events} == {"parent"}


async def test_a_package_of_the_ecosystem_is_found_by_its_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its import name, without an entry point."""
    package = tmp_path / "amplifier_module_hooks_everywhere_else"
    package.mkdir()
    (package / "__init__.py").write_text((MODULES / "hooks_everywhere.py").read_text())
    monkeypatch.syspath_prepend(str(tmp_path))
    source = "git+https://example.org/modules@main"
    session = AmplifierSession(plan(hooks=[{"module": "hooks-everywhere-else", "source": source}]))
    async with session:
        (mounted,) = [one for one in session.mounting.mounted if one.kind == "hooks"]
        assert (mounted.error, mounted.origin) == (None, "amplifier_module_hooks_everywhere_else")
    del sys.modules["amplifier_module_hooks_everywhere_else"]
