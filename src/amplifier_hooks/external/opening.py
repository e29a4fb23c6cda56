"""Opening what stands behind a run: a session of a bundle, or a coordinator over hooks."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amplifier_core import events
from amplifier_core.answers import Outcome
from amplifier_core.approval import AnyApprovalSystem
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.display import DisplaySystem
from amplifier_core.errors import SessionDenied
from amplifier_core.hooks import HookRegistry
from amplifier_core.payloads import (
    EndReason,
    SessionEndData,
    SessionForkData,
    SessionStartData,
    SessionStats,
)
from amplifier_core.records import SessionEnded, SessionStarted
from amplifier_core.session import SHADOW
from amplifier_core.trail import AuditSink
from amplifier_hooks.agent.bundles import Bundle, load_bundle
from amplifier_hooks.agent.bundles.mount_plan import keep_hooks_only
from amplifier_hooks.agent.session.assembled import AssembledSession
from amplifier_hooks.agent.session.assembly import open_session
from amplifier_hooks.agent.trust.material import Material, collect_material
from amplifier_hooks.coverage import Coverage
from amplifier_hooks.external.conversation import ExternalContext
from amplifier_hooks.external.handover import RunApproval
from amplifier_hooks.external.loops import Home
from amplifier_hooks.external.session import ExternalSession
from amplifier_hooks.guards.policy.unread_tools import collect_readers, offer_reader
from amplifier_hooks.machine.background import Turns

UNLIMITED = {"session": {"limits": {"tool_calls_at_once": None}}}
"""A framework knows best how many of its calls run at once."""

_TURNS = Turns()


@dataclass(frozen=True, slots=True)
class Settings:
    """What the program that governs its agents has chosen."""

    approval: AnyApprovalSystem | None = None
    display: DisplaySystem | None = None
    audit: AuditSink | None = None
    folder: Path | None = None
    ungoverned: str | None = None

    def choose(self, plan: Mapping[str, Any]) -> dict[str, Any]:
        """A plan with what the program has chosen of its session."""
        if self.ungoverned is None:
            return dict(plan)
        return {**plan, "session": {**plan["session"], "ungoverned": self.ungoverned}}


class BundleSource:
    """Opens a session of a bundle, read once: its files may change afterwards."""

    def __init__(self, bundle: Bundle, settings: Settings) -> None:
        self._settings = settings
        self._folder = settings.folder or Path.cwd()
        self._bundle = bundle.changed(keep_hooks_only).changed(settings.choose)
        self._material: Material = collect_material(self._bundle, self._folder)
        self._material.snapshot.seal()

    @classmethod
    def load(cls, path: str | Path | None, settings: Settings) -> BundleSource:
        """The bundle at a path, or the project's."""
        return cls(load_bundle(path, project_dir=settings.folder), settings)

    async def open(self, program: str, coverage: Coverage | None = None) -> ExternalSession:
        """Start a session: hooks are mounted, and session:start is told."""
        await _take_turn()
        session = await open_session(
            self._bundle,
            approval_system=self._settings.approval,
            display_system=self._settings.display,
            working_dir=self._folder,
            audit=self._settings.audit,
            material=self._material,
            hot_reload=False,
            prepare=prepare_run,
        )
        return await ExternalSession.attach(session, program, coverage)


async def _take_turn() -> None:
    """Runs that begin together are opened one by one: the loop does other things between."""
    async with _TURNS.take():
        await asyncio.sleep(0)


async def prepare_run(session: AssembledSession) -> None:
    """For a session before its first event: its loop may ask people by itself."""
    await _take_turn()  # a trail that was opened meanwhile, in a thread, has them wait for it
    coordinator = session.coordinator
    if coordinator.approval_system is not None:  # None: the bundle says that nobody is asked
        coordinator.approval_system = RunApproval(coordinator.approval_system)


