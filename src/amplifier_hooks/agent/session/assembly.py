"""From a bundle to a running session."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from amplifier_core.approval import AnyApprovalSystem
from amplifier_core.errors import ModuleLoadError
from amplifier_core.host.display import DisplaySystem
from amplifier_core.trail import AuditSink
from amplifier_core.utils import resolve
from amplifier_hooks.agent.bundles import Bundle
from amplifier_hooks.agent.session.assembled import AssembledSession
from amplifier_hooks.agent.session.builder import SessionBuilder
from amplifier_hooks.agent.session.capabilities import Rename
from amplifier_hooks.agent.session.child_plan import apply_session_options
from amplifier_hooks.agent.session.elsewhere import Elsewhere, hide_credentials, reach_people
from amplifier_hooks.agent.session.left_out import explain_stop, report_left_out, report_shadows
from amplifier_hooks.agent.session.origin import record_origin
from amplifier_hooks.agent.session.reload import (
    ASKING,
    ChangePolicy,
    Reloader,
    release_material,
    use_material,
)
from amplifier_hooks.agent.session.resuming.unknown_outcomes import report_unknown_outcomes
from amplifier_hooks.agent.session.trail import SessionTrail, attach_trail, guard_tool_calls
from amplifier_hooks.agent.session.wall import report_wall
from amplifier_hooks.agent.trust.material import Material, collect_material
from amplifier_hooks.guards.policy.unread_tools import UnreadTools, make_offered

Prepare = Callable[[AssembledSession], Any]


async def open_session(
    bundle: Bundle,
    *,
    session_id: str | None = None,
    approval_system: AnyApprovalSystem | None = None,
    display_system: DisplaySystem | None = None,
    working_dir: str | Path | None = None,
    resume: Mapping[str, Any] | None = None,
    audit: AuditSink | None = None,
    hot_reload: bool = True,
    material: Material | None = None,
    changes: ChangePolicy = ASKING,
    on_rename: Rename | None = None,
    prepare: Prepare | None = None,
    elsewhere: Elsewhere | None = None,
) -> AssembledSession:
    """Mount the bundle and start; `resume` is what `session.state()` of an earlier run returned.

    Without `audit`, the trail is opened as the bundle says and closed with the session. `prepare`
    gets the session before its first event. A module that does not load is reported and left out; a
    hook that may be a guard stops the start with a ModuleLoadError.

    `material` is what a person has trusted; without it, the files are read now, because the program
    that calls this has chosen them. `changes` says who may have changed files used; a person who is
    asked in `session.reload()` always may. `elsewhere`: who is asked, not whom the bundle names.
    """
    _check_bundle(bundle)
    plan = apply_session_options(bundle.mount_plan)
    own_id = session_id or (resume or {}).get("session_id") or str(uuid.uuid4())
    folder = Path(working_dir or Path.cwd())
    if material is None:
        material = await asyncio.to_thread(collect_material, bundle, folder)
    trail = await attach_trail(plan["audit"], own_id, audit, resumed=bool(resume))
    opened = list(trail.owned)
    async with _close_on_failure(opened):
        people = elsewhere or await reach_people(plan["approval"], folder)
        sink = _report_to(people, trail, resume, opened)
        builder = SessionBuilder(bundle, folder, approval_system, display_system, sink, people)
        plan = hide_credentials(plan)
        session = builder.build_root(plan, own_id, resume, opened, on_rename, trail.waiting)
        _equip(session, bundle, folder, material, people)
        guard_tool_calls(session.coordinator, trail.sink, plan["audit"].get("on_failure", "deny"))
        await _start(session, bundle, prepare)
    material.snapshot.seal()
    await _report_start(session, bundle, trail)
    if hot_reload:
        session.reloader = Reloader(session, material, changes)
        session.reloader.watch()
    return session


def _report_to(
    people: Elsewhere | None,
    trail: SessionTrail,
    resume: Mapping[str, Any] | None,
    opened: list[Callable[[], Awaitable[Any]]],
) -> AuditSink | None:
    """The sink of a session; what people elsewhere need of it passes through theirs."""
    if people is None:
        return trail.sink
    opened.append(people.close)
    return people.report(trail.sink, resume)


def _equip(
    session: AssembledSession,
    bundle: Bundle,
    folder: Path,
    material: Material,
    people: Elsewhere | None,
) -> None:
    """Let the session know where it comes from and whom it asks, and load only what was read."""
    if people is not None:
        people.attach(session, bundle)
    record_origin(session, bundle, folder)
    use_material(session, material)
    session.own(partial(release_material, session))


def _check_bundle(bundle: object) -> None:
    """A plan that is a plain dict has not been checked."""
    if not isinstance(bundle, Bundle):
        given = type(bundle).__name__
        raise TypeError(
            f"A session is opened from a Bundle, got {given}; bundle_from_plan makes one"
        )


@asynccontextmanager
async def _close_on_failure(opened: Sequence[Callable[[], Awaitable[Any]]]) -> AsyncIterator[None]:
    """Close what was opened for a session that does not start."""
    try:
        yield
    except BaseException:
        for close in reversed(opened):
            await close()
        raise


async def _start(session: AssembledSession, bundle: Bundle, prepare: Prepare | None) -> None:
    if prepare is not None:
        await resolve(prepare(session))
    try:
        await session.start()
    except ModuleLoadError as error:
        raise explain_stop(error, session, bundle) from error


async def _report_start(session: AssembledSession, bundle: Bundle, trail: SessionTrail) -> None:
    """Tell the person what went wrong at the start, and what an earlier process left behind."""
    # A copy: a trail that cannot be written to raises its next alarm while this one is shown.
    for alarm in tuple(trail.alarms):
        await session.coordinator.show(alarm, "error", "audit")
    await report_wall(session)
    await report_left_out(session, bundle)
    await report_shadows(session)
    await _report_unread_tools(session)
    await report_unknown_outcomes(session, trail.unknown)


async def _report_unread_tools(session: AssembledSession) -> None:
    """Say which tools no guard can read; a sub-agent has tools of its parent."""
    if session.parent_id is None:
        tools: Mapping[str, Any] = session.coordinator.get("tools") or {}
        offered = [make_offered(name, tool) for name, tool in tools.items()]
        await UnreadTools(session.coordinator).report(offered)
