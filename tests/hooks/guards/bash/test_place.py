"""What a path of a command would hit."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.guards.bash.place import Place, Reach
from amplifier_hooks.guards.bash.word import create_literal
from tests.hooks.guards.bash.reading import read_argument

HOME = Path("/home/me")
WORK = Path("/home/me/work")


@pytest.mark.parametrize(
    ("written", "reach"),
    [
        ("x", Reach.INSIDE),
        ("a/../b", Reach.INSIDE),
        ("*.py", Reach.INSIDE),
        ("/tmp/x", Reach.INSIDE),
        ("/dev/shm/x", Reach.INSIDE),
        ("../other", Reach.OUTSIDE),
        ("~/other", Reach.OUTSIDE),
        ("~/*.txt", Reach.OUTSIDE),
        ("/home/you/x", Reach.OUTSIDE),
        (".", Reach.PROJECT),
        ("*", Reach.PROJECT),
        ("./.*", Reach.PROJECT),
        ("$x", Reach.UNKNOWN),
        ("..", Reach.SYSTEM),
        ("~", Reach.SYSTEM),
        ("~/*", Reach.SYSTEM),
        ("~root", Reach.SYSTEM),
        ("/", Reach.SYSTEM),
        ("/*", Reach.SYSTEM),
        ("/ETC/x", Reach.SYSTEM),
        ("/tmp", Reach.SYSTEM),
        ("/home", Reach.SYSTEM),
        ("/new", Reach.SYSTEM),
        ("/usr/lib/x", Reach.SYSTEM),
    ],
)
def test_how_much_is_at_stake(written: str, reach: Reach) -> None:
    """From one's own files to the system; letter case makes no difference."""
    assert Place(WORK, HOME).rate(read_argument(written)) is reach


@pytest.mark.parametrize("directory", ["/", "/etc", "/etc/nginx", "/home"])
def test_nothing_is_ones_own_where_the_system_lives(directory: str) -> None:
    """Working there makes no project of it."""
    place = Place(Path(directory), HOME)
    assert place.rate(create_literal(".")) is Reach.SYSTEM
    assert place.rate(create_literal("passwd")) is not Reach.INSIDE


def test_a_home_below_a_directory_of_the_system_is_a_home() -> None:
    """As that of root, or of a service."""
    place = Place(Path("/root/work"), Path("/root"))
    assert place.rate(create_literal("/root/other")) is Reach.OUTSIDE
    assert place.rate(create_literal("/root")) is Reach.SYSTEM


@pytest.mark.parametrize(
    ("starts", "reach"),
    [
        ([], Reach.INSIDE),
        ([WORK / "sub"], Reach.INSIDE),
        ([Path("/")], Reach.SYSTEM),
        ([WORK / "sub", Path("/etc")], Reach.SYSTEM),
    ],
)
def test_a_relative_path_is_seen_from_everywhere_the_script_goes(
    starts: list[Path], reach: Reach
) -> None:
    """The worst of them counts."""
    assert Place(WORK, HOME).rate(create_literal("bin"), starts) is reach


def test_symlinks_are_followed(tmp_path: Path) -> None:
    """A harmless name does not hide a dangerous place."""
    (tmp_path / "link").symlink_to("/etc")
    assert Place(tmp_path, HOME).rate(create_literal("link/x")) is Reach.SYSTEM
    assert Place(tmp_path, HOME).find_path(create_literal("link/x")) == Path("/etc/x")


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("x", WORK / "x"),
        ("~/x", HOME / "x"),
        ("/a/../b", Path("/b")),
        ("$x", None),
        ("~you/x", None),
        ("''", None),
    ],
)
def test_the_path_of_a_word(written: str, path: Path | None) -> None:
    """None when it is not certain."""
    assert Place(WORK, HOME).find_path(read_argument(written)) == path


def test_the_path_of_a_word_seen_from_elsewhere() -> None:
    """Relative ones begin where the script is."""
    assert Place(WORK, HOME).find_path(create_literal("x"), Path("/a")) == Path("/a/x")


@given(st.text(max_size=30))
def test_any_text_has_a_reach(text: str) -> None:
    """No file name makes it raise."""
    assert Place(WORK, HOME).rate(create_literal(text)) in Reach
