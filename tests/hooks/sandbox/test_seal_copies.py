"""Copies of sealed places as values: compared, and joined."""

from __future__ import annotations

import mmap
import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.sandbox import seal_copies
from amplifier_hooks.sandbox.seal_copies import (
    ABSENT,
    Copy,
    SealError,
    Tree,
    build_tree,
    copy_place,
    copy_tree,
    find_changes,
    graft,
    is_changed,
    keeps_times,
    list_marks,
    make_stamp,
)


def test_what_lies_below_a_place_is_part_of_it() -> None:
    """In whichever order they are listed."""
    assert build_tree([("a", "b"), ("a",), ("c", "d"), ("c", "e")]) == {
        "a": {},
        "c": {"d": {}, "e": {}},
    }


def test_a_change_on_the_way_is_named_where_the_way_ends() -> None:
    """A link in a folder's place counts once, a file inside counts as itself."""
    tree = build_tree([("a", "b"), ("a", "c")])
    file = Copy("file", data=b"x")
    before = Copy("way", entries={"a": Copy("way", entries={"b": file})})
    assert find_changes(before, ABSENT, tree) == [("a", "b")]
    assert find_changes(before, Copy("way", entries={"a": Copy("link")}), tree) == [("a",)]
    assert find_changes(before, before, tree) == []


copies = st.recursive(
    st.builds(Copy, st.sampled_from(["file", "link"]), data=st.binary(max_size=2)),
    lambda inner: st.builds(
        Copy,
        st.just("folder"),
        entries=st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    ),
    max_leaves=6,
)


def get_at(copy: Copy, parts: tuple[str, ...]) -> Copy:
    for part in parts:
        copy = copy.entries.get(part, ABSENT)
    return copy


@given(copies, copies, st.lists(st.sampled_from("abc"), max_size=3).map(tuple))
def test_a_graft_changes_one_path_and_nothing_beside_it(
    before: Copy, now: Copy, parts: tuple[str, ...]
) -> None:
    """At the path stands what is there now, unless something that is no folder was in the way."""
    grafted = graft(before, now, parts)
    assert get_at(grafted, parts) == get_at(now, parts)
    if parts and before.kind == now.kind == "folder":
        for name in set("abc") - {parts[0]}:
            assert get_at(grafted, (name,)) == get_at(before, (name,))


@given(copies)
def test_nothing_differs_from_itself(copy: Copy) -> None:
    """However deep it is."""
    assert not is_changed(copy, copy)


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files count as left alone for long enough."""
    monkeypatch.setattr(seal_copies, "SETTLED", -60_000_000_000)


def write_mounts(folder: Path, device: int, *kinds: str) -> Path:
    number = f"{os.major(device)}:{os.minor(device)}"
    lines = [f"36 35 {number} / / rw,relatime shared:1 - {kind} /dev/x rw\n" for kind in kinds]
    (folder / "mountinfo").write_text("37 35 0:99 / /other rw - ext4 none rw\n" + "".join(lines))
    return folder / "mountinfo"


@pytest.mark.parametrize(
    ("kinds", "honest"),
    [(("ext4",), True), (("xfs",), True), (("tmpfs",), False), (("nfs4",), False), ((), False)],
)
def test_only_some_file_systems_have_stamps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kinds: tuple[str, ...], honest: bool
) -> None:
    """Those that note every change; one that is not known has none."""
    device = os.makedev(8, 77)
    monkeypatch.setattr(seal_copies, "_MOUNTS", write_mounts(tmp_path, device, *kinds))
    keeps_times.cache_clear()
    assert keeps_times(device) is honest
    keeps_times.cache_clear()


def test_a_system_without_a_list_of_mounts_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every file is then read."""
    monkeypatch.setattr(seal_copies, "_MOUNTS", tmp_path / "none")
    keeps_times.cache_clear()
    assert not keeps_times(os.makedev(8, 78))
    keeps_times.cache_clear()


