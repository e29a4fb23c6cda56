"""Whether a trail is as its writer wrote it."""

from __future__ import annotations

import pytest

from amplifier_hooks.mcp.server.tool import Refused
from amplifier_hooks.mcp.server.trails import Scope, Trails
from amplifier_hooks.mcp.server.verify_trail import TrailVerification, VerifyArguments
from tests.hooks.mcp.server.world import MINE, OTHERS, World, call, read


async def test_a_trail_is_verified_and_a_changed_one_found_out(world: World) -> None:
    """With the record that is wrong."""
    folder = await world.write_trail(MINE, records=[call("Bash", command="one")])
    told = read(await world.call("verify_trail", {"session": MINE}))
    assert (told["verdict"], told["finding"]) == ("consistent", None)
    segment = folder / "00000000.jsonl"
    segment.write_bytes(segment.read_bytes().replace(b'"one"', b'"two"'))
    told = read(await world.call("verify_trail", {"session": MINE}))
    assert told["verdict"] == "tampered"
    assert told["finding"]["kind"] == "edit"


async def test_what_takes_too_long_is_left_to_a_person(world: World) -> None:
    """By its size, or by the clock."""
    await world.write_trail(MINE, records=[call("Bash") for _ in range(1100)])
    trails = Trails(Scope(None), world.project)
    for hurried in (TrailVerification(trails, most_bytes=10), TrailVerification(trails, -1.0)):
        with pytest.raises(Refused, match=f"amplifier audit verify {MINE}"):
            await hurried.run(VerifyArguments(session=MINE))


async def test_what_is_no_trail_of_the_folder_cannot_be_verified(world: World) -> None:
    """Nor one that is there without records."""
    await world.write_trail(OTHERS, world.other)
    assert (await world.call("verify_trail", {"session": OTHERS})).is_error
    (world.trails / "empty").mkdir()
    reply = await world.call("verify_trail", {"session": "empty"}, everything=True)
    assert reply.text.startswith("The trail of empty cannot be verified: ")
