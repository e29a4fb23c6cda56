"""All sessions of other agents that this process stands behind."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.errors import AmplifierError
from amplifier_core.utils import describe_error
from amplifier_hooks.agent.session.saved_sessions import SavedSession, SessionInfo, SessionStore
from amplifier_hooks.coding_agents.dialects import Dialect
from amplifier_hooks.coding_agents.sessions.opening import name_session, open_agent_session
from amplifier_hooks.coding_agents.sessions.session import AgentSession
from amplifier_hooks.machine.locations import find_data_home

KEPT_DAYS = 30


class AgentStates:
    """Reads and writes the states, one file each."""

    def __init__(self, root: Path | None = None) -> None:
        folder = root or find_data_home() / "amplifier" / "guests" / "sessions"
        self._store = SessionStore(folder)

    async def load(self, session_id: str) -> SavedSession | None:
        """How a session stood, and where; None if it is new.

        SessionStateError if what was kept of it cannot be read: where it worked decides what
        governs it, so nothing else is taken instead.
        """
        return await asyncio.to_thread(self._load, session_id)

    def _load(self, session_id: str) -> SavedSession | None:
        return None if self._store.get(session_id) is None else self._store.load(session_id)

    async def save(self, session_id: str, state: Mapping[str, Any], folder: str) -> None:
        """Write how a session stands."""
        info = SessionInfo(session_id, working_dir=folder)
        await asyncio.to_thread(self._store.save, info, state)

    async def remove_old(self, days: float = KEPT_DAYS) -> None:
        """Forget sessions that nobody has gone on with for a long time."""
        await asyncio.to_thread(self._remove_before, time.time() - days * 86_400)

    def _remove_before(self, oldest: float) -> None:
        for path in list(self._store.root.glob("*")):
            with contextlib.suppress(OSError):
                if path.stat().st_mtime < oldest:
                    path.unlink()


logger = logging.getLogger(__name__)

T = TypeVar("T")
Equip = Callable[[SessionCoordinator], None]
IsSelfTest = Callable[[str], bool]
"""Whether a session of ours, by its id, is one of a check that is under way."""
"""Adds to a session that has just been opened."""

_GATHER = 0.3
"""Seconds: what a crash of this process may cost a session of its memory, not of its trail."""

_SETTLE = 2.0
"""Seconds that what is under way has when the agent's session ends; it waits for nobody then."""

MOST_OPEN = 64
"""More than these are suspended, the one first that was used least lately."""


