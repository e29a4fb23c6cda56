"""The hook of a check."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.events import APPROVAL_DENIED, PROMPT_SUBMIT, TOOL_POST, TOOL_PRE
from amplifier_core.models import HookResult
from amplifier_core.testing import create_test_coordinator, wait_for
from amplifier_hooks.agent.session.self_test import HOOK
from amplifier_hooks.coding_agents.self_test import hook
from amplifier_hooks.coding_agents.self_test.marker import write_command, write_mark
from amplifier_hooks.coding_agents.self_test.ticket import Ticket, make_ticket


@pytest.fixture
def ticket(tmp_path: Path) -> Iterator[Ticket]:
    """Of a check under way."""
    found = make_ticket(tmp_path, 1)
    yield found
    found.remove()


@pytest.fixture
def coordinator(ticket: Ticket, tmp_path: Path) -> Any:
    """Of a session of that check."""
    found = create_test_coordinator()
    found.session_id = f"claude-{ticket.session_id}"
    hook.add_check_hook(tmp_path, found)
    return found


def make_call(case: str) -> dict[str, Any]:
    """What a tool call tells."""
    return {"tool_name": "Bash", "tool_input": {"command": write_command(case)}}


async def tell(coordinator: Any, event: str, data: dict[str, Any]) -> HookResult:
    """What comes of an event."""
    result: HookResult = await coordinator.hooks.emit(event, data)
    return result


async def test_a_session_of_an_agent_gets_no_hook(tmp_path: Path) -> None:
    """Whatever it is called, and whatever words stand in its commands."""
    coordinator = create_test_coordinator()
    coordinator.session_id = "claude-amplifier-check-0123456789abcdef"
    hook.add_check_hook(tmp_path, coordinator)
    assert (await tell(coordinator, TOOL_PRE, make_call("deny"))).action == "continue"


async def test_it_leaves_alone_what_is_not_of_the_check(coordinator: Any) -> None:
    """Also in the session of a check."""
    data = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    assert (await tell(coordinator, TOOL_PRE, data)).action == "continue"
    assert (await tell(coordinator, TOOL_POST, make_call("deny"))).action == "continue"


async def test_it_does_what_the_event_says(coordinator: Any, ticket: Ticket) -> None:
    """Deny, rewrite, inject, ask; and it notes what it heard."""
    denied = await tell(coordinator, TOOL_PRE, make_call("deny"))
    assert (denied.action, denied.reason) == ("deny", hook.REASON)
    prompt = await tell(coordinator, PROMPT_SUBMIT, {"prompt": write_mark("prompt")})
    assert prompt.action == "deny"
    changed = await tell(coordinator, TOOL_PRE, make_call("rewrite"))
    assert changed.data is not None
    assert changed.data["tool_input"] == {"command": write_command("rewritten")}
    asked = await tell(coordinator, TOOL_PRE, make_call("ask"))
    assert (asked.action, asked.approval_prompt) == ("ask_user", hook.QUESTION)
    heard = [ticket.list_reports(case)[0]["event"] for case in ("deny", "prompt", "rewrite")]
    assert heard == [TOOL_PRE, PROMPT_SUBMIT, TOOL_PRE]


async def test_it_replaces_a_result(coordinator: Any) -> None:
    """And keeps what else is known about it."""
    data = {**make_call("replace"), "tool_result": {"success": True, "output": "secret"}}
    changed = await tell(coordinator, TOOL_POST, data)
    assert changed.data is not None
    assert changed.data["tool_result"] == {"success": True, "output": hook.REPLACED}


async def test_it_hangs_until_it_is_let_go(coordinator: Any, ticket: Ticket) -> None:
    """Or until the check is over: no process stays busy because of it."""
    crash = asyncio.create_task(tell(coordinator, TOOL_PRE, make_call("crash-call")))
    hang = asyncio.create_task(tell(coordinator, TOOL_PRE, make_call("hang-call")))
    await wait_for(lambda: bool(ticket.list_reports("crash-call")))
    assert not crash.done()
    ticket.report("free-crash-call")
    assert (await crash).action == "deny"
    assert ticket.list_reports("freed-crash-call")
    assert not hang.done()
    ticket.remove()
    assert (await hang).action == "deny"


async def test_the_next_process_judges_what_the_first_one_died_of(
    coordinator: Any, ticket: Ticket
) -> None:
    """It knows from the ticket that there was one."""
    ticket.report("die")
    answer = await tell(coordinator, TOOL_PRE, make_call("die"))
    assert (answer.action, answer.reason) == ("deny", hook.AGAIN)


async def test_two_calls_are_answered_when_both_are_here(coordinator: Any) -> None:
    """Each with its own name."""
    answers = await asyncio.gather(
        *(tell(coordinator, TOOL_PRE, make_call(case)) for case in ("one", "other"))
    )
    assert [str(one.reason).rpartition(": ")[2] for one in answers] == ["one", "other"]


async def test_it_notes_how_its_question_was_decided(coordinator: Any, ticket: Ticket) -> None:
    """Questions of other hooks are not its business."""
    for name in (HOOK, "other"):
        about = {"hook": name, "prompt": "?", "how": "timeout", "by": name, "decision": ""}
        await tell(coordinator, APPROVAL_DENIED, about)
    assert [one["by"] for one in ticket.list_reports("decided")] == [HOOK]


async def test_it_notes_that_its_question_waits_elsewhere(coordinator: Any, ticket: Ticket) -> None:
    """As soon as it is where people see it."""

    async def find(name: str, prompt: str, seconds: float) -> str | None:
        return "id" if (name, prompt, seconds) == (HOOK, hook.QUESTION, 1.0) else None

    coordinator.register_capability("approval.find", find)
    await tell(coordinator, TOOL_PRE, make_call("ask"))
    await wait_for(lambda: bool(ticket.list_reports("ask-elsewhere")))
    assert len(ticket.list_reports("ask-elsewhere")) == 1
