"""What hooks answer, in sessions whose loop is theirs or ours: nothing is lost, nothing done twice.

Their loops emit by themselves and carry out what `process_hook_result` leaves to them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_core import HookResult
from amplifier_core.testing import EventRecorder
from amplifier_hooks.agent.model_server import ModelServer
from tests.compat.ecosystem.app import App, Person, Screen
from tests.support.ecosystem import (
    LOOPS,
    THEIR_LOOPS,
    Outcome,
    RequestRecorder,
    build_plan,
    run_session,
)
from tests.support.hooks import injects, says
from tests.support.models import PROTOCOLS, Protocol
from tests.support.modules import imports_undone

ADD = ("notes", {"operation": "add", "text": "milk"})
DELETE = ("notes", {"operation": "delete", "number": 1})
PURGE = ("notes", {"operation": "purge"})


@pytest.fixture(autouse=True)
def _undo_imports() -> Iterator[None]:
    with imports_undone():
        yield


@pytest.fixture
def app(tmp_path: Path) -> App:
    return App(tmp_path, person=Person(), screen=Screen())


@pytest.fixture(params=LOOPS)
def loop(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def list_results(outcome: Outcome) -> list[str]:
    """What the agent read as results of its tool calls."""
    return [str(one["content"]) for one in outcome.messages if one["role"] == "tool"]


# Denying and asking


async def test_a_denied_call_is_not_run(app: App, loop: str) -> None:
    """The agent reads why and goes on; no hook hears that it was run."""
    plan = build_plan(
        [[ADD, PURGE], "As you wish."], loop=loop, hooks={"hooks-gate": {"deny": ["purge", "add"]}}
    )
    outcome = await run_session(app, plan, "Clean up")
    assert outcome.replies == ["As you wish."]
    assert outcome.store.notes == {}
    assert outcome.data_of("tool:post") == []
    first, second = list_results(outcome)
    assert "add is forbidden" in first
    assert "purge is forbidden" in second


@pytest.mark.parametrize(
    ("answer", "runs"),
    [("Allow", True), ("Allow once", True), ("Deny", False), ("whatever", False)],
)
async def test_a_person_is_asked(app: App, loop: str, answer: str, runs: bool) -> None:
    """By prompt, the usual options, time and default; the call waits for the answer."""
    app.person.answers = [answer]
    plan = build_plan(
        [[ADD, DELETE], "Done."], loop=loop, hooks={"hooks-gate": {"ask": ["delete"]}}
    )
    outcome = await run_session(app, plan, "Forget it")
    assert app.person.asked == [("Allow delete by notes?", ["Allow", "Deny"], 30.0, "deny")]
    assert outcome.store.notes == ({} if runs else {1: "milk"})
    assert ("denied" in list_results(outcome)[1].lower()) is not runs
    assert len(outcome.data_of("approval:granted" if runs else "approval:denied")) == 1


async def test_what_is_always_allowed_is_asked_once(app: App, loop: str) -> None:
    """Whether the session remembers it or the application does."""
    app.person.answers = ["Allow always"]
    gate = {"ask": ["add"], "options": ["Allow once", "Allow always", "Deny"]}
    plan = build_plan([[ADD], [ADD], "Done."], loop=loop, hooks={"hooks-gate": gate})
    outcome = await run_session(app, plan, "Twice")
    assert len(app.person.asked) == 1
    assert len(outcome.store.notes) == 2


async def test_an_answer_from_the_application_s_memory_counts(app: App, loop: str) -> None:
    """`Allow once` allows, although the hook offered other words for it."""
    app.person.answers = ["Allow once"]
    gate = {"ask": ["add"], "options": ["Yes, add it", "No"]}
    plan = build_plan([[ADD], "Done."], loop=loop, hooks={"hooks-gate": gate})
    assert (await run_session(app, plan, "Add")).store.notes == {1: "milk"}


async def test_nobody_to_ask_is_a_denial(tmp_path: Path, loop: str) -> None:
    """The agent is told that there is no approval system."""
    plan = build_plan([[ADD], "Done."], loop=loop, hooks={"hooks-gate": {"ask": ["add"]}})
    outcome = await run_session(App(tmp_path), plan, "Add")
    assert outcome.store.notes == {}
    assert "No approval system" in list_results(outcome)[0]


@pytest.mark.parametrize("event", ["prompt:submit", "provider:request"])
async def test_a_denied_prompt_or_request_asks_no_model(app: App, loop: str, event: str) -> None:
    """The reply says why."""
    session = await app.open(build_plan(["Never said."], loop=loop))
    session.coordinator.hooks.register(event, says("deny", reason="not on Sundays"), name="calm")
    requests = RequestRecorder(session.coordinator)
    assert "not on Sundays" in await app.ask(session, "Work")
    assert requests.requests == []
    await app.close()


# Injecting


@pytest.mark.parametrize("role", ["system", "user"])
async def test_a_status_is_a_message_of_its_role(app: App, loop: str, role: str) -> None:
    """At the end of the request that it is for."""
    plan = build_plan([[ADD], "Done."], loop=loop, hooks={"hooks-status": {"role": role}})
    outcome = await run_session(app, plan, "Add")
    for number, request in enumerate(outcome.requests.requests, 1):
        last = request.messages[-1]
        assert (last.role, last.text) == (role, f"<status>request {number}</status>")


async def test_a_status_can_stand_behind_the_last_tool_result(app: App, loop: str) -> None:
    """In the same message; without a result it is a message of its own."""
    status = {"append_to_last_tool_result": True}
    plan = build_plan([[ADD], "Done."], loop=loop, hooks={"hooks-status": status})
    outcome = await run_session(app, plan, "Add")
    first, second = (request.messages[-1] for request in outcome.requests.requests)
    assert (first.role, first.text) == ("user", "<status>request 1</status>")
    assert second.role == "tool"
    assert second.text.startswith('{"number": 1}')
    assert second.text.endswith("<status>request 2</status>")


@pytest.mark.parametrize("event", ["prompt:submit", "provider:request", "tool:pre", "tool:post"])
async def test_what_is_injected_for_good_is_stored_once(app: App, loop: str, event: str) -> None:
    """With its origin, and is in the requests from then on once each."""
    session = await app.open(build_plan([[ADD], "Done."], loop=loop))
    hooks, requests = session.coordinator.hooks, RequestRecorder(session.coordinator)
    once = iter([HookResult(action="inject_context", context_injection="Mind the gap.")])
    hooks.register(event, lambda *_: next(once, None), name="advice")
    await app.ask(session, "Add")
    stored = [
        one for one in await session.context.get_messages() if one["content"] == "Mind the gap."
    ]
    assert [one["role"] for one in stored] == ["system"]
    origin = stored[0]["metadata"]
    assert (origin["source"], origin["hook_name"], origin["event"]) == ("hook", "advice", event)
    assert requests.find("Mind the gap.") == ([2] if event.startswith("tool") else [1, 2])
    await app.close()


async def test_injections_of_both_kinds_go_each_their_way(app: App, loop: str) -> None:
    """What lasts is in every request from then on, what passes in one; each once."""
    session = await app.open(build_plan(["One."], loop=loop))
    hooks, requests = session.coordinator.hooks, RequestRecorder(session.coordinator)
    hooks.register("provider:request", injects("It lasts."), name="first")
    hooks.register("provider:request", injects("It passes.", ephemeral=True), name="second")
    await app.ask(session, "First")
    assert (requests.find("It lasts."), requests.find("It passes.")) == ([1], [1])
    stored = [one["content"] for one in await session.context.get_messages()]
    assert stored.count("It lasts.") == 1
    assert "It passes." not in stored
    await app.close()


async def test_injections_are_counted_whoever_places_them(app: App, loop: str) -> None:
    """The budget of a turn holds with their loops too, and each turn has a whole one."""
    plan = build_plan(["One.", "Two."], loop=loop, injection_budget_per_turn=30)
    session = await app.open(plan)
    hooks, requests = session.coordinator.hooks, RequestRecorder(session.coordinator)
    hooks.register("provider:request", injects("a" * 100, ephemeral=True), name="fits")
    hooks.register("provider:request", injects("b" * 100, ephemeral=True), name="too much")
    await app.ask(session, "First")
    await app.ask(session, "Second")
    assert requests.find("a" * 100) == [1, 2]
    assert requests.find("b" * 100) == []
    await app.close()


async def test_a_message_for_the_person_is_shown_once(app: App, loop: str) -> None:
    """With its hook as the source."""
    session = await app.open(build_plan([[ADD], "Done."], loop=loop))
    note = says(user_message="Milk again?", user_message_level="warning")
    session.coordinator.hooks.register("tool:post", note, name="remark")
    await app.ask(session, "Add")
    assert app.screen.shown == [("Milk again?", "warning", "hook:remark")]
    await app.close()


# Changing


@pytest.mark.parametrize("loop", THEIR_LOOPS)
async def test_a_change_of_the_prompt_is_their_loop_s_to_take(app: App, loop: str) -> None:
    """The session does not put it in place before the loop has asked its hooks."""
    session = await app.open(build_plan(["Done."], loop=loop))
    change = says("modify", data={"prompt": "[changed]"})
    session.coordinator.hooks.register("prompt:submit", change, name="change")
    heard = EventRecorder()
    session.coordinator.hooks.register("prompt:submit", heard, priority=100)
    await app.ask(session, "As I said")
    assert [data["prompt"] for _, data in heard.events] == ["[changed]"]
    assert (await session.context.get_messages())[0]["content"] == "As I said"
    await app.close()


# Modules of ours with their loops


async def test_our_tools_and_hooks_serve_their_loops(app: App, loop: str) -> None:
    """A todo list is kept before the agent's eyes, a guarded file is asked for."""
    app.person.answers = ["Deny"]
    todo = {"todos": [{"content": "Buy milk", "status": "pending", "activeForm": "Buying milk"}]}
    write = {"file_path": "production/list.txt", "content": "milk"}
    plan = build_plan(
        [[("Todo", todo)], [("Write", write)], "Done."],
        loop=loop,
        tools=["tool-todo", "tool-filesystem"],
        hooks={
            "hooks-todo-display": {},
            "hooks-production-guard": {"patterns": ["production/**"]},
        },
    )
    outcome = await run_session(app, plan, "Plan it")
    assert outcome.replies == ["Done."]
    assert not (app.folder / "production").exists()
    assert len(app.person.asked) == 1
    assert "denied" in list_results(outcome)[1]
    shown = outcome.requests.texts
    assert [text.count("Buy milk") > 0 for text in shown] == [False, True, True]
    assert "reminder" not in str(outcome.messages[-1])


