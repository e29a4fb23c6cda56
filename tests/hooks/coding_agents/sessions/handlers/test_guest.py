"""Events through the session of an agent."""

from __future__ import annotations

from pathlib import Path

from amplifier_hooks.coding_agents.sessions.handlers.guest import judge, notify
from tests.hooks.coding_agents.sessions.agents import start


async def test_an_event_of_any_name_is_judged(project: Path) -> None:
    """The names of an agent's own events are not known beforehand."""
    async with start("claude", project) as one:
        one.hook("guest:anything", name="strict", action="deny", reason="no")
        outcome = await judge(one.guest, "guest:anything", {"x": 1})
    assert not outcome.allowed


async def test_an_event_is_told(project: Path) -> None:
    """Whoever is only told cannot refuse."""
    async with start("claude", project) as one:
        told = one.hook("guest:anything", action="deny", reason="no")
        await notify(one.guest, "guest:anything", {"x": 1})
    assert told[0]["x"] == 1
