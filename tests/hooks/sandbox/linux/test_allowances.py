"""Which paths a wall allows: everything around a hidden place, never the place itself."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.sandbox.linux import allowances
from amplifier_hooks.sandbox.linux.allowances import list_allowances, take_stamp
from amplifier_hooks.sandbox.linux.landlock import READ, WRITE, Access
from amplifier_hooks.sandbox.wall import Wall


def make_wall(root: Path, *hidden: Path) -> Wall:
    temporary = root / "tmp"
    temporary.mkdir(exist_ok=True)
    return Wall((root / "work",), tuple(hidden), (), temporary)


def covers(wall: Wall, path: Path, access: Access) -> bool:
    """Whether some rule gives this access to the path, as the kernel counts."""
    return any(
        access in granted and path.is_relative_to(place) for place, granted in list_allowances(wall)
    )


def test_a_hidden_place_is_neither_read_nor_written(tmp_path: Path) -> None:
    """Its siblings are, at every level above it."""
    hidden = tmp_path / "share" / "amplifier"
    for folder in (hidden, tmp_path / "share" / "other", tmp_path / "work"):
        folder.mkdir(parents=True)
    wall = make_wall(tmp_path, hidden)
    assert not covers(wall, hidden / "key", Access.READ_FILE)
    assert covers(wall, tmp_path / "share" / "other", READ)
    assert covers(wall, tmp_path / "work" / "new", WRITE)
    assert not covers(wall, tmp_path / "share" / "other", Access.WRITE_FILE)


def test_a_root_that_holds_a_hidden_place_is_allowed_around_it(tmp_path: Path) -> None:
    """Nothing new can be made beside it, which is the price for keeping it."""
    hidden = tmp_path / "work" / "trail"
    (hidden / "deep").mkdir(parents=True)
    (tmp_path / "work" / "src").mkdir()
    wall = make_wall(tmp_path, hidden)
    assert covers(wall, tmp_path / "work" / "src" / "new", WRITE)
    assert not covers(wall, tmp_path / "work" / "new", Access.MAKE_REG)
    assert not covers(wall, hidden / "deep", Access.READ_FILE)


def test_a_root_inside_a_hidden_place_is_not_allowed(tmp_path: Path) -> None:
    """Hidden wins."""
    (tmp_path / "work").mkdir()
    assert not covers(make_wall(tmp_path, tmp_path), tmp_path / "work", Access.READ_FILE)


def test_links_beside_a_hidden_place_get_no_rule(tmp_path: Path) -> None:
    """One of them may lead into it."""
    (tmp_path / "hidden").mkdir()
    (tmp_path / "link").symlink_to("hidden")
    listed = [path for path, _ in list_allowances(make_wall(tmp_path, tmp_path / "hidden"))]
    assert tmp_path / "link" not in listed


def test_of_the_devices_only_harmless_ones_are_allowed(tmp_path: Path) -> None:
    """Neither a terminal of the person nor a disk."""
    wall = make_wall(tmp_path)
    assert covers(wall, Path("/dev/null"), Access.WRITE_FILE)
    for device in ("/dev/tty", "/dev/pts/0", "/dev/sda", "/dev/mem", "/dev/shm/x"):
        assert not covers(wall, Path(device), Access.READ_FILE)


def test_the_stamp_changes_with_the_folders_above_a_hidden_place(tmp_path: Path) -> None:
    """So that a rule set is not used after it is out of date."""
    wall = make_wall(tmp_path, tmp_path / "hidden")
    before = take_stamp(wall)
    assert take_stamp(wall) == before
    (tmp_path / "new").mkdir()
    assert take_stamp(wall) != before


NAMES = st.sampled_from("abc")
PATHS = st.lists(NAMES, min_size=1, max_size=4).map(lambda parts: Path("/", *parts))


@given(hidden=st.lists(PATHS, max_size=4), roots=st.lists(PATHS, max_size=3), probe=PATHS)
def test_no_arrangement_of_places_uncovers_a_hidden_one(
    hidden: list[Path], roots: list[Path], probe: Path
) -> None:
    """Whatever lies in whatever, on a disk that has every name everywhere."""
    real = allowances._list_entries
    allowances._list_entries = lambda folder: [(name, False) for name in "abc"]
    try:
        wall = Wall(tuple(roots), tuple(hidden), (), Path("/c"))
        for access in (Access.READ_FILE, Access.WRITE_FILE, Access.MAKE_REG, Access.REFER):
            inside = any(probe.is_relative_to(place) for place in hidden)
            assert not (inside and covers(wall, probe, access))
        outside = not any(
            probe.is_relative_to(place) or place.is_relative_to(probe) for place in hidden
        )
        if outside:
            assert covers(wall, probe, READ)
            wanted = any(probe.is_relative_to(root) for root in (*roots, Path("/c")))
            assert covers(wall, probe, WRITE) == wanted
    finally:
        allowances._list_entries = real
