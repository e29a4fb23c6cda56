"""Applications of the ecosystem on ours: what they construct, mount, offer, start, stop and end."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_core import AmplifierSession, CancellationToken, ToolResult
from amplifier_core.testing import EventRecorder
from amplifier_core.validation import (
    ContextValidator,
    HookValidator,
    OrchestratorValidator,
    ProviderValidator,
    ToolValidator,
)
from tests.compat.ecosystem.app import App, FolderResolver, Person, Screen
from tests.support.ecosystem import (
    FOLDER,
    LOOPS,
    PACKAGES,
    RequestRecorder,
    build_plan,
    entry,
    read_lines,
    run_session,
)
from tests.support.modules import imports_undone

ADD = ("notes", {"operation": "add", "text": "milk"})
HELP = ("helper", {"task": "Fetch it"})
WAIT: tuple[str, dict[str, Any]] = ("wait", {})
VALIDATORS: dict[str, Any] = {
    "loop": OrchestratorValidator,
    "context": ContextValidator,
    "provider": ProviderValidator,
    "tool": ToolValidator,
    "hooks": HookValidator,
}


@pytest.fixture(autouse=True)
def _undo_imports() -> Iterator[None]:
    with imports_undone():
        yield


@pytest.fixture
def app(tmp_path: Path) -> App:
    return App(tmp_path, person=Person(), screen=Screen(), resolver=FolderResolver(FOLDER))


@pytest.fixture(params=LOOPS)
def loop(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("package", PACKAGES)
async def test_their_modules_pass_the_validator_of_their_kind(package: str, tmp_path: Path) -> None:
    """So they are what an author of the ecosystem would publish."""
    kind = VALIDATORS[package.split("_")[2]]
    config = {"path": str(tmp_path / "journal.jsonl")}
    result = await kind().validate(str(FOLDER / package), config=config)
    assert result.passed, result.summary()


# What it offers


async def test_modules_read_what_the_application_offers(app: App) -> None:
    """Capabilities are there before the first module is mounted, and each module adds its own."""
    session = await app.open(build_plan(["Hi."], by_source=False, hooks={"hooks-routing": {}}))
    coordinator = session.coordinator
    assert coordinator.get_capability("memory.store").working_dir == str(app.folder)
    assert coordinator.get_capability("mention_resolver")("@notes.md") == app.folder / "notes.md"
    assert coordinator.get_capability("session.spawn") == app.spawn
    assert coordinator.get_capability("session.routing")["memory"] is True
    assert coordinator.get_capability("observability.events") == ["notes:added"]
    assert coordinator.get_capability("no.such") is None
    assert await coordinator.collect_contributions("session.cost") == [{"cost_usd": "0.01"}]
    assert set(coordinator.to_dict()["capabilities"]) >= {"session.working_dir", "memory.store"}
    await app.close()


async def test_our_tools_work_where_the_application_says(app: App) -> None:
    """In `session.working_dir`."""
    write = ("Write", {"file_path": "list.txt", "content": "milk"})
    plan = build_plan([[write], "Done."], by_source=False, tools=["tool-filesystem"])
    await run_session(app, plan, "Write it")
    assert (app.folder / "list.txt").read_text() == "milk"


async def test_a_resolver_is_asked_for_every_module(app: App) -> None:
    """In the order of mounting: loop, context, providers, tools, and hooks last."""
    plan = build_plan(["Hi."], by_source=False, hooks={"hooks-gate": {}, "hooks-status": {}})
    await run_session(app, plan, "Hello")
    assert list(dict.fromkeys(app.resolver.asked)) == [
        "loop-plain",
        "context-window",
        "provider-parrot",
        "tool-notes",
        "hooks-gate",
        "hooks-status",
    ]


async def test_a_provider_that_fails_is_tried_again_by_itself(app: App, loop: str) -> None:
    """Its own events are told, and the loop sees one reply."""
    plan = build_plan(["Hi."], loop=loop, by_source=False)
    plan["providers"][0]["config"] |= {"failures": 2, "api_key": "abc"}
    outcome = await run_session(app, plan, "Hello")
    assert outcome.replies == ["Hi."]
    (asked,), (answered,) = outcome.data_of("llm:request"), outcome.data_of("llm:response")
    assert asked["raw"]["api_key"] == "[REDACTED]"
    assert answered["usage"] == {"input": 10, "output": 5}
    retries = outcome.data_of("provider:retry")
    assert [one["attempt"] for one in retries] == [1, 2]
    assert len({one["request_id"] for one in [asked, answered, *retries]}) == 1


async def test_two_instances_of_a_provider_are_there(app: App) -> None:
    """Each under its name; the loop takes the first."""
    plan = build_plan(["One."], by_source=False, hooks={"hooks-routing": {}})
    other = entry("provider-parrot", by_source=False, replies=["Two."])
    plan["providers"].append({**other, "instance_id": "parrot-two"})
    outcome = await run_session(app, plan, "Hello")
    assert outcome.replies == ["One."]
    routing = outcome.coordinator.get_capability("session.routing")
    assert routing["providers"] == ["parrot", "parrot-two"]


async def test_modules_can_be_mounted_by_hand(app: App, loop: str) -> None:
    """After `initialize`; what is missing is said when it is needed."""
    plan = build_plan([], loop=loop, by_source=False)
    providers, plan["providers"] = plan["providers"], []
    session = await app.open(plan)
    with pytest.raises(RuntimeError, match="No providers mounted"):
        await session.execute("Hello")
    mount = await session.loader.load(providers[0]["module"], {"replies": ["Hi."]})
    await mount(session.coordinator)
    assert await app.ask(session, "Hello") == "Hi."
    await app.close()


@pytest.mark.parametrize("resumed", [False, True])
async def test_what_the_plan_says_of_the_session_travels_with_its_start(
    app: App, resumed: bool
) -> None:
    """Once, at the first prompt; a resumed session says that it is one."""
    journal = app.folder / "journal.jsonl"
    plan = build_plan(
        ["One.", "Two."],
        by_source=False,
        hooks={"hooks-journal": {"path": str(journal)}},
        metadata={"project": "milk"},
    )
    session = await app.open(plan, is_resumed=resumed)
    assert not journal.exists()
    await app.ask(session, "First")
    await app.ask(session, "Second")
    await app.close()
    lines = read_lines(journal)
    told = [name for name, _ in lines if name.startswith("session:")]
    assert told == ["session:start", *(["session:resume"] if resumed else []), "session:end"]
    for name, data in lines:
        assert (data["session_id"], data["parent_id"]) == (session.session_id, None)
        if name in ("session:start", "session:resume"):
            assert data["metadata"] == {"project": "milk"}


async def test_a_module_that_fails_leaves_the_others(
    app: App, caplog: pytest.LogCaptureFixture
) -> None:
    """The journal lacks its option; the session starts without it and says so."""
    plan = build_plan([[ADD], "Done."], by_source=False, hooks={"hooks-journal": {}})
    session = await app.construct(plan)
    heard = EventRecorder()
    session.coordinator.hooks.register("module:load_failed", heard)
    with caplog.at_level(logging.WARNING):
        await session.initialize()
    assert await app.ask(session, "Add") == "Done."
    assert [data["module_id"] for _, data in heard.events] == ["hooks-journal"]
    assert "hooks-journal" in caplog.text
    await app.close()


# Helpers: sessions of its own


class WaitingTool:
    """A tool that has begun when `begun` is set, and ends when `may_end` is."""

    name = "wait"
    description = "Wait."
    input_schema: dict[str, Any] = {"type": "object"}

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.may_end = asyncio.Event()
        self.ended = False

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        self.begun.set()
        await self.may_end.wait()
        self.ended = True
        return ToolResult(output="waited")


class Family(App):
    """An application that notes what its helpers ask their models, and gives them a tool."""

    def __init__(self, folder: Path, helper_plan: dict[str, Any], tool: Any = None) -> None:
        super().__init__(folder, screen=Screen(), helper_plan=helper_plan)
        self.resolver = FolderResolver(FOLDER)
        self.tool = tool
        self.asked: list[RequestRecorder] = []
        self.heard = EventRecorder()

    async def construct(self, plan: Any, **given: Any) -> AmplifierSession:
        session: AmplifierSession = await super().construct(plan, **given)
        session.coordinator.hooks.register("session:*", self.heard)
        session.loader.enqueue_on_session_ready("app", self.prepare)
        return session

    async def prepare(self, coordinator: Any) -> None:
        self.asked.append(RequestRecorder(coordinator))
        if self.tool is not None:
            await coordinator.mount("tools", self.tool, name=self.tool.name)


def plan_helper(loop: str, *replies: Any) -> dict[str, Any]:
    return build_plan(replies, loop=loop, by_source=False)


def plan_parent(loop: str = "loop-plain") -> dict[str, Any]:
    return build_plan([[HELP], "Fetched."], loop=loop, tools=["tool-helper"], by_source=False)


@pytest.mark.parametrize("parent_loop", LOOPS)
async def test_a_helper_is_a_session_of_its_own(
    tmp_path: Path, parent_loop: str, loop: str
) -> None:
    """It works, tells of its fork and its start under its own id, and ends before its parent."""
    family = Family(tmp_path, plan_helper(loop, [ADD], "Here it is."))
    session = await family.open(plan_parent(parent_loop))
    assert await family.ask(session, "Fetch milk") == "Fetched."
    messages = await session.context.get_messages()
    assert [one["content"] for one in messages if one["role"] == "tool"] == ["Here it is."]
    child = family.sessions[1]
    await family.close()
    told = [(name, data["session_id"], data["parent_id"]) for name, data in family.heard.events]
    own, helper = (session.session_id, None), (child.session_id, session.session_id)
    assert told == [
        ("session:start", *own),
        ("session:fork", *helper),
        ("session:start", *helper),
        ("session:end", *helper),
        ("session:end", *own),
    ]
    fork = family.heard.events[1][1]
    assert fork["parent"] == session.session_id
    assert child.coordinator.get_capability("memory.store").closed


@pytest.mark.parametrize("parent_loop", LOOPS)
async def test_a_stop_of_the_parent_reaches_its_helper(
    tmp_path: Path, parent_loop: str, loop: str
) -> None:
    """Gracefully: what runs is ended, and neither asks its model again."""
    tool = WaitingTool()
    family = Family(tmp_path, plan_helper(loop, [WAIT], "Never said."), tool)
    session = await family.open(plan_parent(parent_loop))
    turn = asyncio.create_task(family.ask(session, "Fetch milk"))
    await tool.begun.wait()
    child = family.sessions[1]
    assert not child.coordinator.cancellation.is_cancelled
    await session.coordinator.request_cancel()
    assert child.coordinator.cancellation.is_graceful
    tool.may_end.set()
    await turn
    assert tool.ended
    assert [len(one.requests) for one in family.asked] == [1, 1]
    assert (session.status, child.status) == ("interrupted", "ended")
    await family.close()


@pytest.mark.parametrize("parent_loop", LOOPS)
async def test_an_immediate_stop_reaches_a_helper_at_once(
    tmp_path: Path, parent_loop: str, loop: str
) -> None:
    """It does not wait for the tool; the helper is cleaned up."""
    tool = WaitingTool()
    family = Family(tmp_path, plan_helper(loop, [WAIT], "Never said."), tool)
    session = await family.open(plan_parent(parent_loop))
    turn = asyncio.create_task(family.ask(session, "Fetch milk"))
    await tool.begun.wait()
    await session.coordinator.request_cancel(immediate=True)
    await turn
    child = family.sessions[1]
    assert child.coordinator.cancellation.is_immediate
    assert not tool.ended
    assert (session.status, child.status) == ("interrupted", "ended")
    await family.close()


async def test_a_helper_that_comes_after_the_stop_does_nothing(app: App, loop: str) -> None:
    """A token that is registered late takes over the state, and the first turn heeds it."""
    above = CancellationToken()
    above.request_graceful()
    session = await app.open(plan_helper(loop, "Never said."))
    requests = RequestRecorder(session.coordinator)
    above.register_child(session.coordinator.cancellation)
    await app.ask(session, "Fetch milk")
    assert requests.requests == []
    assert session.status == "interrupted"
    await app.close()


async def test_a_session_goes_on_after_a_stop(app: App, loop: str) -> None:
    """The next prompt is a new turn."""
    tool = WaitingTool()
    session = await app.open(plan_helper(loop, [WAIT], "Here I am."))
    await session.coordinator.mount("tools", tool, name="wait")
    turn = asyncio.create_task(app.ask(session, "Wait"))
    await tool.begun.wait()
    await session.coordinator.request_cancel()
    tool.may_end.set()
    await turn
    assert await app.ask(session, "Still there?") == "Here I am."
    assert session.status == "idle"
    await app.close()


async def test_many_sessions_at_once_do_not_mix(tmp_path: Path) -> None:
    """Each has modules, conversation and folder of its own, and leaves nothing behind."""

    async def work(number: int) -> None:
        app = App(tmp_path / str(number), screen=Screen(), resolver=FolderResolver(FOLDER))
        add = ("notes", {"operation": "add", "text": str(number)})
        hooks: dict[str, Any] = {"hooks-status": {}, "hooks-masking": {}, "hooks-routing": {}}
        plan = build_plan(
            [[add], f"Done {number}."], loop=LOOPS[number % 4], hooks=hooks, by_source=False
        )
        outcome = await run_session(app, plan, "Add")
        assert outcome.replies == [f"Done {number}."]
        assert outcome.store.notes == {1: str(number)}
        assert outcome.store.working_dir == str(tmp_path / str(number))

    path = list(sys.path)
    await asyncio.gather(*(work(number) for number in range(20)))
    assert sys.path == path
