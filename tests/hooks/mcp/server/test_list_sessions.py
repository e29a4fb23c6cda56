"""The sessions of the scope that left a trail."""

from __future__ import annotations

from amplifier_hooks import SessionInfo, SessionStore
from tests.hooks.mcp.server.world import MINE, OTHERS, SECRET, World, call, read


async def test_sessions_of_this_folder_are_listed_with_their_names(world: World) -> None:
    """From the trail, and from the saved session if there is one."""
    await world.write_trail(MINE, records=[call("Bash") for _ in range(5)])
    await world.write_trail(OTHERS, world.other)
    SessionStore().save(SessionInfo(MINE, name=f"fix the till {SECRET}", turns=3), {})
    (session,) = read(await world.call("list_sessions"))["sessions"]
    assert (session["id"], session["turns"], session["bundle"]) == (MINE, 3, "shop")
    assert session["name"] == "fix the till [REDACTED:github-token]"
    assert session["folder"] == str(world.project)
    assert session["records"] > 5
    assert len(read(await world.call("list_sessions", everything=True))["sessions"]) == 2


async def test_pages_follow_one_another(world: World) -> None:
    """Every session once; a cursor of nowhere is refused."""
    for number in range(5):
        await world.write_trail(f"s-{number}", records=[call("Bash")])
    async with world.open() as toolbox:
        first = read(await toolbox.call("list_sessions", {"limit": 3}))
        rest = {"limit": 3, "cursor": first["next_cursor"]}
        second = read(await toolbox.call("list_sessions", rest))
        assert second["next_cursor"] is None
        shown = [one["id"] for one in (*first["sessions"], *second["sessions"])]
        assert sorted(shown) == [f"s-{number}" for number in range(5)]
        assert (await toolbox.call("list_sessions", {"cursor": "gone/0"})).is_error


async def test_without_sessions_there_is_nothing_to_list(world: World) -> None:
    """And no folder is made to look in."""
    reply = await world.call("list_sessions")
    assert reply.text.startswith("No sessions.")
    assert not world.trails.exists()
