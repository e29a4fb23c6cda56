"""The record types that the kernel writes. Modules may add their own."""

from __future__ import annotations

from typing import Literal, get_args

RecordType = Literal[
    "log_opened",
    "checkpoint",
    "sealed",
    "recovered",
    "broken",
    "redacted",
    "segment_removed",
    "hook_registered",
    "hook_unregistered",
    "hook_started",
    "hook_finished",
    "hook_failed",
    "hook_timed_out",
    "dispatch",
    "action_resolved",
    "injection_accepted",
    "injection_truncated",
    "injection_dropped",
    "approval_requested",
    "approval_shown",
    "approval_decided",
    "approval_expired",
    "approval_cancelled",
    "approval_late",
    "approval_conflict",
    "approval_cache_stored",
    "approval_cache_hit",
    "approval_cache_cleared",
    "tool_started",
    "tool_finished",
    "digest_mismatch",
    "output_suppressed",
    "output_shown",
    "user_message",
    "configuration_changed",
    "error",
    "session_started",
    "session_ended",
]
RECORD_TYPES: tuple[str, ...] = get_args(RecordType)
OWN_TYPES = frozenset(RECORD_TYPES[:7])
"""The types by which the log speaks of itself; a caller of `append` cannot forge them."""
