"""The wall as a value."""

from __future__ import annotations

from pathlib import Path

from amplifier_hooks.sandbox.wall import Wall


def test_a_wall_is_strict_unless_it_says_otherwise() -> None:
    """Equal ones are the same key, so that what was built for one serves the other."""
    walls = {Wall((Path("/a"),), (), (), Path("/t")) for _ in range(2)}
    assert len(walls) == 1
    wall = walls.pop()
    assert (wall.unix_sockets, wall.granted, wall.kind) == (False, (), "landlock")
