"""All sessions of other agents."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit import open_log, read_records
from amplifier_core.errors import SessionStateError
from amplifier_core.events import SESSION_END, TOOL_PRE
from amplifier_core.models import HookResult
from amplifier_hooks.agent.session.trail import locate_trail
from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.sessions import open_sessions
from amplifier_hooks.coding_agents.sessions.open_sessions import (
    AgentSessions,
    AgentStates,
    open_agent_session,
)
from amplifier_hooks.coding_agents.sessions.session import ENDED, AgentSession
from amplifier_hooks.external.verdicts import Verdict
from tests.hooks.coding_agents.sessions.agents import make_project, read


async def test_a_session_is_found_again(tmp_path: Path) -> None:
    """With its state and with the folder that it began in."""
    states = AgentStates(tmp_path)
    await states.save("claude-1", {"x": 1}, "/project")
    saved = await states.load("claude-1")
    assert saved is not None
    assert (saved.state, saved.info.working_dir) == ({"x": 1}, "/project")
    assert await states.load("claude-2") is None


async def test_a_damaged_file_is_an_error(tmp_path: Path) -> None:
    """Where the session began decides what governs it: nothing is guessed."""
    states = AgentStates(tmp_path)
    await states.save("claude-1", {"x": 1}, "/project")
    next(tmp_path.iterdir()).write_text("{")
    with pytest.raises(SessionStateError):
        await states.load("claude-1")


async def test_old_ones_are_removed(tmp_path: Path) -> None:
    """Those that nobody has gone on with for a month."""
    states = AgentStates(tmp_path)
    await states.save("claude-1", {}, "/")
    await states.save("claude-2", {}, "/")
    old = next(path for path in tmp_path.iterdir() if "claude-1" in path.name)
    past = time.time() - 40 * 86_400
    os.utime(old, (past, past))
    await states.remove_old()
    assert await states.load("claude-1") is None
    assert await states.load("claude-2") is not None


CLAUDE = DIALECTS["claude"]


def _list_types(session_id: str) -> list[str]:
    return [one["type"] for one in read_records(open_log(locate_trail({}, session_id)))]


async def test_a_session_is_opened_once(project: Path) -> None:
    """Also when many events come at once."""
    sessions = AgentSessions(AgentStates())

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
    states = AgentStates()
    first = AgentSessions(states)
    async with first.use(CLAUDE, "s", project) as guest:
        await guest.handle(read("claude", "PreToolUse"))
    await first.close()
    second = AgentSessions(states)
    async with second.use(CLAUDE, "s", project) as guest:
        await guest.handle(read("claude", "PostToolUse"))
        await second.end(guest, "complete")
    types = _list_types("claude-s")
    assert types.count("session_suspended") == 1
    assert types.count("session_ended") == 1
    assert types.count("tool_started") == types.count("tool_finished") == 1


async def test_a_resumed_session_stays_where_it_began(project: Path, tmp_path: Path) -> None:
    """An agent that has gone elsewhere in the meantime is governed as before."""
    states, elsewhere = AgentStates(), make_project(tmp_path / "elsewhere")
    first = AgentSessions(states)
    async with first.use(CLAUDE, "s", project):
        pass
    await first.close()
    second = AgentSessions(states)
    async with second.use(CLAUDE, "s", elsewhere) as guest:
        assert guest.coordinator.get_capability("session.working_dir") == str(project)
    await second.close()


def _make_old(folder: Path, days: float) -> None:
    past = time.time() - days * 86_400
    for path in folder.iterdir():
        os.utime(path, (past, past))


async def test_what_nobody_goes_on_with_is_forgotten_when_the_process_ends(
    project: Path, tmp_path: Path
) -> None:
    """Else every session that any agent ever had would be kept, and looked through."""
    states, folder = AgentStates(tmp_path / "states"), tmp_path / "states"
    first = AgentSessions(states)
    async with first.use(CLAUDE, "old", project):
        pass
    await first.close()
    _make_old(folder, days=31)
    second = AgentSessions(states)
    async with second.use(CLAUDE, "new", project):
        pass
    await second.close()
    assert await states.load("claude-old") is None
    assert await states.load("claude-new") is not None


async def test_a_forgotten_session_can_begin_again(project: Path, tmp_path: Path) -> None:
    """An agent that comes back after months is judged, in the trail that it had."""
    states = AgentStates(tmp_path / "states")
    for _ in range(2):
        sessions = AgentSessions(states)
        async with sessions.use(CLAUDE, "s", project) as guest:
            verdict = await guest.handle(read("claude", "PreToolUse", cwd=str(project)))
        assert verdict.decision is None
        await sessions.close()
        _make_old(tmp_path / "states", days=31)
        await sessions.close()
        assert await states.load("claude-s") is None
    assert _list_types("claude-s").count("session_suspended") == 2


async def test_too_many_sessions_are_suspended(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ones that were used least lately go first; a busy one stays."""
    monkeypatch.setattr(open_sessions, "MOST_OPEN", 2)
    sessions = AgentSessions(AgentStates())
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
    sessions = AgentSessions(AgentStates(blocked))
    async with sessions.use(CLAUDE, "s", project) as guest:
        await guest.handle(read("claude", "PreToolUse"))
    await sessions.close()
    assert "is not saved" in caplog.text


