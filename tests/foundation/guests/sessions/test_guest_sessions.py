"""All sessions of other agents."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from amplifier_audit import open_log, read_records
from amplifier_foundation.dialects import DIALECTS
from amplifier_foundation.guests.sessions import guest_sessions
from amplifier_foundation.guests.sessions.guest_sessions import GuestSessions
from amplifier_foundation.guests.sessions.states import GuestStates
from amplifier_foundation.session.trail import locate_trail
from tests.foundation.guests.sessions.agents import make_project, read

CLAUDE = DIALECTS["claude"]


def _list_types(session_id: str) -> list[str]:
    return [one["type"] for one in read_records(open_log(locate_trail({}, session_id)))]


async def test_a_session_is_opened_once(project: Path) -> None:
    """Also when many events come at once."""
    sessions = GuestSessions(GuestStates())

    async def use() -> int:
        async with sessions.use(CLAUDE, "s", project) as guest:
            await guest.handle(read("claude", "PreToolUse"))
            return id(guest)

    assert len(set(await asyncio.gather(*(use() for _ in range(10))))) == 1
    assert len(sessions) == 1
    await sessions.close()
    assert _list_types("claude-s").count("session_started") == 1


async def test_a_suspended_session_goes_on_in_one_trail(project: Path) -> None:
    """One trail with one start, the suspension, and one end."""
    states = GuestStates()
    first = GuestSessions(states)
    async with first.use(CLAUDE, "s", project) as guest:
        await guest.handle(read("claude", "PreToolUse"))
    await first.close()
    second = GuestSessions(states)
    async with second.use(CLAUDE, "s", project) as guest:
        await guest.handle(read("claude", "PostToolUse"))
        await second.end(guest, "complete")
    types = _list_types("claude-s")
    assert types.count("session_suspended") == 1
    assert types.count("session_ended") == 1
    assert types.count("tool_started") == types.count("tool_finished") == 1


async def test_a_resumed_session_stays_where_it_began(project: Path, tmp_path: Path) -> None:
    """An agent that has gone elsewhere in the meantime is governed as before."""
    states, elsewhere = GuestStates(), make_project(tmp_path / "elsewhere")
    first = GuestSessions(states)
    async with first.use(CLAUDE, "s", project):
        pass
    await first.close()
    second = GuestSessions(states)
    async with second.use(CLAUDE, "s", elsewhere) as guest:
        assert guest.coordinator.get_capability("session.working_dir") == str(project)
    await second.close()


async def test_too_many_sessions_are_suspended(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ones that were used least lately go first; a busy one stays."""
    monkeypatch.setattr(guest_sessions, "MOST_OPEN", 2)
    sessions = GuestSessions(GuestStates())
    for name in ("a", "b", "c"):
        async with sessions.use(CLAUDE, name, project) as guest:
            await guest.handle(read("claude", "Stop"))
    assert len(sessions) == 2
    assert "session_suspended" in _list_types("claude-a")
    await sessions.close()


async def test_a_state_that_cannot_be_saved_is_no_failure_of_the_answer(
    project: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A full disk is logged; the agent gets its answer."""
    blocked = tmp_path / "file"
    blocked.write_text("")
    sessions = GuestSessions(GuestStates(blocked))
    async with sessions.use(CLAUDE, "s", project) as guest:
        await guest.handle(read("claude", "PreToolUse"))
    await sessions.close()
    assert "is not saved" in caplog.text
