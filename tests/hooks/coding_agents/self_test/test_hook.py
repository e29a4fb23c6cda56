"""The hook of a check."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.events import APPROVAL_DENIED, PROMPT_SUBMIT, TOOL_POST, TOOL_PRE
from amplifier_core.models import HookResult
from amplifier_core.testing import create_test_coordinator, wait_for
from amplifier_hooks.coding_agents.self_test import hook
from amplifier_hooks.coding_agents.self_test.hook import (
    Ticket,
    find_case,
    find_ticket,
    make_ticket,
    write_command,
    write_mark,
)
from amplifier_hooks.trails.bodies import SELF_TEST_HOOK


def find(folder: Path, ticket: Ticket) -> Ticket | None:
    """The ticket of the session that the check would have."""
    return find_ticket(folder, f"claude-{ticket.session_id}")


def list_files(folder: Path) -> list[Path]:
    """The files of all tickets."""
    return [one for one in folder.rglob("*") if one.is_file()]


def test_the_hook_s_side_and_the_other_side_see_the_same(tmp_path: Path) -> None:
    """What the hook notes, the check reads."""
    ticket = make_ticket(tmp_path, 2.5)
    found = find(tmp_path, ticket)
    assert found is not None
    assert found.read_seconds() == 2.5
    found.report("deny", pid=7)
    assert ticket.list_reports("deny") == [{"case": "deny", "pid": 7}]
    assert ticket.list_reports("other") == []
    assert ticket.wait_for_report("deny", 0)
    assert not ticket.wait_for_report("other", 0.05)


def test_without_the_file_the_id_means_nothing(tmp_path: Path) -> None:
    """After the check, or for an agent that calls its session so."""
    ticket = make_ticket(tmp_path, 1)
    ticket.remove()
    assert find(tmp_path, ticket) is None
    assert list(tmp_path.iterdir()) == []
    ticket.report("late")
    assert list(tmp_path.iterdir()) == []
    assert ticket.list_reports("late") == []


def test_where_no_file_can_be_written_the_ticket_is_not_valid(tmp_path: Path) -> None:
    """The check goes on, and finds out what is wrong."""
    ticket = make_ticket(tmp_path / "missing", 1)
    assert not ticket.is_valid
    assert ticket.read_seconds() == 0


def test_a_case_is_found_where_it_was_written() -> None:
    """In a command, and in a prompt."""
    data = {"tool_input": {"command": write_command("deny", 3)}, "prompt": write_mark("other")}
    assert find_case(TOOL_PRE, data) == "deny"
    assert find_case(PROMPT_SUBMIT, data) == "other"
    assert find_case(TOOL_PRE, {"tool_input": {"command": "ls", "odd": object()}}) is None
    assert find_case(PROMPT_SUBMIT, {}) is None


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
    data = {**make_call("replace"), "tool_result": {"success": True, "output": "secret"}}
    replaced = await tell(coordinator, TOOL_POST, data)
    assert replaced.data is not None
    assert replaced.data["tool_result"] == {"success": True, "output": hook.REPLACED}
    heard = [ticket.list_reports(case)[0]["event"] for case in ("deny", "prompt", "rewrite")]
    assert heard == [TOOL_PRE, PROMPT_SUBMIT, TOOL_PRE]


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
    for name in (SELF_TEST_HOOK, "other"):
        about = {"hook": name, "prompt": "?", "how": "timeout", "by": name, "decision": ""}
        await tell(coordinator, APPROVAL_DENIED, about)
    assert [one["by"] for one in ticket.list_reports("decided")] == [SELF_TEST_HOOK]


async def test_it_notes_that_its_question_waits_elsewhere(coordinator: Any, ticket: Ticket) -> None:
    """As soon as it is where people see it."""

    async def find(name: str, prompt: str, seconds: float) -> str | None:
        return "id" if (name, prompt, seconds) == (SELF_TEST_HOOK, hook.QUESTION, 1.0) else None

    coordinator.register_capability("approval.find", find)
    await tell(coordinator, TOOL_PRE, make_call("ask"))
    await wait_for(lambda: bool(ticket.list_reports("ask-elsewhere")))
    assert len(ticket.list_reports("ask-elsewhere")) == 1


def test_a_ticket_is_a_private_file_of_the_same_user(tmp_path: Path) -> None:
    """Whoever else could write it, or lead to it, could make any session one of a check."""
    ticket = make_ticket(tmp_path, 1)
    (path,) = list_files(tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    for other in ("claude-123", "claude-amplifier-check-../../x", "claude-amplifier-check-"):
        assert find_ticket(tmp_path, other) is None
    path.chmod(0o644)
    assert find(tmp_path, ticket) is None
    path.chmod(0o600)
    assert find(tmp_path, ticket) is not None
    if os.geteuid() == 0:  # only root can give files away
        os.chown(path, 65534, -1)
        assert find(tmp_path, ticket) is None
        os.chown(path, 0, -1)
    moved = path.rename(tmp_path / "elsewhere")
    path.symlink_to(moved)
    assert find(tmp_path, ticket) is None
