"""One session of another agent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.events import (
    ORCHESTRATOR_COMPLETE,
    POLICY_VIOLATION,
    SESSION_END,
    SESSION_START,
    TOOL_PRE,
    is_notification,
)
from amplifier_core.models import HookResult
from amplifier_core.testing import MemoryAudit
from amplifier_hooks.approvals.stores.store import open_store
from amplifier_hooks.coding_agents.dialects import DIALECTS, Dialect
from amplifier_hooks.coding_agents.dialects.dialect import Call, Handler
from amplifier_hooks.coding_agents.dialects.writing import write_reply
from amplifier_hooks.coding_agents.sessions.open_sessions import open_agent_session
from amplifier_hooks.coding_agents.sessions.session import AgentDisplay, AgentSession
from amplifier_hooks.external.conversation import EventContext, current_event
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.verdicts import UNCHANGED, Verdict
from tests.hooks.coding_agents.dialects.opencode.opencode_payloads import read_event
from tests.hooks.coding_agents.dialects.recordings import make_incoming
from tests.hooks.coding_agents.sessions.agents import make_project, read, start
from tests.support.trust import trust_project


def test_a_warning_says_that_it_is_one() -> None:
    """The agent shows one kind of message: the level stands in the text."""
    display, event = AgentDisplay(), EventContext()
    display.show_message("early", "info")
    token = current_event.set(event)
    display.show_message("late", "warning", "hook:slow")
    current_event.reset(token)
    assert display.pop_early() == ["early"]
    assert event.notes == ["warning: slow: late"]


TEXT = "a text of the hook"
ANSWERS: dict[str, dict[str, Any]] = {
    "deny": {"action": "deny", "reason": TEXT},
    "modify": {"action": "modify"},
    "inject_context": {"action": "inject_context", "context_injection": TEXT},
    "ask_user": {
        "action": "ask_user",
        "approval_prompt": TEXT,
        "approval_timeout": 0.01,
    },
    "user_message": {"user_message": TEXT},
}

POWERS: dict[str, set[str]] = {
    "deny": {"deny", "replace"},
    "inject_context": {"inject"},
    "user_message": {"tell"},
}


def change(event: str, data: dict[str, Any]) -> dict[str, Any]:
    """The data of an event with something else where a hook would change it."""
    if event == "tool:pre" or event == "guest:permission_request":
        return {**data, "tool_input": {**data["tool_input"], "command": "true"}}
    if event == "tool:post":
        return {**data, "tool_result": {"success": True, "output": TEXT}}
    return {**data, "prompt": TEXT, "changed": TEXT}


def find_effect(dialect: Dialect, incoming: Incoming, verdict: Verdict, answer: str) -> bool:
    """Whether the agent reads the answer in what we print."""
    handler = Handler(dialect=dialect.name, native=incoming.native, where="test")
    call = Call(incoming.event, incoming.native, incoming.data, incoming.session_id, incoming.cwd)
    read = dialect.read_reply(handler, call, write_reply(dialect, incoming, verdict))
    changed = read.output is not UNCHANGED
    if answer in ("deny", "ask_user"):
        return read.decision in ("deny", "ask") or changed
    if answer == "modify":
        changed = changed or read.tool_input is not None or read.prompt is not None
        return changed or read.decision == "deny"
    said = read.context if answer == "inject_context" else read.notes
    return any(TEXT in one for one in (*said, read.reason or ""))


def waits(guest: AgentSession, answer: str) -> bool:
    """Whether it is kept for the next event that can carry it, and there is one."""
    dialect = guest.dialect
    if answer == "inject_context":
        return dialect.can("inject") and any(TEXT in one for one in guest._texts)
    return answer == "user_message" and dialect.can("tell") and TEXT in guest._notes


@asynccontextmanager
async def open_with_trail(
    dialect: Dialect, folder: Path
) -> AsyncIterator[tuple[AgentSession, MemoryAudit]]:
    """A session of an agent, and what its trail has."""
    guest, audit = await open_agent_session(dialect, "s1", folder), MemoryAudit()
    trail = guest.coordinator.trail
    trail.sink, trail.records = audit, True
    try:
        yield guest, audit
    finally:
        await guest.end("complete")


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize("answer", ANSWERS)
async def test_no_answer_is_dropped_silently(project: Path, name: str, answer: str) -> None:
    """From the agents' own tables: what cannot be carried out is recorded as ignored."""
    dialect, found = DIALECTS[name], {}
    async with open_with_trail(dialect, project) as (guest, audit):
        for native in dialect.events:
            told = read_event(native) if name == "opencode" else make_incoming(name, native)
            incoming = replace(told, cwd=str(project), session_id="s1")
            found[native] = await try_answer(guest, audit, incoming, answer)
    assert [one for one in found.items() if one[1] == "dropped"] == []
    wanted = POWERS.get(answer)
    if wanted is not None:  # the page has these words
        can = {native for native, row in dialect.events.items() if wanted & row.powers}
        heard = {native for native in found if found[native] != "not told"}
        if (name, answer) == ("cursor", "deny"):
            can.remove("postToolUse")  # which replaces results of MCP tools only, as the page says
        assert {one for one in found if found[one] == "carried out"} == can & heard


