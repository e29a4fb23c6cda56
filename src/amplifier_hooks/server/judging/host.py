"""All sessions of programs elsewhere: opened once for each key, found by their owner, and ended."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections import OrderedDict
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from amplifier_core.errors import AmplifierError, SessionDenied
from amplifier_core.mount_plan import list_ways
from amplifier_core.payloads import EndReason
from amplifier_core.utils import describe_error
from amplifier_hooks.agent.bundles import BundleError
from amplifier_hooks.agent.session.assembled import AssembledSession
from amplifier_hooks.agent.session.assembly import open_session
from amplifier_hooks.agent.session.remote_approval import Elsewhere, reach_people
from amplifier_hooks.agent.trust.material import Untrusted, guard_imports
from amplifier_hooks.approvals.errors import StoreError
from amplifier_hooks.approvals.stores.store import Store, open_store
from amplifier_hooks.coding_agents.protection import list_protected_files, protect_guard
from amplifier_hooks.coverage import OVER_HTTP
from amplifier_hooks.external.coverage_gaps import check_start
from amplifier_hooks.external.handover import RunApproval
from amplifier_hooks.external.loops import Home
from amplifier_hooks.external.opening import explain_end, prepare_run
from amplifier_hooks.external.plan import TrustedPlan, adapt_to_program, load_trusted_plan
from amplifier_hooks.external.run import Run
from amplifier_hooks.external.session import ExternalSession
from amplifier_hooks.http_guard import Refusal
from amplifier_hooks.machine.files import normalize
from amplifier_hooks.server.encoding import encode
from amplifier_hooks.server.hosting import ask_at_store
from amplifier_hooks.server.judging import bodies, refusals
from amplifier_hooks.server.judging.judging import PeopleAsked, note_waiting
from amplifier_hooks.server.judging.session import (
    JudgedSession,
    ShownMessages,
    Terms,
    digest_body,
)
from amplifier_hooks.server.settings import JudgeSettings

logger = logging.getLogger(__name__)

MOST_OPEN = 1000
CLOSING_SECONDS = 5.0
MOST_OVER = 1000
"""Sessions that have ended, of which is still known how."""


@dataclass(slots=True)
class _Opening:
    """A session that was asked for under a key."""

    digest: bytes
    answer: asyncio.Future[bytes]
    session_id: str


@dataclass(frozen=True, slots=True)
class EndedSession:
    """What is left of a session."""

    owner: str
    state: dict[str, Any]
    answer: bytes
    """To whoever ended it."""


class JudgeHost:
    """Opens sessions of one bundle in one folder for programs, each for its owner only.

    With a `store`, people are asked there; else where the bundle says, or at this person's store.
    """

    def __init__(self, settings: JudgeSettings, store: Store | None = None) -> None:
        self._settings = settings
        self._store = store
        self._own_store: Store | None = None
        self._open: dict[str, JudgedSession] = {}
        self._over: OrderedDict[str, EndedSession] = OrderedDict()
        self._keys: dict[tuple[str, str], _Opening] = {}
        self._named: dict[str, tuple[str, str]] = {}
        self._works: set[asyncio.Task[Any]] = set()
        self._reaching = asyncio.Lock()
        self._held = ExitStack()
        self._guards_imports = False
        self._is_closing = False

    # Opening

    async def open(self, body: bodies.NewSession, owner: str) -> tuple[bytes, bool]:
        """The answer to who opens a session, and whether it was given before."""
        if self._is_closing:
            raise refusals.stopping()
        name = (owner, body.key)
        digest = digest_body(body)
        known = self._keys.get(name)
        if known is not None:
            if known.digest != digest:
                raise refusals.key_reused(f"The key {body.key[:100]!r}")
            return await asyncio.shield(known.answer), True
        if len(self._keys) - len(self._over) >= MOST_OPEN:
            raise refusals.too_many(f"{MOST_OPEN:,} sessions are open; end one of them")
        session_id = str(uuid.uuid4())
        answer = self._start(self._open_session(body, owner, session_id))
        self._keys[name] = _Opening(digest, answer, session_id)
        self._named[session_id] = name
        answer.add_done_callback(lambda done: self._forget_failed(session_id, done))
        return await asyncio.shield(answer), False

    def _start(self, work: Any) -> asyncio.Task[Any]:
        """See it through: whoever waits for it may leave."""
        task = asyncio.create_task(work)
        self._works.add(task)
        task.add_done_callback(self._works.discard)
        return task

    def _forget_failed(self, session_id: str, done: asyncio.Future[bytes]) -> None:
        """What could not be opened may be tried again under the same key; a hook's no stands."""
        if session_id not in self._over and (done.cancelled() or done.exception() is not None):
            self._forget(session_id)

    def _note_over(self, session_id: str, over: EndedSession) -> None:
        self._over[session_id] = over
        while len(self._over) > MOST_OVER:
            self._forget(next(iter(self._over)))

    def _forget(self, session_id: str) -> None:
        self._over.pop(session_id, None)
        name = self._named.pop(session_id, None)
        if name is not None:
            del self._keys[name]

    async def _open_session(self, body: bodies.NewSession, owner: str, session_id: str) -> bytes:
        try:
            session = await self._build(body, owner, session_id)
        except SessionDenied as error:
            self._note_over(session_id, EndedSession(owner, {"reason": "denied"}, b""))
            raise refusals.session_denied(str(error)) from error
        except Untrusted as error:
            raise refusals.untrusted(str(error)) from error
        except (Refusal, StoreError):
            raise
        except (AmplifierError, BundleError, OSError, ValueError) as error:
            logger.warning("No session could be opened: %s", describe_error(error))
            raise refusals.unusable_bundle(describe_error(error)) from error
        self._open[session_id] = session
        if self._is_closing:
            await self._end(session, "error")
            raise refusals.stopping()
        return encode(session.describe_with_shown()).encode()

    async def _build(self, body: bodies.NewSession, owner: str, session_id: str) -> JudgedSession:
        plan = await asyncio.to_thread(self._load_plan)
        if not self._guards_imports:
            self._guards_imports = True
            self._held.enter_context(guard_imports(plan.folder))
        section = plan.bundle.mount_plan["approval"]
        shown = ShownMessages()
        people = await self._reach_people(section, plan.folder, owner)
        if people is not None:
            people.on_waiting = note_waiting
        session = await open_session(
            plan.bundle,
            session_id=session_id,
            display_system=shown,
            working_dir=plan.folder,
            material=plan.material,
            hot_reload=False,
            elsewhere=people,
            prepare=_prepare,
        )
        coverage = replace(OVER_HTTP, framework=body.program)
        external = await ExternalSession.attach(session, body.program, coverage)
        run = Run(external, Home(asyncio.get_running_loop()), coverage)
        try:
            check_start(session.coordinator, coverage)
            protect_guard(session.coordinator, plan.folder, list_protected_files(plan.folder))
        except BaseException as error:
            await run.finish(explain_end(error))
            raise
        terms = Terms(
            id=session_id,
            owner=owner,
            program=body.program,
            requests=body.requests,
            lease=body.lease,
            deadline=self._settings.deadline,
            bundle=plan.bundle.name,
            folder=str(plan.folder),
        )
        return JudgedSession(terms, run, shown, lambda: self._lapse(session_id))

    def _load_plan(self) -> TrustedPlan:
        folder = normalize(self._settings.folder)
        named = str(self._settings.bundle or "")
        guarded = list_protected_files(folder)

        def adapt(whole: dict[str, Any]) -> dict[str, Any]:
            plan = adapt_to_program(whole, guarded, can_ask=False)
            return plan if self._store is None else ask_at_store(plan, self._store)

        return load_trusted_plan(folder, named, adapt)

    async def _reach_people(
        self, section: dict[str, Any], folder: Path, owner: str
    ) -> Elsewhere | None:
        """Whom a session asks; the store is opened once for all of them."""
        if self._store is not None:
            return Elsewhere(section, [self._store.as_link()], folder, user=owner)
        if list_ways(section) != ("store",):
            return await reach_people(section, folder)
        async with self._reaching:
            if self._own_store is None:
                self._own_store = await open_store(section.get("store"))
        await self._own_store.approvals.mark_lost()
        return Elsewhere(section, [self._own_store.as_link()], folder)

    # Sessions

    def find(self, session_id: str, owner: str) -> JudgedSession:
        """An open session of this owner; Refusal if it is over, or there is none."""
        session = self._open.get(session_id)
        if session is not None and session.terms.owner == owner:
            return session
        raise refusals.session_ended(self._find_over(session_id, owner).state["reason"])

    def _find_over(self, session_id: str, owner: str) -> EndedSession:
        over = self._over.get(session_id)
        if over is None or over.owner != owner:
            raise refusals.no_session(session_id)
        return over

    def describe(self, session_id: str, owner: str) -> dict[str, Any]:
        """How a session stands, also after its end."""
        session = self._open.get(session_id)
        if session is not None and session.terms.owner == owner:
            return session.describe()
        return self._find_over(session_id, owner).state

    # The end

    async def end(self, session_id: str, owner: str, reason: EndReason) -> bytes:
        """End a session; how it stands then, which is the same for who ends it again."""
        session = self._open.get(session_id)
        if session is not None and session.terms.owner == owner:
            await asyncio.shield(self._start(self._end(session, reason)))
        return self._find_over(session_id, owner).answer

    def _lapse(self, session_id: str) -> None:
        session = self._open.get(session_id)
        if session is not None:
            logger.info("session %s was lost by its program", session_id)
            self._start(self._end(session, "timeout"))

    async def _end(self, session: JudgedSession, reason: EndReason) -> None:
        try:
            await session.end(reason)
        except Exception:
            logger.exception("Session %s did not end in order", session.terms.id)
        if self._open.pop(session.terms.id, None) is None:
            return
        told = session.describe_with_shown()
        over = EndedSession(session.terms.owner, {**told, "shown": []}, encode(told).encode())
        self._note_over(session.terms.id, over)

    def send_away(self) -> None:
        """Open nothing more, and answer whoever waits: the server is about to end."""
        self._is_closing = True
        for session in self._open.values():
            session.send_away()

    async def close(self) -> None:
        """End all sessions."""
        self.send_away()
        ends = [self._end(session, "error") for session in list(self._open.values())]
        await asyncio.gather(*ends)
        await self._stop_works()
        if self._own_store is not None:
            await self._own_store.close()
        self._held.close()

    async def _stop_works(self) -> None:
        """Openings and ends under way have a moment; who asks people at the start takes longer."""
        left = set(self._works)
        if left:
            _, late = await asyncio.wait(left, timeout=CLOSING_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)


async def _prepare(session: AssembledSession) -> None:
    await prepare_run(session)
    coordinator = session.coordinator
    if isinstance(coordinator.approval_system, RunApproval):
        coordinator.approval_system = PeopleAsked(coordinator.approval_system)
