"""Whether a mount plan can be mounted at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_core.validation.report import ValidationResult


class MountPlanValidator:
    """Looks at the shape of a plan; what the modules make of their config, they say themselves."""

    def validate(self, plan: Any) -> ValidationResult:
        """Check a plan."""
        result = ValidationResult("mount plan", "plan")
        fits = isinstance(plan, Mapping)
        if not result.add("is a mapping", fits, f"got {type(plan).__name__}"):
            return result
        session = plan.get("session")
        for key in ("orchestrator", "context"):
            named = isinstance(session, Mapping) and bool(session.get(key))
            result.add(f"session.{key} is named", named, f"add session.{key}")
        for kind in ("providers", "tools", "hooks"):
            self._entries(kind, plan.get(kind), result)
        return result

    def _entries(self, kind: str, entries: Any, result: ValidationResult) -> None:
        if entries is None:
            return
        if not result.add(f"{kind} is a list", isinstance(entries, list), f"got {entries!r}"):
            return
        for number, entry in enumerate(entries, 1):
            named = isinstance(entry, str) or (isinstance(entry, Mapping) and "module" in entry)
            result.add(f"{kind} {number} names its module", named, f"got {entry!r}")
