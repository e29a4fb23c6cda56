"""The text of a Seatbelt profile. What macOS makes of it was never tried."""

from __future__ import annotations

from pathlib import Path

from amplifier_hooks.sandbox.seatbelt import build_profile, build_seatbelt_arguments
from amplifier_hooks.sandbox.wall import Wall

WALL = Wall(
    writable=(Path('/project/a "b"'),),
    hidden=(Path("/data"),),
    sealed=(Path("/project/.git/hooks"), Path("/project/.git/config")),
    temporary=Path("/private/tmp/x"),
    network="deny",
    granted=(Path("/project/.git/config"),),
)


def test_rules_come_in_the_order_in_which_the_last_one_counts() -> None:
    """Writing is denied, then allowed in places, then denied in sealed and hidden ones."""
    lines = build_profile(WALL).splitlines()
    denied = lines.index("(deny file-write*)")
    allowed = next(n for n, line in enumerate(lines) if "/private/tmp/x" in line)
    sealed = lines.index('(deny file-write* (subpath "/project/.git/hooks"))')
    hidden = lines.index('(deny file-read* file-write* (subpath "/data"))')
    assert denied < allowed < sealed < hidden
    assert "(deny network*)" in lines


def test_names_cannot_end_their_quotes() -> None:
    """A folder's name is not a rule."""
    assert r'(subpath "/project/a \"b\"")' in build_profile(WALL)


def test_the_command_comes_after_the_profile() -> None:
    """As sandbox-exec wants it."""
    assert build_seatbelt_arguments(WALL)[1:] == ["-p", build_profile(WALL)]
