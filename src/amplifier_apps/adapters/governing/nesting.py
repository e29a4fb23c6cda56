"""Which run a tool is called for: an agent that is started there is a sub-agent."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Awaitable, Iterator
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, Protocol

from amplifier_apps.adapters.governing.calling import Wanted
from amplifier_apps.adapters.governing.handover import asked_by_framework
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
        with _go_inside(run):
            found = handler(given)
        return _finish_inside(run, found) if inspect.isawaitable(found) else found

    return replace(wanted, handler=call)


async def _finish_inside(run: Outer, found: Awaitable[Any]) -> Any:
    with _go_inside(run):
        return await found


@contextlib.contextmanager
def _go_inside(run: Outer) -> Iterator[None]:
    """The framework asks about this call only, not about what a sub-agent does in it."""
    token, asked = inside.set(run), asked_by_framework.set(None)
    try:
        yield
    finally:
        asked_by_framework.reset(asked)
        inside.reset(token)
