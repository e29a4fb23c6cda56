"""What a path of a command would hit, and which directories it may run in."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.guards.bash.script import parse_script
from amplifier_hooks.guards.bash.words import create_literal
from amplifier_hooks.guards.bash.workspace import Directories, Reach, Workspace, list_directories
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
    assert Workspace(WORK, HOME).rate(read_argument(written)) is reach


@pytest.mark.parametrize("directory", ["/", "/etc", "/etc/nginx", "/home"])
def test_nothing_is_ones_own_where_the_system_lives(directory: str) -> None:
    """Working there makes no project of it."""
    workspace = Workspace(Path(directory), HOME)
    assert workspace.rate(create_literal(".")) is Reach.SYSTEM
    assert workspace.rate(create_literal("passwd")) is not Reach.INSIDE


def test_a_home_below_a_directory_of_the_system_is_a_home() -> None:
    """As that of root, or of a service."""
    workspace = Workspace(Path("/root/work"), Path("/root"))
    assert workspace.rate(create_literal("/root/other")) is Reach.OUTSIDE
    assert workspace.rate(create_literal("/root")) is Reach.SYSTEM


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
    assert Workspace(WORK, HOME).rate(create_literal("bin"), starts) is reach


def test_symlinks_are_followed(tmp_path: Path) -> None:
    """A harmless name does not hide a dangerous place."""
    (tmp_path / "link").symlink_to("/etc")
    assert Workspace(tmp_path, HOME).rate(create_literal("link/x")) is Reach.SYSTEM
    assert Workspace(tmp_path, HOME).find_path(create_literal("link/x")) == Path("/etc/x")


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
    assert Workspace(WORK, HOME).find_path(read_argument(written)) == path


def test_the_path_of_a_word_seen_from_elsewhere() -> None:
    """Relative ones begin where the script is."""
    assert Workspace(WORK, HOME).find_path(create_literal("x"), Path("/a")) == Path("/a/x")


@given(st.text(max_size=30))
def test_any_text_has_a_reach(text: str) -> None:
    """No file name makes it raise."""
    assert Workspace(WORK, HOME).rate(create_literal(text)) in Reach


def find(source: str) -> Directories:
    workspace = Workspace(Path("/project"), Path("/home/me"))
    return list_directories(parse_script(source).commands, workspace)


@pytest.mark.parametrize(
    ("source", "known"),
    [
        ("ls", ["/project"]),
        ("cd a", ["/project", "/project/a"]),
        ("cd a; cd b", ["/project", "/project/a", "/project/b", "/project/a/b"]),
        ("cd /etc && ls", ["/project", "/etc"]),
        ("cd", ["/project", "/home/me"]),
        ("cd -P -- a", ["/project", "/project/a"]),
        ("cd a; cd -", ["/project", "/project/a"]),
        ("pushd a; popd", ["/project", "/project/a"]),
        ("env -C a ls", ["/project", "/project/a"]),
        ("env --chdir=a ls", ["/project", "/project/a"]),
        ("git -C a apply x", ["/project", "/project/a"]),
    ],
)
def test_every_directory_that_may_be_reached(source: str, known: list[str]) -> None:
    """One change after the other, each with and without those before it."""
    assert find(source) == Directories(tuple(map(Path, known)))


@pytest.mark.parametrize("source", ["cd $x", "cd a*", "cd ~you", "pushd $(f)", "env -C $x ls"])
def test_a_directory_that_only_running_would_tell_leaves_the_list_incomplete(source: str) -> None:
    """So that a relative path behind it is asked about."""
    assert not find(source).complete


def test_too_many_directories_are_not_all_listed() -> None:
    """Each change may double them."""
    found = find("; ".join(f"cd d{number}" for number in range(40)))
    assert not found.complete
    assert len(found.known) <= 16
