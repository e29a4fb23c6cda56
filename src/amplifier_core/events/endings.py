"""Why a session ended, by how its block was left."""

from __future__ import annotations

import asyncio

from amplifier_core.events.payloads import EndReason


def read_end_reason(kind: type[BaseException] | None, status: str) -> EndReason:
    """The reason for an exception of this class, or for a session of this status."""
    if kind is None:
        return "user_exit" if status == "interrupted" else "complete"
    if issubclass(kind, TimeoutError):
        return "timeout"
    if issubclass(kind, KeyboardInterrupt | asyncio.CancelledError | SystemExit):
        return "user_exit"
    return "error"
