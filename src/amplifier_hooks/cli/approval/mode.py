"""Who decides when a hook asks: what `--approve` says, over what the bundle says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amplifier_hooks.yaml_files.node import BundleError, Place, Problem

if TYPE_CHECKING:
    from amplifier_core.approval import AnyApprovalSystem

RULES = "rules:"


def apply_mode(plan: dict[str, Any], approve: str | None) -> dict[str, Any]:
    """The plan with the mode of the flag; BundleError where the bundle does not let it."""
    section: Mapping[str, Any] = plan.get("approval") or {}
    mode = section.get("mode") or "ask"
    if approve in (None, mode):
        return plan
    if approve != "deny" and (mode == "deny" or section.get("locked")):
        why = "is locked" if section.get("locked") else "cannot be loosened by a flag"
        message = f"{mode!r} {why}; leave out --approve {approve}, or use --approve deny"
        raise BundleError([Problem(Place("The bundle"), "approval.mode", message)])
    # A refusal, and rules, are approval systems of their own; the plan lets them be asked.
    wanted = "edits" if approve == "edits" else "ask"
    return {**plan, "approval": {**section, "mode": wanted}}


def make_approval(
    approve: str | None, asking: AnyApprovalSystem, folder: Path
) -> AnyApprovalSystem:
    """The approval system of a session: the person at the terminal, or what decides before them."""
    from amplifier_hooks.approvals import RefusingApproval, RulesApproval

    if approve == "deny":
        return RefusingApproval()
    if approve is not None and approve.startswith(RULES):
        return RulesApproval(Path(approve.removeprefix(RULES)), folder, asking)
    return asking