class AgentSessions:
    """Opens each session once, keeps it, and saves how it stands after every event."""

    def __init__(
        self,
        states: AgentStates,
        list_guarded: Callable[[Path], Sequence[Path]] = lambda root: (),
        equip: Equip = lambda coordinator: None,
        is_self_test: IsSelfTest = lambda session_id: False,
    ) -> None:
        self._states = states
        self._list_guarded = list_guarded
        self._equip = equip
        self._is_self_test = is_self_test
        self._open: dict[str, AgentSession] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._works: set[asyncio.Task[Any]] = set()
        self._writing: dict[str, asyncio.Lock] = {}
        self._saving: dict[str, asyncio.Task[None]] = {}

    def __len__(self) -> int:
        return len(self._open)

    def list_alarms(self) -> list[str]:
        """What is wrong with the guard of an agent, for each session that is open."""
        return [
            f"session {session_id}: {what}"
            for session_id, guest in self._open.items()
            for what in guest.list_alarms()
        ]

    @asynccontextmanager
    async def use(
        self,
        dialect: Dialect,
        theirs: str,
        start: Path,
        bundle: str = "",
        alone: bool | None = None,
    ) -> AsyncIterator[AgentSession]:
        """The session, opened or resumed if need be; how it stands is saved afterwards.

        `alone` says whether nobody sits in front of the agent, if that is known at this event.
        """
        session_id = name_session(dialect.name, theirs)
        guest = self._open.get(session_id)
        if guest is not None and alone not in (None, guest.alone):  # it was resumed elsewhere
            await self._see_through(self._suspend(session_id, guest, unless_busy=True))
            guest = self._open.get(session_id)
        if guest is None or self._get_lock(session_id).locked():
            finding = self._find(dialect, session_id, start, bundle, bool(alone))
            guest = await self._see_through(finding)
        try:
            yield guest
        finally:
            if self._open.get(session_id) is guest:
                self._save_soon(session_id, guest)
            await self._suspend_surplus()

    async def _find(
        self, dialect: Dialect, session_id: str, start: Path, bundle: str, alone: bool
    ) -> AgentSession:
        async with self._get_lock(session_id):
            guest = self._open.get(session_id)
            if guest is None:
                guest = await self._start(dialect, session_id, start, bundle, alone)
            return guest

    async def _see_through(self, work: Coroutine[Any, Any, T]) -> T:
        """Do it to its end, also when nobody waits for it any more: half a session keeps its trail
        from everybody."""
        task = asyncio.create_task(work)
        self._works.add(task)
        task.add_done_callback(self._works.discard)
        return await asyncio.shield(task)

    async def _start(
        self, dialect: Dialect, session_id: str, start: Path, bundle: str, alone: bool
    ) -> AgentSession:
        saved = await self._states.load(session_id)
        if saved is not None:
            # Not where the agent is by now: it may have gone where other rules hold.
            start = Path(saved.info.working_dir)
        guest = await open_agent_session(
            dialect,
            session_id,
            start,
            bundle=bundle,
            guarded=self._list_guarded(start),
            state=None if saved is None else saved.state,
            self_test=self._is_self_test(session_id),
            alone=alone,
        )
        self._equip(guest.coordinator)
        self._open[session_id] = guest
        await self._save(session_id, guest)  # where it began decides what governs it
        return guest

    def _get_lock(self, session_id: str) -> asyncio.Lock:
        """Held while a session opens or closes."""
        return self._locks.setdefault(session_id, asyncio.Lock())

    async def end(self, guest: AgentSession, reason: str) -> None:
        """The agent's session is over; it may still be resumed, when this has ended."""
        await self._see_through(self._end(guest, reason))

    async def _end(self, guest: AgentSession, reason: str) -> None:
        session_id = guest.session.session_id
        async with self._get_lock(session_id):
            if self._open.get(session_id) is not guest:  # told twice
                return
            await guest.settle(_SETTLE)
            await guest.conclude()
            del self._open[session_id]
            await self._stop_saving(session_id)
            await self._save(session_id, guest)
            await guest.end(reason)  # type: ignore[arg-type]

    # Saving

    async def save_now(self, guest: AgentSession) -> None:
        """Save how a session stands before its agent acts on what it was told."""
        await self._save(guest.session.session_id, guest)

    def _save_soon(self, session_id: str, guest: AgentSession) -> None:
        """Save without making the agent wait, and several events at once."""
        if session_id not in self._saving:
            self._saving[session_id] = asyncio.create_task(self._save_later(session_id, guest))

    async def _save_later(self, session_id: str, guest: AgentSession) -> None:
        await asyncio.sleep(_GATHER)
        del self._saving[session_id]
        await self._save(session_id, guest)

    async def _save(self, session_id: str, guest: AgentSession) -> None:
        try:
            folder = guest.coordinator.get_capability("session.working_dir")
            async with self._writing.setdefault(session_id, asyncio.Lock()):  # older ones first
                await self._states.save(session_id, await guest.read_state(), str(folder))
        except (AmplifierError, OSError, TypeError, ValueError) as error:
            logger.warning("The state of %s is not saved: %s", session_id, describe_error(error))

    async def _stop_saving(self, session_id: str) -> None:
        task = self._saving.pop(session_id, None)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    # Suspending

    async def _suspend_surplus(self) -> None:
        idle = [one for one in self._open.items() if not one[1].is_busy]
        surplus = len(self._open) - MOST_OPEN
        if surplus <= 0:
            return
        for session_id, guest in sorted(idle, key=lambda one: one[1].last_used)[:surplus]:
            await self._see_through(self._suspend(session_id, guest, unless_busy=True))

    async def _suspend(
        self, session_id: str, guest: AgentSession, *, unless_busy: bool = False
    ) -> None:
        async with self._get_lock(session_id):
            # Whoever held the lock may have opened it for an event that is judged now.
            if self._open.get(session_id) is not guest or (unless_busy and guest.is_busy):
                return
            del self._open[session_id]
            await self._stop_saving(session_id)
            await self._save(session_id, guest)
            await guest.suspend()

    async def close(self) -> None:
        """Suspend all of them, and forget those that nobody goes on with."""
        if self._works:
            await asyncio.wait(set(self._works))
        for session_id, guest in list(self._open.items()):
            try:
                await self._suspend(session_id, guest)
            except Exception:
                logger.exception("Session %s could not be suspended", session_id)
        await self._states.remove_old()
