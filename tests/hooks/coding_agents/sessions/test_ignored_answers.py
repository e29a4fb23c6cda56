"""Every answer at every event of every agent is carried out, waits for its turn, or is said."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.events import SESSION_START, is_notification
from amplifier_core.models import HookResult
from amplifier_core.testing import MemoryAudit
from amplifier_hooks.coding_agents.dialects import DIALECTS, Dialect
from amplifier_hooks.coding_agents.dialects.call import Call
from amplifier_hooks.coding_agents.dialects.handler import Handler
from amplifier_hooks.coding_agents.dialects.writing import write_reply
from amplifier_hooks.coding_agents.sessions.guest_session import GuestSession
from amplifier_hooks.coding_agents.sessions.opening import open_guest
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.verdicts import UNCHANGED, Verdict
from tests.hooks.coding_agents.dialects.opencode.opencode_payloads import read_event
from tests.hooks.coding_agents.dialects.recordings import make_incoming

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


def waits(guest: GuestSession, answer: str) -> bool:
    """Whether it is kept for the next event that can carry it, and there is one."""
    dialect = guest.dialect
    if answer == "inject_context":
        return dialect.can("inject") and any(TEXT in one for one in guest._texts)
    return answer == "user_message" and dialect.can("tell") and TEXT in guest._notes


@asynccontextmanager
async def open_with_trail(
    dialect: Dialect, folder: Path
) -> AsyncIterator[tuple[GuestSession, MemoryAudit]]:
    """A session of an agent, and what its trail has."""
    guest, audit = await open_guest(dialect, "s1", folder), MemoryAudit()
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
    guest: GuestSession, audit: MemoryAudit, incoming: Incoming, answer: str
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