class RegistrySource:
    """Opens a session over hooks that were registered by hand."""

    def __init__(self, registry: HookRegistry, settings: Settings) -> None:
        self._registry = registry
        self._settings = settings

    async def open(self, program: str, coverage: Coverage | None = None) -> ExternalSession:
        """Start a session of its own: its budget and its injections are nobody else's."""
        settings = self._settings
        context = ExternalContext()
        coordinator = SessionCoordinator(
            HookRegistry(parent=self._registry),
            context,
            RunApproval(settings.approval),
            settings.display,
            config=settings.choose(UNLIMITED),
            audit=settings.audit,
            session_id=str(uuid.uuid4()),
        )
        return await _start(coordinator, context, program, coverage)


class CoordinatorSource:
    """Lets runs take part in a session that was made by hand; its owner ends it."""

    def __init__(self, coordinator: SessionCoordinator) -> None:
        self._coordinator = coordinator

    async def open(self, program: str, coverage: Coverage | None = None) -> ExternalSession:
        """Nothing starts: every run is a turn of this session."""
        coordinator = self._coordinator
        context = coordinator.mount_points["context"]
        if not isinstance(context, ExternalContext):
            context = ExternalContext(owner=context)
            await coordinator.mount("context", context)
        return ExternalSession(
            coordinator, context, _leave_open, program=program, coverage=coverage
        )


async def _leave_open(reason: EndReason) -> None:
    """The session is somebody else's."""


async def open_child(
    parent: SessionCoordinator, agent: str, program: str, coverage: Coverage | None = None
) -> ExternalSession:
    """Start the session of a sub-agent: the same hooks, people and trail, and its own budget."""
    context = ExternalContext()
    child_id = str(uuid.uuid4())
    fork = SessionForkData(child_id=child_id, agent_name=agent)
    await parent.notify(events.SESSION_FORK, fork)
    coordinator = SessionCoordinator(
        HookRegistry(parent=parent.hooks),
        context,
        parent.approval_system,
        parent.display_system,
        config=parent.config,
        audit=parent.trail.sink,
        session_id=child_id,
        parent_id=parent.session_id,
    )
    for reader in await collect_readers(parent):
        offer_reader(coordinator, "parent", reader.keys, reader.describes)
    for scrub in parent.trail.scrubbers:
        coordinator.register_scrubber(scrub)
    return await _start(coordinator, context, program, coverage)


async def _start(
    coordinator: SessionCoordinator,
    context: ExternalContext,
    program: str,
    coverage: Coverage | None,
) -> ExternalSession:
    """Tell of the start; SessionDenied if a hook refuses it."""
    started = time.monotonic()
    stats = SessionStats(total_messages=0, tool_invocations=0, total_tokens=0, hook_failures=0)
    coordinator.register_capability("session.stats", stats)
    coordinator.hooks.set_default_fields(
        session_id=coordinator.session_id, parent_id=coordinator.parent_id
    )

    async def close(reason: EndReason) -> None:
        spent = int((time.monotonic() - started) * 1000)
        ended = SessionEndData(reason=reason, duration_ms=spent, stats=stats.copy())
        await coordinator.notify(events.SESSION_END, ended)
        coordinator.trail.write(SessionEnded(reason=reason, stats=stats))
        await coordinator.cleanup()

    coordinator.seal()
    shadow = coordinator.hooks.mode == "evaluate_only"
    coordinator.trail.write(
        SessionStarted(resumed=False, parent=coordinator.parent_id, shadow=shadow)
    )
    try:
        outcome = await _tell_start(coordinator, shadow)
    except BaseException as error:
        # Nobody has got it, so nobody else could end it.
        await Home(asyncio.get_running_loop()).run_through(close(explain_end(error)))
        raise
    if not outcome.allowed:
        await close("denied")
        raise SessionDenied(outcome.denial)
    return ExternalSession(coordinator, context, close, program=program, coverage=coverage)


async def _tell_start(coordinator: SessionCoordinator, shadow: bool) -> Outcome:
    if shadow and coordinator.parent_id is None:
        await coordinator.show(SHADOW, "warning", "session")
    start = SessionStartData(mount_plan=dict(coordinator.config), source="startup")
    return await coordinator.judge(events.SESSION_START, start)


def explain_end(error: BaseException) -> EndReason:
    """How something ended that raised this."""
    stopped = isinstance(error, asyncio.CancelledError | KeyboardInterrupt)
    return "user_exit" if stopped else "error"
