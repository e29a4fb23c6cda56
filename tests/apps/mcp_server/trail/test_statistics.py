"""What each hook did, counted."""

from __future__ import annotations

from amplifier_apps.mcp_server.scope import Scope
from amplifier_apps.mcp_server.trail.statistics import StatisticsArguments, TrailStatistics
from amplifier_apps.mcp_server.trail.trails import Trails
from tests.apps.mcp_server.world import MINE, OTHERS, World, call, read


async def test_answers_are_counted_per_hook(world: World) -> None:
    """Over the sessions of this folder, or of one of them."""
    await world.write_trail(MINE, records=[call("Bash"), call("Bash", "deny"), call("Write")])
    await world.write_trail("other-here", records=[call("Bash", "ask_user")])
    await world.write_trail(OTHERS, world.other, [call("Bash", "deny")])
    async with world.open() as toolbox:
        told = read(await toolbox.call("get_statistics", {}))
        (guard,) = told["hooks"]
        assert (guard["calls"], guard["denials"], guard["asks"]) == (4, 1, 1)
        assert (told["sessions"], told["complete"], guard["p50_ms"]) == (2, True, 0.5)
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
