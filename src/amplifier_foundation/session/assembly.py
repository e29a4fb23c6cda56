"""A bundle in, a running session out: here everything meets by name."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from amplifier_core.errors import ModuleLoadError
from amplifier_core.mounting import ModuleLoader
from amplifier_core.session import AmplifierSession
from amplifier_core.trail import AuditSink
from amplifier_foundation.bundles import Bundle
from amplifier_foundation.session.assembled import AssembledSession
from amplifier_foundation.session.capabilities import Rename, hide_secrets, register_capabilities
from amplifier_foundation.session.child_plan import with_session_options
from amplifier_foundation.session.left_out import locate, report_left_out
from amplifier_foundation.session.reload import Reloader
from amplifier_foundation.session.slow_hooks import watch_for_slow_hooks
from amplifier_foundation.session.spawning import OpenChild, Spawner
from amplifier_foundation.session.trail import find_unknown_outcomes, open_trail
from amplifier_foundation.session.unknown_outcomes import complete_state, report_unknown_outcomes


async def open_session(
    bundle: Bundle,
    *,
    session_id: str | None = None,
    approval_system: Any = None,
    display_system: Any = None,
    working_dir: str | Path | None = None,
    resume: Mapping[str, Any] | None = None,
    audit: AuditSink | None = None,
    hot_reload: bool = True,
    on_rename: Rename | None = None,
    prepare: Callable[[AssembledSession], Any] | None = None,
) -> AssembledSession:
    """Mount the bundle and start; `resume` is what `session.state()` of an earlier run returned.

    Without `audit` the trail is opened as the bundle says, one folder per session, and closed with
    the session. A module that does not load is shown to the person and left out. `prepare` gets the
    session before anything of it starts, for whoever wants to hear its very first event.
    """
    plan = with_session_options(bundle.mount_plan)
    folder = Path.cwd() if working_dir is None else Path(working_dir)
    own_id = session_id or (resume or {}).get("session_id") or str(uuid.uuid4())
    left = await asyncio.to_thread(find_unknown_outcomes, plan["audit"], own_id) if resume else []
    alarms: list[str] = []
    trail = await open_trail(plan["audit"], own_id, alarms.append) if audit is None else None
    people = {
        "approval_system": None if plan["approval"].get("mode") == "deny" else approval_system,
        "display_system": display_system,
        "audit": trail if audit is None else audit,
    }
    async with _close_on_failure(bundle, [] if trail is None else [trail.close]) as owned:
        session = AssembledSession(
            plan,
            loader=ModuleLoader(folder),
            session_id=own_id,
            state=resume and complete_state(resume),
            owned=owned,
            **people,
        )
        register_capabilities(session, folder, on_rename)
        hide_secrets(session, bundle.secrets)
        watch_for_slow_hooks(session.coordinator)
        Spawner(_open_children(bundle, people)).attach(session)
        if prepare is not None:
            prepare(session)
        await session.initialize()
    for alarm in tuple(alarms):
        await session.coordinator.show(alarm, "error", "audit")
    await report_left_out(session, bundle)
    await report_unknown_outcomes(session, left)
    if hot_reload:
        Reloader(session, bundle, folder).watch()
    return session


@asynccontextmanager
async def _close_on_failure(
    bundle: Bundle, owned: list[Callable[[], Awaitable[Any]]]
) -> AsyncIterator[Iterable[Callable[[], Awaitable[Any]]]]:
    """A session that does not start leaves nothing open, and says which line is the reason."""
    try:
        yield owned
    except BaseException as error:
        for close in owned:
            await close()
        if isinstance(error, ModuleLoadError):
            message = locate(str(error), error.module_id, bundle)
            raise ModuleLoadError(message, module_id=error.module_id) from error
        raise


def _open_children(bundle: Bundle, people: Mapping[str, Any]) -> OpenChild:
    """What starts a sub-agent: it has its parent's person, screen and trail."""

    async def open_child(
        parent: AmplifierSession, plan: dict[str, Any], below: Spawner
    ) -> AmplifierSession:
        child = AssembledSession(
            with_session_options(plan),
            loader=parent.mounting.loader,
            parent_id=parent.session_id,
            parent_hooks=parent.coordinator.hooks,
            **people,
        )
        folder = Path(parent.coordinator.get_capability("session.working_dir"))
        # Without `on_rename`: the name that the person sees is that of the parent.
        register_capabilities(child, folder)
        hide_secrets(child, bundle.secrets)
        for scrub in parent.coordinator.trail.scrubbers:
            child.coordinator.register_scrubber(scrub)
        below.attach(child)
        await child.initialize()
        await report_left_out(child, bundle)
        return child

    return open_child
