"""Copies are taken of what stands there, without following a link or waiting for anybody."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from amplifier_hooks.sandbox.seal import reading
from amplifier_hooks.sandbox.seal.copy import (
    ABSENT,
    Copy,
    SealError,
    Tree,
    build_tree,
    find_changes,
)
from amplifier_hooks.sandbox.seal.reading import take_copy, take_place
from amplifier_hooks.sandbox.seal.stamp import list_marks

TREE = build_tree([(".git", "config"), (".git", "hooks"), (".mcp.json",)])


def take(folder: Path, tree: Tree = TREE, known: Copy = ABSENT) -> Copy:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        return take_copy(descriptor, tree, known)
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
    monkeypatch.setattr(reading, "MOST_FILES", 5)
    hooks = tmp_path / ".git/hooks"
    hooks.mkdir(parents=True)
    for n in range(9):
        (hooks / str(n)).write_text("x")
    before = take(tmp_path)
    assert before.entries[".git"].entries["hooks"].kind == "large"
    assert find_changes(before, take(tmp_path), TREE) == []
    (hooks / "3").write_text("y")
    assert find_changes(before, take(tmp_path), TREE) == [(".git", "hooks")]
    monkeypatch.setattr(reading, "MOST_BYTES", 3)
    (tmp_path / ".mcp.json").write_text("long")
    assert take(tmp_path).entries[".mcp.json"].kind == "large"


def test_too_much_to_watch_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rather than a place that only seems to be sealed."""
    monkeypatch.setattr(reading, "MOST_FILES", 1)
    monkeypatch.setattr(reading, "MOST_STAMPS", 2)
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
    monkeypatch.setattr(reading, "make_stamp", list_marks)
    (tmp_path / ".mcp.json").write_text("old")
    first = take(tmp_path)
    assert take(tmp_path, known=first).entries[".mcp.json"].data is first.entries[".mcp.json"].data
    (tmp_path / ".mcp.json").write_text("newer")
    assert take(tmp_path, known=first).entries[".mcp.json"].data == b"newer"
    monkeypatch.setattr(reading, "make_stamp", lambda info: ())
    (tmp_path / ".mcp.json").write_text("other")
    again = take(tmp_path, known=take(tmp_path)).entries[".mcp.json"]
    assert (again.data, again.stamp) == (b"other", ())


def test_one_place_is_taken_whole(tmp_path: Path) -> None:
    """With all below it; one that is not there is absent."""
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/c").symlink_to("d")
    descriptor = os.open(tmp_path, os.O_RDONLY)
    try:
        found = take_place(descriptor, "a")
        assert take_place(descriptor, "none") == ABSENT
    finally:
        os.close(descriptor)
    assert found.entries["b"].entries["c"].data == b"d"
