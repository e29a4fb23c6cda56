"""Approval systems that decide without a person, for continuous integration and editors.

What a guard denies they never see, so they cannot allow it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from amplifier_hooks.lazy_names import find_lazily

if TYPE_CHECKING:
    from amplifier_hooks.approvals.policy import (
        EditsApproval,
        PolicyApproval,
        RefusingApproval,
        Ruling,
    )
    from amplifier_hooks.approvals.rules import RulesApproval

__all__ = ["EditsApproval", "PolicyApproval", "RefusingApproval", "RulesApproval", "Ruling"]

PUBLIC_MODULES = (
    "change",
    "client",
    "editing",
    "encoding",
    "errors",
    "http_connection",
    "link",
    "model_judge",
    "models",
    "policy",
    "remote",
    "reporting",
    "request",
    "retry",
    "rules",
    "session_index",
    "several",
    "stores",
)

if not TYPE_CHECKING:
    __getattr__ = find_lazily(
        __name__,
        {
            "policy": ("EditsApproval", "PolicyApproval", "RefusingApproval", "Ruling"),
            "rules": ("RulesApproval",),
        },
    )
