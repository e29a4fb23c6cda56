"""The host: starts sessions for clients of the API, and goes on with them after a restart."""

from __future__ import annotations

import asyncio
import logging
import platform
import uuid
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from amplifier_core.errors import AmplifierError
from amplifier_core.utils import describe_error
from amplifier_hooks.agent.bundles import load_bundle
from amplifier_hooks.agent.session.assembly import open_session
from amplifier_hooks.agent.session.remote_approval import Elsewhere
from amplifier_hooks.agent.session.saved_sessions import SessionInfo, SessionStore
from amplifier_hooks.agent.trust.import_guard import guard_imports
from amplifier_hooks.agent.trust.material import Material, collect_material
from amplifier_hooks.agent.trust.store import TrustStore
from amplifier_hooks.approvals.errors import Conflict, NotFound, TooMany
from amplifier_hooks.approvals.models import ApprovalFilter, SessionEntry
from amplifier_hooks.approvals.stores.sqlite import SqliteEngine
from amplifier_hooks.approvals.stores.store import Store
from amplifier_hooks.machine.locations import find_data_home
from amplifier_hooks.server.hosting.hosted_session import PROMPTED_BY, HostedSession
from amplifier_hooks.server.hosting.session_lock import SessionLock

logger = logging.getLogger(__name__)

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
            info, state = saved.info, saved.state
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
        return collect_material(bundle.changed(self._ask_here), settings.folder)

    def _ask_here(self, plan: dict[str, Any]) -> dict[str, Any]:
        """Whoever uses the API has no terminal: all questions go to the server's own store.

        The plan names its file, so that it is out of reach for the session's tools.
        """
        kept = {key: one for key, one in plan["approval"].items() if key not in _ELSEWHERE}
        engine = self._store.engine
        own = {"store": str(engine.path)} if isinstance(engine, SqliteEngine) else {}
        return {**plan, "approval": {**kept, **own, "via": "store"}}
