"""Sessions that the server runs for clients of its API; a restart goes on with them."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import platform
import uuid
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from amplifier_core.errors import AmplifierError
from amplifier_core.events import (
    APPROVAL_REQUIRED,
    ERROR_ORCHESTRATION,
    EXECUTION_COMPLETE,
    PROVIDER_REQUEST,
)
from amplifier_core.models import CONTINUE, HookResult
from amplifier_core.utils import describe_error
from amplifier_hooks.agent.bundles import load_bundle
from amplifier_hooks.agent.session.assembled import AssembledSession
from amplifier_hooks.agent.session.assembly import open_session
from amplifier_hooks.agent.session.remote_approval import Elsewhere
from amplifier_hooks.agent.session.saved_sessions import SessionInfo, SessionStore
from amplifier_hooks.agent.trust.material import Material, collect_material, guard_imports
from amplifier_hooks.agent.trust.store import TrustStore
from amplifier_hooks.approvals.errors import Conflict, NotFound, TooMany
from amplifier_hooks.approvals.models import ApprovalFilter, SessionEntry
from amplifier_hooks.approvals.stores.sqlite import SqliteEngine
from amplifier_hooks.approvals.stores.store import Store
from amplifier_hooks.machine.locations import find_data_home
from amplifier_hooks.modules.conversation import GO_ON

logger = logging.getLogger(__name__)


class SessionLock:
    """Held while a session runs, and given back by the system when its process dies."""

    def __init__(self, folder: Path, session_id: str) -> None:
        self._path = folder / f"{session_id}.lock"
        self._descriptor: int | None = None

    def take(self) -> bool:
        """Take it; False if somebody has it."""
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

    def release(self, *, remove: bool = False) -> None:
        """Give it back; with `remove`, the session is over and needs none any more."""
        if self._descriptor is None:
            return
        if remove:
            self._path.unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = None


LAST = 1_000_000
FINISHING_SECONDS = 30.0
UNDER_WAY = "turn_under_way"
"""The key of the session's state that says whether a turn had begun and not ended."""
PROMPTED_BY = "prompted_by"
"""The key for who gave the prompt, and so has requested whatever needs approval."""
_UNDER_WAY = "A turn is under way; wait for its end, or interrupt it"


class HostedSession:
    """One session and the turn that it is in.

    It is saved before each request to the model and each question to a person: what had happened
    by then is known to whoever resumes it.
    """

    def __init__(
        self,
        session: AssembledSession,
        people: Elsewhere,
        saved: SessionStore,
        info: SessionInfo,
    ) -> None:
        self.session = session
        self._people = people
        self._saved = saved
        self._info = info
        self._turn: asyncio.Task[None] | None = None
        self._saving = asyncio.Lock()
        self._announced = asyncio.Event()
        self._leaving = False
        self._ended = False
        self._finishing = False
        self._starting = asyncio.Lock()
        for event in (PROVIDER_REQUEST, APPROVAL_REQUIRED):
            session.coordinator.hooks.register(event, self._on_step, LAST, "hosting-save")
        for end in (EXECUTION_COMPLETE, ERROR_ORCHESTRATION):
            session.coordinator.hooks.register(end, self._on_finish, LAST, "hosting-finish")

    @property
    def is_busy(self) -> bool:
        """Whether a turn is under way."""
        return self._turn is not None and not self._turn.done()

    async def start(self, prompt: str, by: str = "") -> None:
        """Begin a turn for a person; Conflict while there is one, and when the session ends."""
        if self.is_busy and not self._finishing:
            raise Conflict(_UNDER_WAY)
        async with self._starting:
            await self._finish_turn()
            if self._ended or self._leaving:
                raise Conflict("The session has ended")
            self._finishing = False
            self._announced.clear()
            if by:
                self.session.coordinator.session_state[PROMPTED_BY] = by
                self._people.speak_for(by)
            self._turn = asyncio.create_task(self._run(prompt))
            await self._announced.wait()

    async def _finish_turn(self) -> None:
        """Wait for a turn that has its reply and only has to be saved; Conflict for any other."""
        if not self.is_busy or self._turn is None:
            return
        if not self._finishing:
            raise Conflict(_UNDER_WAY)
        await asyncio.wait({self._turn}, timeout=FINISHING_SECONDS)
        if self.is_busy:
            raise Conflict(_UNDER_WAY)

    async def interrupt(self) -> None:
        """Stop the turn at once; what was said stays."""
        if self.is_busy:
            await self.session.coordinator.request_cancel(immediate=True)

    def refuse_second_end(self) -> None:
        """Raise Conflict if somebody is ending it already."""
        if self._ended:
            raise Conflict("The session ends already")

    async def end(self) -> None:
        """Stop the turn and end the session for good."""
        self._ended = True
        try:
            async with self._starting:
                await self.interrupt()
                await self._wait()
            await self.session.cleanup()
        finally:
            await asyncio.to_thread(self._delete)

    async def leave(self) -> None:
        """Let go of the session without ending it: its questions stay open, and it is resumed."""
        self._leaving = True
        self._people.leave_open()
        if self._turn is not None:
            self._turn.cancel()
        await self._wait()
        await self.session.cleanup("user_exit")

    async def save(self, *, under_way: bool) -> None:
        """Write what another process needs to go on."""
        if self._leaving:  # what the end of this process does to the conversation is not kept
            return
        async with self._saving:
            self.session.coordinator.session_state[UNDER_WAY] = under_way
            state = await self.session.state()
            info = replace(
                self._info,
                name=str(self.session.coordinator.session_state.get("name") or self._info.name),
                messages=len(state["messages"]),
                tokens=state["stats"].get("total_tokens", 0),
            )
            self._info = await asyncio.to_thread(self._saved.save, info, state)

    async def _run(self, prompt: str) -> None:
        try:
            await self._people.announce_turn()
        finally:
            self._announced.set()
        reply = error = ""
        try:
            reply = await self.session.execute(prompt)
            self._info = replace(self._info, turns=self._info.turns + 1)
        except Exception as failure:  # noqa: BLE001 - whoever asks for the session reads it
            error = describe_error(failure)
            logger.warning("A turn of session %s failed: %s", self._info.id, error)
        try:
            await self.save(under_way=False)
        except (AmplifierError, OSError) as failure:
            error = error or f"It could not be saved: {describe_error(failure)}"
            logger.warning("Session %s could not be saved: %s", self._info.id, error)
        await self._people.announce_end(reply, error)

    async def _on_step(self, event: str, data: Mapping[str, Any]) -> HookResult:
        if data.get("session_id") == self._info.id:
            self._finishing = False
            await self.save(under_way=True)
        return CONTINUE

    async def _on_finish(self, event: str, data: Mapping[str, Any]) -> HookResult:
        if data.get("session_id") == self._info.id:
            self._finishing = True
        return CONTINUE

    def _delete(self) -> None:
        if self._saved.get(self._info.id) is not None:
            self._saved.delete(self._info.id)

    async def _wait(self) -> None:
        if self._turn is not None:
            await asyncio.gather(self._turn, return_exceptions=True)

    async def resume_turn(self) -> None:
        """Go on with the turn that an earlier process was in, if it was."""
        if self.session.coordinator.session_state.pop(UNDER_WAY, False):
            await self.start(GO_ON)


