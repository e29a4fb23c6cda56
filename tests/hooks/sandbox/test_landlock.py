"""Rule sets: what each version of Landlock can take away."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.sandbox import landlock
from amplifier_hooks.sandbox.landlock import (
    READ,
    WRITE,
    Access,
    Rulesets,
    build_ruleset,
    get_known_access,
    list_allowances,
    make_stamp,
    query_abi,
)
from amplifier_hooks.sandbox.wall import Wall

ABI = query_abi()
needs_landlock = pytest.mark.skipif(ABI < 1, reason="THIS KERNEL HAS NO LANDLOCK")


def test_each_version_knows_what_it_brought() -> None:
    """A bit that the kernel does not know would make it refuse the whole rule set."""
    first = {abi: max(get_known_access(abi)) for abi in range(1, 9)}
    assert first[1] == Access.MAKE_SYM
    assert first[2] == Access.REFER
    assert first[3] == first[4] == Access.TRUNCATE
    assert first[5] == first[6] == first[7] == first[8] == Access.IOCTL_DEV


def test_nobody_makes_devices() -> None:
    """A block device of one's own making is the whole disk."""
    assert not (READ | WRITE) & (Access.MAKE_CHAR | Access.MAKE_BLOCK)


def test_without_the_system_call_there_is_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """An old kernel answers ENOSYS, one that has it switched off EOPNOTSUPP."""

    def refuse(*_: object) -> int:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(landlock, "_call", refuse)
    assert query_abi.__wrapped__() == 0
    monkeypatch.undo()
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert query_abi.__wrapped__() == 0


@needs_landlock
@pytest.mark.parametrize("abi", range(1, ABI + 1))
def test_every_version_up_to_this_one_takes_its_rule_set(tmp_path: Path, abi: int) -> None:
    """Folders, files, places that do not exist, and links, which get no rule."""
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path)
    rules = [(tmp_path / name, WRITE) for name in (".", "file", "missing", "link", "file/below")]
    os.close(build_ruleset(rules, abi, tcp=False))


@needs_landlock
def test_a_link_that_was_put_into_a_path_leads_nowhere(tmp_path: Path) -> None:
    """A rule on the target of a link would open what nobody allowed."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    program = (
        "import ctypes, os, sys\n"
        "libc = ctypes.CDLL(None)\n"
        "libc.prctl(38, 1, 0, 0, 0)\n"
        "assert libc.syscall(446, int(sys.argv[1]), 0) == 0\n"
        "os.mkdir(sys.argv[2])\n"
    )
    for name, works in (("real", True), ("link", False)):
        rules = [(Path("/"), READ), (tmp_path / name, WRITE)]
        ruleset = build_ruleset(rules, ABI, tcp=True)
        command = [sys.executable, "-I", "-S", "-c", program, str(ruleset)]
        made = tmp_path / "real" / f"by-{name}"
        done = subprocess.run([*command, str(made)], pass_fds=[ruleset], capture_output=True)
        os.close(ruleset)
        assert (done.returncode == 0, made.exists()) == (works, works)


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
    before = make_stamp(wall)
    assert make_stamp(wall) == before
    (tmp_path / "new").mkdir()
    assert make_stamp(wall) != before


NAMES = st.sampled_from("abc")
PATHS = st.lists(NAMES, min_size=1, max_size=4).map(lambda parts: Path("/", *parts))


@given(hidden=st.lists(PATHS, max_size=4), roots=st.lists(PATHS, max_size=3), probe=PATHS)
def test_no_arrangement_of_places_uncovers_a_hidden_one(
    hidden: list[Path], roots: list[Path], probe: Path
) -> None:
    """Whatever lies in whatever, on a disk that has every name everywhere."""
    real = landlock._list_entries
    landlock._list_entries = lambda folder: [(name, False) for name in "abc"]
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
        landlock._list_entries = real


def count_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@needs_landlock
def test_the_same_wall_is_built_once_until_a_folder_changes(tmp_path: Path) -> None:
    """The number tells which one it is."""
    kept = Rulesets()
    wall = Wall((tmp_path,), (tmp_path / "hidden",), (), tmp_path)

    def number() -> int:
        with kept.lend(wall) as (_, found):
            return found

    # Other programs make folders beside those on the way, too: between two looks there are none.
    assert any(number() == number() for _ in range(100))
    first = number()
    (tmp_path / "new").mkdir()
    assert number() != first


@needs_landlock
def test_only_the_last_few_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is an open descriptor."""
    monkeypatch.setattr(landlock, "_MOST", 3)
    kept = Rulesets()
    before = count_descriptors()
    for number in range(10):
        with kept.lend(Wall((tmp_path / str(number),), (), (), tmp_path)):
            pass
    assert count_descriptors() == before + 3
