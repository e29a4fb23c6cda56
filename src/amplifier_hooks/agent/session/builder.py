"""The builder of a bundle's sessions: the one that a person talks to, and its sub-agents."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from amplifier_core.errors import ModuleLoadError
from amplifier_core.loader import ModuleLoader
from amplifier_core.mount_plan import read_entry
from amplifier_core.session import AmplifierSession
from amplifier_core.trail import AuditSink
from amplifier_hooks.agent.bundles import Bundle
from amplifier_hooks.agent.session.assembled import AssembledSession
from amplifier_hooks.agent.session.capabilities import Rename, hide_secrets, register_capabilities
from amplifier_hooks.agent.session.child_plan import apply_session_options
from amplifier_hooks.agent.session.elsewhere import Elsewhere
from amplifier_hooks.agent.session.left_out import explain_stop, report_left_out
from amplifier_hooks.agent.session.resuming.open_calls import FINISHING_LOOPS
from amplifier_hooks.agent.session.resuming.unknown_outcomes import complete_state
from amplifier_hooks.agent.session.slow_hooks import watch_for_slow_hooks
from amplifier_hooks.agent.session.spawning import Spawner
from amplifier_hooks.agent.session.wall import offer_wall, share_wall
from amplifier_hooks.approvals import EditsApproval


class SessionBuilder:
    """Builds sessions that share one person, one screen and one trail."""

    def __init__(
        self,
        bundle: Bundle,
        folder: Path,
        approval_system: Any,
        display_system: Any,
        audit: AuditSink | None,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        mode = bundle.mount_plan["approval"].get("mode")
        if elsewhere is not None and mode != "deny":
            approval_system = elsewhere.place(approval_system)
        if mode == "edits":
            approval_system = EditsApproval(folder, approval_system, bundle.watched)
        self._governing: tuple[Path, ...] = getattr(approval_system, "governing_files", ())
        self._bundle = bundle
        self._folder = folder
        self._shared = {
            "approval_system": None if mode == "deny" else approval_system,
            "display_system": display_system,
            "audit": audit,
        }

    def build_root(
        self,
        plan: Mapping[str, Any],
        session_id: str,
        resume: Mapping[str, Any] | None = None,
        owned: Iterable[Callable[[], Awaitable[Any]]] = (),
        on_rename: Rename | None = None,
        waiting: Mapping[str, str] | None = None,
    ) -> AssembledSession:
        """Build the session that the person talks to, ready to be started.

        `waiting` has the calls that an earlier process asked about and never started.
        """
        loop = read_entry("orchestrator", plan["session"]["orchestrator"])
        finishes = loop.module in FINISHING_LOOPS
        session = AssembledSession(
            plan,
            loader=ModuleLoader(base=self._folder),
            session_id=session_id,
            state=resume and complete_state(resume, waiting, finishes=finishes),
            owned=owned,
            **self._shared,
        )
        register_capabilities(session, self._folder, on_rename, self._governing)
        offer_wall(session, self._folder)
        hide_secrets(session, self._bundle.secrets)
        watch_for_slow_hooks(session.coordinator)
        Spawner(self.open_child).attach(session)
        return session

    async def open_child(
        self, parent: AmplifierSession, session_id: str, plan: dict[str, Any], below: Spawner
    ) -> AmplifierSession:
        """Start a sub-agent; `below` starts its own sub-agents."""
        child = AssembledSession(
            apply_session_options(plan),
            loader=parent.mounting.loader.copy(),
            session_id=session_id,
            parent_id=parent.session_id,
            parent_hooks=parent.coordinator.hooks,
            **self._shared,
        )
        folder = Path(parent.coordinator.get_capability("session.working_dir"))
        # Without `on_rename`: the name that the person sees is the parent's.
        register_capabilities(child, folder, sealed=self._governing)
        share_wall(parent, child)
        snapshot = parent.coordinator.get_capability("session.snapshot")
        child.coordinator.register_capability("session.snapshot", snapshot)
        show_output = parent.coordinator.get_capability("display.tool_output")
        child.coordinator.register_capability("display.tool_output", show_output)
        hide_secrets(child, self._bundle.secrets)
        for scrub in parent.coordinator.trail.scrubbers:
            child.coordinator.register_scrubber(scrub)
        await child.coordinator.mount(
            "module-source-resolver", parent.coordinator.get("module-source-resolver")
        )
        below.attach(child)
        try:
            await child.start()
        except ModuleLoadError as error:
            raise explain_stop(error, child, self._bundle) from error
        await report_left_out(child, self._bundle)
        return child