async def try_answer(
    guest: AgentSession, audit: MemoryAudit, incoming: Incoming, answer: str
) -> str:
    """What becomes of an answer to an event."""
    heard: list[str] = []

    async def hook(event: str, data: dict[str, Any]) -> HookResult:
        heard.append(event)
        changed: Any = {"data": change(event, data)} if answer == "modify" else {}
        return HookResult(**ANSWERS[answer], **changed)

    before = len(audit.of_type("answer_ignored"))
    remove = guest.coordinator.hooks.register(incoming.event, hook, 50, "the-hook")
    verdict = await guest.handle(incoming)
    remove()
    records = audit.of_type("answer_ignored")[before:]
    ignored = [(incoming.event, answer)] == [
        (one["event"], one["body"]["action"]) for one in records
    ]
    if not heard:
        assert incoming.event == SESSION_START  # told when the session was opened
        return "not told"
    if find_effect(guest.dialect, incoming, verdict, answer):
        return "dropped" if ignored else "carried out"
    # What only tells is changed for the hooks behind it and for the trail.
    hidden = answer == "modify" and is_notification(incoming.event)
    later = waits(guest, answer)
    guest._texts.clear()
    guest._notes.clear()
    return "ignored, and said" if ignored else "later" if later or hidden else "dropped"


HOOK = """
from amplifier_core.models import HookResult

async def mount(coordinator, config=None):
    async def judge(event, data):
        return HookResult(action="deny", reason="ANSWER")
    return coordinator.hooks.register("tool:pre", judge, name="file")
"""
BUNDLE = "hooks:\n  - {module: file, source: ./file.py}\n"


async def test_a_hook_that_stops_the_run_stops_the_agent(project: Path) -> None:
    """The verdict says so from then on, until the next prompt."""
    async with start("claude", project) as one:

        async def stop(event: str, data: object) -> HookResult:
            await one.guest.coordinator.request_cancel()
            return HookResult()

        one.guest.coordinator.hooks.register(TOOL_PRE, stop, 1, "stop")
        assert (await one.tell("PreToolUse")).stop
        one.guest.coordinator.hooks.unregister("stop")
        assert (await one.tell("PreToolUse")).stop
        await one.tell("UserPromptSubmit")
        assert (await one.tell("PreToolUse")).stop is None


async def test_what_is_not_judged_in_time_is_denied_and_recorded(project: Path) -> None:
    """At a gate; at a stop a denial would keep the agent working."""
    async with start("claude", project) as one:

        async def hang(event: str, data: object) -> HookResult:
            await asyncio.Event().wait()
            return HookResult()

        told = one.hook(POLICY_VIOLATION)
        for event in (TOOL_PRE, ORCHESTRATOR_COMPLETE):
            one.guest.coordinator.hooks.register(event, hang, 1, "hang")
        before = await one.guest.handle(read("claude", "PreToolUse"), seconds=0.2)
        stop = await one.guest.handle(read("claude", "Stop"), seconds=0.2)
    assert before.decision == "deny"
    assert "did not answer within 0.2 seconds" in str(before.reason)
    assert stop.decision is None
    assert [data["hook"] for data in told] == ["deadline", "deadline"]