_ELSEWHERE = ("store", "server", "token")
MOST = 32
"""Sessions that run at the same time."""
MOST_QUESTIONS = 500
RESUMING_SECONDS = 5.0


class _Taken(Exception):
    """Another server of this machine runs the session."""


@dataclass(frozen=True, slots=True)
class HostSettings:
    """What hosted sessions run, and where."""

    bundle: Path | None = None
    folder: Path = field(default_factory=Path.cwd)
    saved: Path | None = None
    most: int = MOST


class SessionHost:
    """Runs sessions of one bundle in one folder; people decide through the store."""

    def __init__(
        self, store: Store, settings: HostSettings, trust: TrustStore | None = None
    ) -> None:
        self._store = store
        self._link = store.as_link()
        self._settings = settings
        self._trust = trust or TrustStore()
        self._saved = SessionStore(settings.saved or find_data_home() / "amplifier" / "hosted")
        self._running: dict[str, HostedSession] = {}
        self._opening = asyncio.Lock()
        self._held = ExitStack()
        self._guards_imports = False
        self._locks: dict[str, SessionLock] = {}
        self._told: set[str] = set()
        self._folder = str(settings.folder.absolute())

    async def create(self, prompt: str = "", name: str = "", by: str = "") -> str:
        """Start a session for a person, and its first turn if there is a prompt; its id."""
        info = SessionInfo(str(uuid.uuid4()), name=name, working_dir=self._folder)
        entry = SessionEntry(
            id=info.id,
            machine=platform.node(),
            user=by,
            name=name,
            working_dir=info.working_dir,
            hosted=True,
        )
        hosted = await self._open(info, entry)
        try:
            await hosted.save(under_way=False)
            if prompt:
                await hosted.start(prompt, by)
        except BaseException:  # nobody learns its id, so nobody could end it
            await asyncio.shield(self._end(info.id, hosted))
            raise
        return info.id

    async def prompt(self, session_id: str, prompt: str, by: str = "") -> None:
        """Begin the next turn, for a person."""
        await self._get(session_id).start(prompt, by)

    async def interrupt(self, session_id: str) -> None:
        """Stop the turn that is under way."""
        await self._get(session_id).interrupt()

    async def end(self, session_id: str) -> None:
        """End a session for good."""
        await self._end(session_id, self._get(session_id))

    async def _end(self, session_id: str, hosted: HostedSession) -> None:
        hosted.refuse_second_end()
        try:
            await hosted.end()
        finally:
            self._forget(session_id, remove=True)
        await self._withdraw_all(session_id)

    async def _withdraw_all(self, session_id: str) -> None:
        """Close what is still open: an earlier process may have asked it, and nobody waits."""
        wanted = ApprovalFilter(("pending",), session_id=session_id, limit=MOST_QUESTIONS)
        for approval in (await self._store.approvals.list(wanted))[0]:
            await self._link.withdraw(approval.id, reason="the session was ended")

    async def run(self) -> None:
        """Go on with sessions that another process of this machine left, now and later."""
        while True:
            await self.resume()
            await asyncio.sleep(RESUMING_SECONDS)

    async def resume(self) -> None:
        """Go on with the sessions of this folder that nobody runs."""
        for info in await asyncio.to_thread(self._saved.list):
            if info.id in self._running or info.working_dir != self._folder:
                continue
            try:
                hosted = await self._open(info, resumed=True)
            except _Taken:
                continue
            except (AmplifierError, OSError) as error:
                self._warn_once(info.id, describe_error(error))
            else:
                await hosted.resume_turn()

    def _warn_once(self, session_id: str, why: str) -> None:
        if session_id not in self._told:
            self._told.add(session_id)
            logger.warning("Session %s is not resumed: %s", session_id, why)

    async def close(self) -> None:
        """Let go of all sessions; the next process goes on with them."""
        left = dict(self._running)
        await asyncio.gather(*(one.leave() for one in left.values()), return_exceptions=True)
        for session_id in left:
            self._forget(session_id)
        self._held.close()

    def _forget(self, session_id: str, *, remove: bool = False) -> None:
        self._running.pop(session_id, None)
        lock = self._locks.pop(session_id, None)
        if lock is not None:
            lock.release(remove=remove)

    def _get(self, session_id: str) -> HostedSession:
        hosted = self._running.get(session_id)
        if hosted is None:
            raise NotFound(f"This server does not run a session {session_id!r}")
        return hosted

    async def _open(
        self, info: SessionInfo, entry: SessionEntry | None = None, *, resumed: bool = False
    ) -> HostedSession:
        async with self._opening:
            if len(self._running) >= self._settings.most:
                raise TooMany(f"{len(self._running)} sessions run here already; end one of them")
            lock = SessionLock(self._saved.root, info.id)
            if not lock.take():
                raise _Taken
            try:
                hosted = await self._open_locked(info, entry, resumed=resumed)
            except BaseException:
                lock.release(remove=not resumed)
                raise
            self._locks[info.id] = lock
            self._running[info.id] = hosted
            return hosted

    async def _open_locked(
        self, info: SessionInfo, entry: SessionEntry | None, *, resumed: bool
    ) -> HostedSession:
        state: Mapping[str, Any] | None = None
        if resumed:  # read only now: whoever ran it may just have saved it
            saved = await asyncio.to_thread(self._saved.load, info.id)
            info = saved.info
            state = saved.state
        material = await self._find_material()
        if entry is not None:  # the session's own news of itself comes a moment later
            await self._link.save_session(entry)
        section = material.bundle.mount_plan["approval"]
        by = entry.user if entry else ((state or {}).get("session_state") or {}).get(PROMPTED_BY)
        people = Elsewhere(section, [self._link], self._settings.folder, hosted=True, user=by or "")
        session = await open_session(
            material.bundle,
            session_id=info.id,
            working_dir=self._settings.folder,
            resume=state,
            material=material,
            hot_reload=False,
            elsewhere=people,
        )
        if info.name:
            session.coordinator.get_capability("session.rename")(info.name, "")
        return HostedSession(session, people, self._saved, info)

    async def _find_material(self) -> Material:
        """What the bundle holds now, if a person has trusted exactly that."""
        material = await asyncio.to_thread(self._collect)
        if not await asyncio.to_thread(self._trust.is_trusted, material):
            raise Conflict(
                f"{material.name or 'The bundle'} in {material.folder} is not trusted; review "
                "and allow it there with: amplifier trust"
            )
        if not self._guards_imports:
            self._guards_imports = True
            self._held.enter_context(guard_imports(material.folder))
        material.snapshot.seal()
        material.snapshot.govern(material.folder)
        return material

    def _collect(self) -> Material:
        settings = self._settings
        bundle = load_bundle(settings.bundle, project_dir=settings.folder)
        asking = bundle.changed(lambda plan: ask_at_store(plan, self._store))
        return collect_material(asking, settings.folder)


def ask_at_store(plan: dict[str, Any], store: Store) -> dict[str, Any]:
    """The plan for who uses the API and has no terminal: all questions go to the server's store.

    It names the store's file, so that this is out of reach for the session's tools.
    """
    kept = {key: one for key, one in plan["approval"].items() if key not in _ELSEWHERE}
    own = {"store": str(store.engine.path)} if isinstance(store.engine, SqliteEngine) else {}
    return {**plan, "approval": {**kept, **own, "via": "store"}}
