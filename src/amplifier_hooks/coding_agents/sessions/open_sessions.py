"""All sessions of other agents that this process stands behind."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.errors import AmplifierError
from amplifier_core.utils import describe_error
from amplifier_hooks.agent.session.assembled import AssembledSession
from amplifier_hooks.agent.session.assembly import open_session, reach_elsewhere
from amplifier_hooks.agent.session.reload import ChangePolicy
from amplifier_hooks.agent.session.saved_sessions import SavedSession, SessionInfo, SessionStore
from amplifier_hooks.coding_agents.dialects import Dialect
from amplifier_hooks.coding_agents.installing.places import PLACES
from amplifier_hooks.coding_agents.protection import protect_guard
from amplifier_hooks.coding_agents.sessions.approval import (
    NOBODY,
    HostPrompt,
    RememberingApproval,
    load_allow_list,
    make_patience,
)
from amplifier_hooks.coding_agents.sessions.bypasses import deny_bare_shells, refuse_prompts
from amplifier_hooks.coding_agents.sessions.handlers import ask_people_elsewhere
from amplifier_hooks.coding_agents.sessions.session import AgentDisplay, AgentSession
from amplifier_hooks.external.plan import TrustedPlan, adapt_to_program, load_trusted_plan
from amplifier_hooks.external.session import ExternalSession
from amplifier_hooks.machine.locations import find_data_home

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def name_session(agent: str, theirs: str) -> str:
    """Our id of a session of theirs; one that could be no file name is replaced by its digest."""
    fits = _PLAIN.fullmatch(theirs)
    return f"{agent}-{theirs if fits else sha256(theirs.encode('utf-8', 'replace')).hexdigest()}"


async def open_agent_session(
    dialect: Dialect,
    session_id: str,
    start: Path,
    *,
    bundle: str = "",
    guarded: Sequence[Path] = (),
    state: Mapping[str, Any] | None = None,
    self_test: bool = False,
    alone: bool = False,
) -> AgentSession:
    """Start the session, or go on with it where `state` says how it stood.

    `alone` is an agent that would ask its person, and has nobody in front of it.
    """
    asks = dialect.asks_its_person and not alone
    plan = await asyncio.to_thread(load_plan, dialect, start, bundle, guarded, asks=asks)
    section = plan.bundle.mount_plan["approval"]
    display = AgentDisplay()
    people = await reach_elsewhere(section, plan.folder, self_test=self_test)
    session = await open_session(
        plan.bundle,
        session_id=session_id,
        approval_system=HostPrompt(dialect.name) if asks else None,
        display_system=display,
        working_dir=plan.folder,
        resume=state,
        material=plan.material,
        changes=ChangePolicy(accepts=plan.accepts),
        elsewhere=people,
        prepare=_remember_answers,
    )
    external = await ExternalSession.attach(session, dialect.name)
    _use_allow_list(external, session, plan, dialect)
    deny_bare_shells(session.coordinator, dialect)
    refuse_prompts(session.coordinator, dialect.name)
    starts = (plan.folder, start)
    protect_guard(session.coordinator, plan.folder, guarded, agent=dialect.name, starts=starts)
    if people is not None and plan.names_people:
        ask_people_elsewhere(session.coordinator, dialect.name)
    watched = start if dialect.name in PLACES else None
    agent = AgentSession(dialect, external, session, display, people, watched, alone=alone)
    if people is not None and not plan.names_people and "timeout" not in section:
        people.wait_briefly(make_patience(session.coordinator.session_state))
        agent.say_at_start(NOBODY)
    return agent


def _use_allow_list(
    external: ExternalSession, session: AssembledSession, plan: TrustedPlan, dialect: Dialect
) -> None:
    """Have what ran before, and what the bundle's rules allow, answered without a question."""
    asking = session.coordinator.approval_system
    if isinstance(asking, RememberingApproval):
        external.tools.on_run = asking.allowed.note
        state = session.coordinator.session_state
        known = load_allow_list(dialect.name, plan.bundle.mount_plan, state)
        asking.find_rule = known.find_rule


def _remember_answers(session: AssembledSession) -> None:
    """Have what people say for always kept with the session."""
    coordinator = session.coordinator
    if coordinator.approval_system is not None:
        state = coordinator.session_state
        coordinator.approval_system = RememberingApproval(coordinator.approval_system, state)


def load_plan(
    dialect: Dialect,
    start: Path,
    named: str = "",
    guarded: Sequence[Path] = (),
    *,
    asks: bool | None = None,
) -> TrustedPlan:
    """Read what governs an agent; Untrusted if no person has allowed exactly that.

    `guarded` has the files by which the agent is guarded.
    """

    def adapt(plan: dict[str, Any]) -> dict[str, Any]:
        return adapt_plan(plan, dialect, guarded, asks=asks)

    return load_trusted_plan(start, named, adapt)


def adapt_plan(
    plan: dict[str, Any],
    dialect: Dialect,
    guarded: Sequence[Path] = (),
    *,
    asks: bool | None = None,
) -> dict[str, Any]:
    """The plan without what the agent has itself, and with its guard's own guard.

    `asks` says whether it asks its person, if not every one of its kind does.
    """
    asking = dialect.asks_its_person if asks is None else asks
    return adapt_to_program(plan, guarded, can_ask=asking)


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
            await guest.wait_until_idle(_SETTLE)
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
