"""Which run a tool is called for: an agent that is started there is a sub-agent."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from amplifier_hooks.external.handover import Handover, asked_by_framework
from amplifier_hooks.external.nesting import enter, inside

RUN: Any = SimpleNamespace()


def test_a_handler_is_called_inside_its_run() -> None:
    """And what comes after it is outside again."""
    entered = enter(RUN, lambda given: inside.get())
    assert entered({}) is RUN
    assert inside.get() is None


async def test_an_async_handler_is_inside_until_it_ends() -> None:
    """Not only until it is first waited for."""

    async def look(given: dict[str, Any]) -> Any:
        return inside.get()

    assert await enter(RUN, look)({}) is RUN
    assert inside.get() is None


async def test_a_question_inside_is_not_one_about_the_call() -> None:
    """The framework asks about its own call; a sub-agent in it has people of its own to ask."""

    async def look(given: dict[str, Any]) -> Any:
        return asked_by_framework.get()

    token = asked_by_framework.set(Handover("X"))
    try:
        assert await enter(RUN, look)({}) is None
        assert asked_by_framework.get() is not None
    finally:
        asked_by_framework.reset(token)
