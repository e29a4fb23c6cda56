"""The past: the time that hooks are told."""

from __future__ import annotations

from typing import Any

from amplifier_hooks.insight.backtest.past import PastClock, PastRegistry, read_time


async def test_hooks_see_the_time_of_the_record() -> None:
    """In the form that registries give it."""
    clock = PastClock()
    registry, seen = PastRegistry(clock), []

    @registry.register("tool:pre")
    async def look(event: str, data: dict[str, Any]) -> None:
        seen.append((data["timestamp"], clock()))

    clock.set("2026-11-17T19:21:19.645012732Z")
    await registry.dispatch("tool:pre", {})
    assert seen == [("2026-11-17T19:21:19.645+00:00", clock())]
    assert round(clock(), 3) == 1794943279.645


def test_a_time_that_is_none_is_the_first_moment_of_all() -> None:
    """A forged record does not stop anything."""
    assert read_time("soon").timestamp() == 0
    assert read_time("2026-11-17T00:00:00").isoformat() == "2026-11-17T00:00:00+00:00"