def test_a_file_that_was_just_changed_has_no_stamp(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second change within the same tick would keep it."""
    monkeypatch.setattr(seal_copies, "keeps_times", lambda device: True)
    (tmp_path / "a").touch()
    assert make_stamp((tmp_path / "a").stat()) == ()


@pytest.mark.usefixtures("settled")
def test_no_way_of_writing_keeps_the_stamp(tmp_path: Path) -> None:
    """Through a descriptor, a mapped page, or with the old time set back."""
    file = tmp_path / "a"
    file.write_bytes(b"x" * 4096)
    if not make_stamp(file.stat()):
        pytest.skip("the file system of the temporary folder has no stamps")
    os.utime(file, ns=(1, 1))
    before = make_stamp(file.stat())
    while time.time_ns() - file.stat().st_ctime_ns < 20_000_000:
        pass  # until the clock of the file system has ticked
    with file.open("r+b") as opened, mmap.mmap(opened.fileno(), 4096) as page:
        page[0:1] = b"y"
    os.utime(file, ns=(1, 1))
    assert make_stamp(file.stat()) != before


def test_marks_tell_two_files_apart(tmp_path: Path) -> None:
    """Also of the same content."""
    (tmp_path / "a").touch()
    (tmp_path / "b").touch()
    assert list_marks((tmp_path / "a").stat()) == list_marks((tmp_path / "a").stat())
    assert list_marks((tmp_path / "a").stat()) != list_marks((tmp_path / "b").stat())


TREE = build_tree([(".git", "config"), (".git", "hooks"), (".mcp.json",)])


def take(folder: Path, tree: Tree = TREE, known: Copy = ABSENT) -> Copy:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        return copy_tree(descriptor, tree, known)
    finally:
        os.close(descriptor)


def test_a_folder_with_nothing_sealed_is_as_good_as_none(tmp_path: Path) -> None:
    """Commands may make and remove it."""
    assert take(tmp_path) == ABSENT
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/HEAD").touch()
    assert take(tmp_path) == ABSENT


def test_every_kind_of_change_is_seen(tmp_path: Path) -> None:
    """Content, mode, entries added and removed, links, and something else in its place."""
    config, hooks = tmp_path / ".git/config", tmp_path / ".git/hooks"
    hooks.mkdir(parents=True)
    config.write_text("old")
    (hooks / "pre-commit").write_text("hook")
    before = take(tmp_path)
    changes = {
        "content": (lambda: config.write_text("new"), lambda: config.write_text("old")),
        "mode": (lambda: config.chmod(0o777), lambda: config.chmod(0o644)),
        "added": (lambda: (hooks / "x").touch(), lambda: (hooks / "x").unlink()),
        "link": (
            lambda: (tmp_path / "l").hardlink_to(config),
            lambda: (tmp_path / "l").unlink(),
        ),
        "moved": (lambda: config.rename(tmp_path / "c"), lambda: (tmp_path / "c").rename(config)),
        "folder": (
            lambda: (tmp_path / ".mcp.json").mkdir(),
            lambda: (tmp_path / ".mcp.json").rmdir(),
        ),
        "way": (
            lambda: (tmp_path / ".git").rename(tmp_path / "g"),
            lambda: (tmp_path / "g").rename(tmp_path / ".git"),
        ),
    }
    config.chmod(0o644)
    before = take(tmp_path)
    for change, undo in changes.values():
        change()
        assert find_changes(before, take(tmp_path), TREE)
        undo()
        assert find_changes(before, take(tmp_path), TREE) == []


def test_a_link_on_the_way_is_a_change_at_the_link(tmp_path: Path) -> None:
    """It is not followed."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other/config").write_text("evil")
    before = take(tmp_path)
    (tmp_path / ".git").symlink_to("other")
    now = take(tmp_path)
    assert now.entries[".git"].kind == "link"
    assert find_changes(before, now, TREE) == [(".git",)]


def test_what_is_large_is_known_by_when_it_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By count or by size; the copy holds no content."""
    monkeypatch.setattr(seal_copies, "MOST_FILES", 5)
    hooks = tmp_path / ".git/hooks"
    hooks.mkdir(parents=True)
    for n in range(9):
        (hooks / str(n)).write_text("x")
    before = take(tmp_path)
    assert before.entries[".git"].entries["hooks"].kind == "large"
    assert find_changes(before, take(tmp_path), TREE) == []
    (hooks / "3").write_text("y")
    assert find_changes(before, take(tmp_path), TREE) == [(".git", "hooks")]
    monkeypatch.setattr(seal_copies, "MOST_BYTES", 3)
    (tmp_path / ".mcp.json").write_text("long")
    assert take(tmp_path).entries[".mcp.json"].kind == "large"


def test_too_much_to_watch_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rather than a place that only seems to be sealed."""
    monkeypatch.setattr(seal_copies, "MOST_FILES", 1)
    monkeypatch.setattr(seal_copies, "MOST_STAMPS", 2)
    hooks = tmp_path / ".git/hooks"
    hooks.mkdir(parents=True)
    for n in range(3):
        (hooks / str(n)).touch()
    with pytest.raises(SealError, match="'hooks' holds over 2 files"):
        take(tmp_path)


def test_a_pipe_does_not_make_anybody_wait(tmp_path: Path) -> None:
    """It is odd, and compared as such."""
    os.mkfifo(tmp_path / ".mcp.json")
    assert take(tmp_path).entries[".mcp.json"].kind == "other"


def test_a_file_is_read_again_only_when_its_stamp_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where stamps can be relied on; elsewhere it is always read."""
    monkeypatch.setattr(seal_copies, "make_stamp", list_marks)
    (tmp_path / ".mcp.json").write_text("old")
    first = take(tmp_path)
    assert take(tmp_path, known=first).entries[".mcp.json"].data is first.entries[".mcp.json"].data
    (tmp_path / ".mcp.json").write_text("newer")
    assert take(tmp_path, known=first).entries[".mcp.json"].data == b"newer"
    monkeypatch.setattr(seal_copies, "make_stamp", lambda info: ())
    (tmp_path / ".mcp.json").write_text("other")
    again = take(tmp_path, known=take(tmp_path)).entries[".mcp.json"]
    assert (again.data, again.stamp) == (b"other", ())


def test_one_place_is_taken_whole(tmp_path: Path) -> None:
    """With all below it; one that is not there is absent."""
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/c").symlink_to("d")
    descriptor = os.open(tmp_path, os.O_RDONLY)
    try:
        found = copy_place(descriptor, "a")
        assert copy_place(descriptor, "none") == ABSENT
    finally:
        os.close(descriptor)
    assert found.entries["b"].entries["c"].data == b"d"