def _make_waiting_hook(guest: AgentSession) -> tuple[asyncio.Event, asyncio.Event]:
    """A hook before tools that says when it is asked, and waits to be let on."""
    asked, let_on = asyncio.Event(), asyncio.Event()

    async def wait(event: str, data: dict[str, Any]) -> HookResult:
        asked.set()
        await let_on.wait()
        return HookResult()

    guest.coordinator.hooks.register(TOOL_PRE, wait, 10, "waiting")
    return asked, let_on


async def test_a_session_that_became_busy_is_not_suspended(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the choice and the suspension somebody may have asked something."""
    sessions = AgentSessions(AgentStates())
    async with sessions.use(CLAUDE, "s", project) as guest:
        asked, let_on = _make_waiting_hook(guest)
        judging = asyncio.create_task(guest.handle(read("claude", "PreToolUse", cwd=str(project))))
        await asked.wait()
        await sessions._suspend("claude-s", guest, unless_busy=True)
        assert len(sessions) == 1
        let_on.set()
        assert (await judging).decision is None
    await sessions.close()
    assert _list_types("claude-s").count("tool_started") == 1


async def test_a_session_ends_after_what_is_under_way_and_before_what_comes_next(
    project: Path,
) -> None:
    """One trail has one writer at a time; nobody is turned away because it is still closing."""
    sessions = AgentSessions(AgentStates())

    async def call(guest: AgentSession, call_id: str) -> Verdict:
        given = read("claude", "PreToolUse", cwd=str(project), tool_use_id=call_id)
        return await guest.handle(given)

    async def resume() -> Verdict:
        async with sessions.use(CLAUDE, "s", project) as again:
            return await call(again, "t2")

    async with sessions.use(CLAUDE, "s", project) as guest:
        asked, let_on = _make_waiting_hook(guest)
        judging = asyncio.create_task(call(guest, "t1"))
        await asked.wait()
        ending = asyncio.create_task(sessions.end(guest, "complete"))
        await asyncio.sleep(0)
        resuming = asyncio.create_task(resume())
        let_on.set()
        verdicts = await asyncio.gather(judging, resuming)
        await ending
        await sessions.end(guest, "complete")  # told twice
    await sessions.close()
    assert [one.decision for one in verdicts] == [None, None]
    kept = ("tool_started", "session_ended", "session_suspended")
    types = [one for one in _list_types("claude-s") if one in kept]
    assert types == ["tool_started", "session_ended", "tool_started", "session_suspended"]


async def test_what_is_judged_after_the_end_is_denied(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing would record it."""
    monkeypatch.setattr(open_sessions, "_SETTLE", 0.01)
    sessions = AgentSessions(AgentStates())
    async with sessions.use(CLAUDE, "s", project) as guest:
        asked, let_on = _make_waiting_hook(guest)
        judging = asyncio.create_task(guest.handle(read("claude", "PreToolUse", cwd=str(project))))
        await asked.wait()
        await sessions.end(guest, "complete")
        let_on.set()
        verdict = await judging
    assert (verdict.decision, verdict.reason) == ("deny", ENDED)


async def test_a_session_is_closed_although_nobody_waits_for_that(project: Path) -> None:
    """An agent gives hooks little time at its end; its session can be resumed all the same."""
    sessions = AgentSessions(AgentStates())
    async with sessions.use(CLAUDE, "s", project) as guest:
        asked, let_on = asyncio.Event(), asyncio.Event()

        async def wait(event: str, data: dict[str, Any]) -> HookResult:
            asked.set()
            await let_on.wait()
            return HookResult()

        guest.coordinator.hooks.register(SESSION_END, wait, 10, "waiting")
        ending = asyncio.create_task(sessions.end(guest, "complete"))
        await asked.wait()
        ending.cancel()
        await asyncio.gather(ending, return_exceptions=True)
    let_on.set()
    async with sessions.use(CLAUDE, "s", project) as again:
        await again.handle(read("claude", "PreToolUse", cwd=str(project)))
    await sessions.close()
    kept = ("session_ended", "tool_started")
    types = [one for one in _list_types("claude-s") if one in kept]
    assert types == ["session_ended", "tool_started"]


async def test_a_session_is_opened_although_nobody_waits_for_that(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next event finds it, and not a trail that somebody else seems to write."""
    started, let_on = asyncio.Event(), asyncio.Event()

    async def open_slowly(*args: Any, **options: Any) -> AgentSession:
        guest = await open_agent_session(*args, **options)
        started.set()
        await let_on.wait()
        return guest

    monkeypatch.setattr(open_sessions, "open_agent_session", open_slowly)
    sessions = AgentSessions(AgentStates())

    async def use() -> AgentSession:
        async with sessions.use(CLAUDE, "s", project) as guest:
            return guest

    first = asyncio.create_task(use())
    await started.wait()
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    let_on.set()
    assert (await use()).session.session_id == "claude-s"
    await sessions.close()
