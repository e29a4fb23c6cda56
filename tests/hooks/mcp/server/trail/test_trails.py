"""The trails that belong to the scope."""

from __future__ import annotations

import pytest

from amplifier_hooks.mcp.server.failures import Refused
from amplifier_hooks.mcp.server.scope import Scope
from amplifier_hooks.mcp.server.trail.trails import Deadline, Trails
from tests.audit.support import write_log
from tests.hooks.mcp.server.world import MINE, OTHERS, World


@pytest.fixture
async def trails(world: World) -> Trails:
    await world.write_trail(MINE)
    await world.write_trail("11aa-also")
    await world.write_trail(OTHERS, world.other)
    await write_log(world.trails / "nobodys", 3)
    return Trails(Scope(world.project), world.project)


async def test_only_trails_of_the_folder_are_listed(world: World, trails: Trails) -> None:
    """Not one that does not say where it comes from; all of them to whoever may see all."""
    assert {one.id for one in trails.list()} == {MINE, "11aa-also"}
    everything = Trails(Scope(None), world.project)
    assert {one.id for one in everything.list()} == {MINE, "11aa-also", OTHERS, "nobodys"}


async def test_a_session_is_found_by_its_id_or_a_beginning_that_is_its_own(trails: Trails) -> None:
    """Of several, none is guessed."""
    assert trails.find(MINE).id == trails.find("11aa-m").id == MINE
    with pytest.raises(Refused, match="Several sessions begin with '11aa'"):
        trails.find("11aa")


async def test_nothing_outside_can_be_named(trails: Trails) -> None:
    """Nor does the refusal tell whether it is there."""
    hidden = [OTHERS, "22bb", "nobodys", "nope", "11a"]
    paths = ["..", "../audit/11aa-mine", "/etc", "", "a\0b", "x" * 200]
    for name in (*hidden, *paths):
        with pytest.raises(Refused, match=r"^(No session|session: give the id)"):
            trails.find(name)


async def test_a_bundle_may_keep_its_trails_elsewhere(world: World) -> None:
    """They are found there, and in the usual place."""
    await world.write_trail(MINE)
    kept = world.home / "kept"
    world.trails.rename(kept)
    await world.write_trail("33cc")
    world.save_bundle(audit={"path": str(kept)})
    assert {one.id for one in Trails(Scope(world.project), world.project).list()} == {MINE, "33cc"}


def test_a_deadline_passes() -> None:
    """At once, if there is no time at all."""
    assert Deadline(-1.0).is_over
    assert not Deadline(1000.0).is_over
