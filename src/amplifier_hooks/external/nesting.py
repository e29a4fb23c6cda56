"""Which run a tool is called for: an agent that is started there is a sub-agent."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable
from contextvars import ContextVar
from typing import Any, Protocol

from amplifier_core.coordinator import SessionCoordinator
from amplifier_hooks.external.calling import Handler
from amplifier_hooks.external.handover import asked_by_framework
from amplifier_hooks.external.loops import Home


class Outer(Protocol):
    """A run in which another may begin."""

    coordinator: SessionCoordinator
    home: Home
    governor: object
    has_ended: bool


inside: ContextVar[Outer | None] = ContextVar("amplifier_run", default=None)
"""The run whose tool is being called: an agent that is started there is its sub-agent."""


def enter(run: Outer, handler: Handler) -> Handler:
    """The handler, called inside the run; the framework asks about this call only, not about what
    a sub-agent does in it."""

    def call(given: dict[str, Any]) -> Any:
        token, asked = inside.set(run), asked_by_framework.set(None)
        try:
            found = handler(given)
        finally:
            asked_by_framework.reset(asked)
            inside.reset(token)
        return _finish_inside(run, found) if inspect.isawaitable(found) else found

    return call


async def _finish_inside(run: Outer, found: Awaitable[Any]) -> Any:
    token, asked = inside.set(run), asked_by_framework.set(None)
    try:
        return await found
    finally:
        asked_by_framework.reset(asked)
        inside.reset(token)
