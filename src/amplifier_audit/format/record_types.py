"""The record types that the log and the kernel write. Modules may add their own.

A log may hold types that are not declared here, from modules or from other versions: they are
records like all others.
"""

from __future__ import annotations

from typing import Any

OWN_TYPES = frozenset(
    {
        "log_opened",
        "checkpoint",
        "sealed",
        "recovered",
        "broken",
        "redacted",
        "segment_removed",
        "writer_connected",
    }
)
"""The types by which the log speaks of itself; a caller of `append` cannot forge them."""

KERNEL_TYPES = frozenset(
    {
        "hook_started",
        "hook_finished",
        "hook_failed",
        "dispatch",
        "action_resolved",
        "shadowed",
        "answer_ignored",
        "injection_accepted",
        "injection_dropped",
        "injection_unused",
        "approval_requested",
        "approval_shown",
        "approval_handed_over",
        "approval_outcome",
        "approval_decided",
        "approval_expired",
        "approval_cancelled",
        "approval_cache_stored",
        "approval_cache_hit",
        "approval_cache_cleared",
        "tool_started",
        "tool_finished",
        "denial_contradicted",
        "digest_mismatch",
        "output_suppressed",
        "output_shown",
        "user_message",
        "configuration_changed",
        "error",
        "session_started",
        "session_suspended",
        "session_ended",
        "guard_alarm",
    }
)
"""The types that the coordinator, sessions, and sessions of coding agents write."""


def mark_foreign(type: Any) -> Any:
    """The type as it is recorded: what the log says of itself, only the log can say."""
    return f"x_{type}" if isinstance(type, str) and type in OWN_TYPES else type
