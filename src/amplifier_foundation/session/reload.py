"""Hot reload: a changed bundle or hook file takes effect at the next turn, whole or not at all.

Only modules whose entries changed are replaced, so that the others keep what they remember. New
modules are mounted beside the old ones; when one of them fails, all of them are removed again and
the old set stays. Nothing else happens in the session meanwhile. What hooks changed in the plan
when the session started is changed again.

An agent must not rewrite the rules it works under: what changed while one of its tools ran is used
only if a person allows it.
"""

from __future__ import annotations

import asyncio
import copy
from pathlib import Path
from typing import Any

from amplifier_core.errors import ModuleLoadError, SessionError
from amplifier_core.events import TOOL_ERROR, TOOL_POST, TOOL_PRE
from amplifier_core.models import HookResult
from amplifier_core.mount_plan import MountPlan
from amplifier_core.session import AmplifierSession
from amplifier_core.utils import describe_error
from amplifier_foundation.bundles import Bundle, BundleError
from amplifier_foundation.session.child_plan import apply_session_options
from amplifier_foundation.session.plan_change import repeat_change
from amplifier_foundation.session.replacement import ModuleReplacer, Replacement
from amplifier_foundation.session.watched_files import Stamp, list_files, stamp_files

_FIXED = ("audit", "approval")
_LAST = 1_000_000  # behind every hook that may still refuse the call


class Reloader:
    """Checks the files of a session before each turn."""

    def __init__(self, session: AmplifierSession, bundle: Bundle, folder: Path) -> None:
        self._session = session
        self._coordinator = session.coordinator
        self._modules = ModuleReplacer(session.coordinator, session.mounting, folder)
        self._bundle = bundle
        self._folder = folder
        self._at_start = apply_session_options(bundle.mount_plan), copy.deepcopy(session.config)
        self._seen = self._stamp_all()
        self._at_rest = self._seen  # the files when no tool was running
        self._running: set[str] = set()
        self._suspects: set[str] = set()

    def watch(self) -> None:
        """Check before each turn and around each tool call, until the session ends."""
        self._session.on_turn(self.check)
        for event, handler in (
            (TOOL_PRE, self._before_tool),
            (TOOL_POST, self._after_tool),
            (TOOL_ERROR, self._after_tool),
        ):
            remove = self._coordinator.hooks.register(event, handler, priority=_LAST, name="reload")
            self._coordinator.register_cleanup(remove)

    async def check(self) -> bool:
        """Reload if a file changed; returns whether the session now has something new."""
        seen = await asyncio.to_thread(self._stamp_all)
        suspects, self._suspects = self._suspects, set()
        self._running.clear()
        if seen == self._seen:
            return False
        self._seen = seen
        try:
            await self._require_person(suspects)
            return await self._reload()
        except (BundleError, ModuleLoadError, SessionError) as error:
            await self._report_refusal(str(error))
        except Exception as error:  # noqa: BLE001 - whatever an edit breaks, the turn goes on
            await self._report_refusal(describe_error(error))
        return False

    async def _before_tool(self, event: str, data: dict[str, Any]) -> HookResult:
        if not self._running:
            self._at_rest = await asyncio.to_thread(self._stamp_all)
        self._running.add(str(data.get("tool_call_id")))
        return HookResult(action="continue")

    async def _after_tool(self, event: str, data: dict[str, Any]) -> HookResult:
        self._running.discard(str(data.get("tool_call_id")))
        now = await asyncio.to_thread(self._stamp_all)
        if now != self._at_rest:
            self._at_rest = now
            self._suspects.add(str(data.get("tool_name")))
        return HookResult(action="continue")

    async def _require_person(self, suspects: set[str]) -> None:
        if not suspects:
            return
        who = ", ".join(sorted(suspects))
        question = HookResult(
            action="ask_user",
            approval_prompt=f"The files of this session changed while {who} ran. Use the change?",
            approval_options=["Allow", "Deny"],
        )
        answer = await self._coordinator.handle_approval_request(question, "reload", "reload")
        if answer.action == "deny":
            raise SessionError(f"it was made while {who} ran, and no person allowed it")

    async def _reload(self) -> bool:
        bundle = await asyncio.to_thread(self._bundle.reload)
        plan = repeat_change(*self._at_start, apply_session_options(bundle.mount_plan))
        replacement = await asyncio.to_thread(self._modules.compare, MountPlan.parse(plan))
        changed = replacement.fresh or replacement.gone
        if not changed and bundle.digest == self._bundle.digest:
            return False
        await self._modules.apply(replacement)
        self._session.config = self._coordinator.config = plan
        await self._report_reload(bundle, replacement)
        self._bundle = bundle
        self._seen = await asyncio.to_thread(self._stamp_all)
        return True

    def _stamp_all(self) -> Stamp:
        entries = MountPlan.parse(self._session.config).entries()
        named = [path for _, entry in entries for path in list_files(entry, self._folder)]
        return stamp_files([*self._bundle.watched, *named])

    async def _report_refusal(self, why: str) -> None:
        self._coordinator.trail.write("configuration_changed", {"what": "bundle", "refused": why})
        message = f"The change is not used, the old settings stay: {why}"
        await self._coordinator.show(message, "warning", "reload")

    async def _report_reload(self, bundle: Bundle, replacement: Replacement) -> None:
        body = {
            "what": "bundle",
            "before": self._bundle.digest,
            "after": bundle.digest,
            "mounted": replacement.mounted,
            "unmounted": replacement.removed,
        }
        self._coordinator.trail.write("configuration_changed", body)
        ids = ", ".join(replacement.mounted)
        parts = [f"Reloaded: {ids}" if ids else "Reloaded the settings"]
        if replacement.removed:
            parts.append(f"removed: {', '.join(replacement.removed)}")
        old, new = self._bundle.mount_plan, bundle.mount_plan
        if fixed := [key for key in _FIXED if old[key] != new[key]]:
            parts.append(f"{' and '.join(fixed)} will not change until the next session")
        await self._coordinator.show("; ".join(parts), "info", "reload")
