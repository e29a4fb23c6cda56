"""Which run a tool is called for: an agent that is started there is a sub-agent."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, Protocol

from amplifier_apps.adapters.governing.calling import Wanted
from amplifier_apps.adapters.governing.loops import Home
from amplifier_core.coordinator import SessionCoordinator


class Outer(Protocol):
    """A run in which another may begin."""

    coordinator: SessionCoordinator
    home: Home
    governor: object
    has_ended: bool


inside: ContextVar[Outer | None] = ContextVar("amplifier_run", default=None)
"""The run whose tool is being called: an agent that is started there is its sub-agent."""


def enter(run: Outer, wanted: Wanted) -> Wanted:
    """The call, with its handler called inside the run."""
    handler = wanted.handler

    def call(given: dict[str, Any]) -> Any:
        token = inside.set(run)
        try:
            found = handler(given)
        finally:
            inside.reset(token)
        return _finish_inside(run, found) if inspect.isawaitable(found) else found

    return replace(wanted, handler=call)


async def _finish_inside(run: Outer, found: Awaitable[Any]) -> Any:
    token = inside.set(run)
    try:
        return await found
    finally:
        inside.reset(token)