async def test_our_redaction_hides_secrets_of_their_loops_from_observers(
    app: App, loop: str
) -> None:
    """In results and blocks too, whatever their loop calls them."""
    secret = "sk-" + "a1b2c3d4" * 6
    add = ("notes", {"operation": "add", "text": secret})
    read = ("notes", {"operation": "read", "number": 1})
    hooks = {"hooks-redaction": {"on_write": "off"}}  # the tool shall get it, the others not
    plan = build_plan([[add, read], f"It is {secret}."], loop=loop, hooks=hooks)
    outcome = await run_session(app, plan, "Add")
    assert outcome.store.notes
    told = [one for event in ("tool:post", "content_block:end") for one in outcome.data_of(event)]
    assert "REDACTED" in repr(told)
    assert secret not in repr(told)


def read_roles(request: Any) -> list[str]:
    return [one.role for one in request.messages]


@pytest.mark.parametrize("loop", THEIR_LOOPS)
async def test_a_context_decides_what_their_loops_send(app: App, loop: str) -> None:
    """They ask it for the messages of a request, and so do ours."""
    plan = build_plan([[ADD], "Done."], loop=loop)
    plan["session"]["context"]["config"] = {"instructions": "Be brief."}
    outcome = await run_session(app, plan, "Add")
    assert [read_roles(one) for one in outcome.requests.requests] == [
        ["system", "user"],
        ["system", "user", "assistant", "tool"],
    ]
    assert "Be brief." not in str(outcome.messages)


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)
async def test_our_providers_send_what_their_loops_write(
    app: App, loop: str, protocol: Protocol
) -> None:
    """Calls named as theirs name them reach the model with their results right behind them."""
    calls = [{"name": name, "input": given} for name, given in (ADD, DELETE)]
    async with ModelServer([{"tool_calls": calls}, {"text": "Done."}]) as server:
        plan = build_plan([], loop=loop)
        plan["providers"] = [{"module": protocol.provider, "config": protocol.config(server)}]
        session = await app.open(plan)
        session.coordinator.hooks.register("tool:post", injects("Mind the gap."), name="advice")
        assert await app.ask(session, "Add and delete") == "Done."
        sent = json.dumps(server.requests[-1].body)
    places = [sent.index(text) for text in ("Add and delete", '\\"number\\": 1', "Mind the gap.")]
    assert places == sorted(places)
    assert sent.count('"notes"') >= 2
    await app.close()
