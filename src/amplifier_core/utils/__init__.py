"""Small helpers that every part of the kernel and its modules may use."""

from importlib import import_module
from typing import TYPE_CHECKING

from amplifier_core.utils.calling import (
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
from amplifier_core.utils.canonical import canonical_bytes, digest
from amplifier_core.utils.text import describe_error, safe_repr
from amplifier_core.utils.time import clock, timestamp
from amplifier_core.utils.truncate import SENSITIVE_KEYS, redact_secrets, truncate_values

if TYPE_CHECKING:
    from amplifier_core.utils.retry import RetryConfig as RetryConfig
    from amplifier_core.utils.retry import classify_error_message as classify_error_message
    from amplifier_core.utils.retry import retry_with_backoff as retry_with_backoff

__all__ = [
    "DONE",
    "PATIENCE",
    "SENSITIVE_KEYS",
    "CancelledItself",
    "Done",
    "RetryConfig",
    "cancel_and_wait",
    "canonical_bytes",
    "classify_error_message",
    "clock",
    "describe_error",
    "digest",
    "get_current_task",
    "is_awaitable",
    "is_being_cancelled",
    "redact_secrets",
    "resolve",
    "retry_with_backoff",
    "run_each",
    "run_with_timeout",
    "safe_repr",
    "timestamp",
    "truncate_values",
]


if not TYPE_CHECKING:  # pragma: no branch - checkers would take any name

    def __getattr__(name):
        # Loaded when asked for: only providers call models again.
        if name in ("RetryConfig", "classify_error_message", "retry_with_backoff"):
            return getattr(import_module("amplifier_core.utils.retry"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


PUBLIC_MODULES = (
    "calling",
    "conversation",
    "copying",
    "frozen",
    "nested",
    "retry",
    "slots",
    "text",
)
