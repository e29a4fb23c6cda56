"""Which run a tool is called for: an agent that is started there is a sub-agent."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from amplifier_apps.adapters.governing.calling import Wanted

if TYPE_CHECKING:
    from amplifier_apps.adapters.governing.run import Run

inside: ContextVar[Run | None] = ContextVar("amplifier_run", default=None)
"""The run whose tool is being called: an agent that is started there is its sub-agent."""


def enter(run: Run, wanted: Wanted) -> Wanted:
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


async def _finish_inside(run: Run, found: Awaitable[Any]) -> Any:
    token = inside.set(run)
    try:
        return await found
    finally:
        inside.reset(token)
