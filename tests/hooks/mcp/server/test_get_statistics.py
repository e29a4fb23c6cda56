"""What each hook did, counted."""

from __future__ import annotations

import pytest

from amplifier_hooks.mcp.server.get_statistics import StatisticsArguments, TrailStatistics
from amplifier_hooks.mcp.server.trails import Scope, Trails
from tests.hooks.mcp.server.world import MINE, OTHERS, World, call, read

ASKED = ("approval_requested", {"event": "tool:pre", "hook": "guard", "prompt": "Sure?"})


async def test_answers_are_counted_per_hook(world: World) -> None:
    """Over the sessions of this folder, or of one of them."""
    await world.write_trail(MINE, records=[call("Bash"), call("Bash", "deny"), call("Write")])
    await world.write_trail("other-here", records=[call("Bash", "ask_user"), ASKED])
    await world.write_trail(OTHERS, world.other, [call("Bash", "deny")])
    async with world.open() as toolbox:
        told = read(await toolbox.call("get_statistics", {}))
        (guard,) = told["hooks"]
        assert (guard["calls"], guard["denials"], guard["asks"]) == (4, 1, 1)
        assert (told["sessions"], told["complete"], guard["p50_ms"]) == (
            2,
            True,
            pytest.approx(0.5, rel=0.03),
        )
        denied = read(await toolbox.call("get_statistics", {"session": MINE, "action": "deny"}))
        assert (denied["records"], denied["hooks"][0]["denials"]) == (1, 1)
        assert (await toolbox.call("get_statistics", {"session": OTHERS})).is_error


async def test_when_time_is_up_it_says_that_not_all_is_counted(world: World) -> None:
    """A trail may be larger than a caller can wait for."""
    await world.write_trail(MINE, records=[call("Bash")])
    hurried = TrailStatistics(Trails(Scope(None), world.project), seconds=-1.0)
    told = await hurried.run(StatisticsArguments())
    assert (told.complete, told.records) == (False, 0)
    assert "time was up" in told.summary
