"""Small helpers that every part of the kernel and its modules may use."""

from amplifier_core.utils.canonical import canonical_bytes, digest
from amplifier_core.utils.describe import describe_error, safe_repr
from amplifier_core.utils.time import clock, timestamp
from amplifier_core.utils.truncate import SENSITIVE_KEYS, redact_secrets, truncate_values
from amplifier_core.utils.waiting import (
    DONE,
    PATIENCE,
    CancelledItself,
    Done,
    cancel_and_wait,
    get_current_task,
    is_awaitable,
    is_being_cancelled,
    resolve,
    run_each,
    run_with_timeout,
)

__all__ = [
    "DONE",
    "PATIENCE",
    "SENSITIVE_KEYS",
    "CancelledItself",
    "Done",
    "cancel_and_wait",
    "canonical_bytes",
    "clock",
    "describe_error",
    "digest",
    "get_current_task",
    "is_awaitable",
    "is_being_cancelled",
    "redact_secrets",
    "resolve",
    "run_each",
    "run_with_timeout",
    "safe_repr",
    "timestamp",
    "truncate_values",
]
