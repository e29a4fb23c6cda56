"""The id that a request to a model shares with its answer and its failures."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

OPENING = "llm:request"
TRACED = frozenset(
    {OPENING, "llm:response", "provider:error", "provider:retry", "provider:throttle"}
)
"""Events that belong to one request."""

_current: ContextVar[str | None] = ContextVar("amplifier_request_id", default=None)


def current_request_id() -> str | None:
    """The id of the request that this task made last."""
    return _current.get()


def add_request_id(event: str, data: dict[str, Any]) -> None:
    """Give a request an id, and add it to later events of the same task; a given id wins."""
    if event == OPENING:
        import uuid  # a process that only routes events starts faster without it

        _current.set(str(data.setdefault("request_id", str(uuid.uuid4()))))
    elif (known := _current.get()) is not None:
        data.setdefault("request_id", known)