async def test_messages_for_the_person_go_with_the_answer(project: Path) -> None:
    """Or wait for an event at which the agent shows them."""
    async with start("copilot", project) as one:
        one.hook(TOOL_PRE, user_message="look here")
        verdict = await one.tell("preToolUse")
        powers = one.guest.dialect.events["preToolUse"].powers
        assert verdict.notes == (("look here",) if "tell" in powers else ())
    async with start("claude", project, "s2") as one:
        one.hook(TOOL_PRE, user_message="look here")
        assert (await one.tell("PreToolUse")).notes == ("look here",)


async def test_another_process_goes_on(project: Path) -> None:
    """Open calls, waiting texts, budgets and stops are what they were."""
    async with start("gemini", project) as one:
        one.hook(TOOL_PRE, action="inject_context", context_injection="later")
        await one.tell("BeforeTool")
        one.guest.blocked_stops = 3
        state = await one.guest.read_state()
        spent = one.guest.coordinator.injection_budget
        await one.guest.suspend()
    async with start("gemini", project, state=state) as two:
        known = one.guest.external.tools.running.list_ids()
        assert two.guest.external.tools.running.list_ids() == known != []
        assert two.guest.blocked_stops == 3
        assert two.guest.coordinator.injection_budget == spent > 0
        after = await two.tell("AfterTool")
        assert any("later" in text for text in after.context)
        assert two.guest.external.tools.running.list_ids() == []
        assert not any("unknown" in note for note in after.notes)


async def test_a_damaged_state_is_none(project: Path) -> None:
    """What is not as it should be is left out."""
    async with start("gemini", project) as one:
        state = await one.guest.read_state()
    own = {"calls": 5, "texts": [1, "kept"], "notes": None, "blocked_stops": "x", "injected": "y"}
    state["session_state"]["guest"] = own
    async with start("gemini", project, state=state) as two:
        assert two.guest.blocked_stops == 0
        assert (await two.tell("AfterTool")).context == ("kept",)


async def test_only_the_end_is_told_as_the_end(project: Path) -> None:
    """A suspended session has not ended."""
    async with start("claude", project) as one:
        told = one.hook(SESSION_END)
        await one.guest.suspend()
        assert told == []
    async with start("claude", project, "s2") as one:
        told = one.hook(SESSION_END)
        await one.guest.end("user_exit")
    assert [data["reason"] for data in told] == ["user_exit"]


async def test_changed_files_are_used_once_a_person_trusts_them(home: Path, tmp_path: Path) -> None:
    """The old hooks stay until then, and the agent cannot bring that about."""
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "file.py").write_text(HOOK.replace("ANSWER", "old"))
    make_project(folder, BUNDLE)
    async with start("claude", folder) as one:
        assert "old" in str((await one.tell("PreToolUse")).reason)
        (folder / "file.py").write_text(HOOK.replace("ANSWER", "new"))
        await one.tell("UserPromptSubmit")
        assert "old" in str((await one.tell("PreToolUse")).reason)
        trust_project(folder)
        await one.tell("UserPromptSubmit")
        assert "new" in str((await one.tell("PreToolUse")).reason)


async def test_a_question_is_withdrawn_when_nobody_waits_for_the_answer(project: Path) -> None:
    """People elsewhere are not left with a question that the agent's own person has answered."""
    store = await open_store()
    try:
        async with start("codex", project) as one:
            one.hook(TOOL_PRE, action="ask_user", approval_prompt="May it?")
            asking = asyncio.create_task(one.tell("PreToolUse"))
            while not (found := (await store.approvals.list())[0]):
                await asyncio.sleep(0.02)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            while (row := await store.approvals.get(found[0].id)).status == "pending":
                await asyncio.sleep(0.02)
        assert row.status == "cancelled"
        assert not one.guest.is_busy
    finally:
        await store.close()
