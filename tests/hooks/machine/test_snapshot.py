"""Files as they were when they were first looked at."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from amplifier_hooks.machine import snapshot as module
from amplifier_hooks.machine.snapshot import (
    Snapshot,
    SnapshotError,
    digest_files,
    lies_in,
    normalize,
    read_regular,
)


def test_a_file_is_read_once(tmp_path: Path) -> None:
    """Whatever becomes of it: changed, gone, or a link to another."""
    path = tmp_path / "a.py"
    path.write_text("seen")
    kept = Snapshot()
    assert kept.read(path) == b"seen"
    path.write_text("swapped")
    assert kept.read(tmp_path / "x" / ".." / "a.py") == b"seen"
    path.unlink()
    path.symlink_to("/etc/hostname")
    assert kept.read(path) == b"seen"
    assert path in kept


def test_sealed_it_reads_nothing_more(tmp_path: Path) -> None:
    """Neither a file that was there all the time nor one that came later."""
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "a.py").write_text("")
    kept = Snapshot()
    assert kept.list_below(tmp_path / "pack") == [tmp_path / "pack" / "a.py"]
    kept.seal()
    (tmp_path / "pack" / "b.py").write_text("")
    assert kept.list_below(tmp_path / "pack") == [tmp_path / "pack" / "a.py"]
    with pytest.raises(SnapshotError, match="was not there when a person allowed the rest"):
        kept.read(tmp_path / "pack" / "b.py")
    assert kept.list_below(tmp_path / "other.py") == []


def test_a_copy_is_open_and_shares_nothing(tmp_path: Path) -> None:
    """It has the bytes so far, and may read more."""
    (tmp_path / "a.py").write_text("a")
    (tmp_path / "b.py").write_text("b")
    first = Snapshot()
    first.read(tmp_path / "a.py")
    first.seal()
    other = first.copy()
    assert other.list_below(tmp_path / "b.py") == [tmp_path / "b.py"]
    assert tmp_path / "b.py" not in first


def test_a_tree_is_its_files_without_caches_and_hidden_folders(tmp_path: Path) -> None:
    """And without what lies behind links to folders."""
    for name in ("a.py", "b.txt", "__pycache__/c.py", ".git/d.py", "sub/e.py"):
        (tmp_path / "t" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "t" / name).write_text("")
    (tmp_path / "t" / "link").symlink_to(tmp_path)
    kept = Snapshot()
    assert kept.read_tree(tmp_path / "t") == [tmp_path / "t/a.py", tmp_path / "t/sub/e.py"]
    chosen = kept.read_tree(tmp_path / "t", "*", lambda path: path.suffix == ".txt")
    assert chosen == [tmp_path / "t/b.txt"]


def test_what_is_no_ordinary_file_is_refused_at_once(tmp_path: Path) -> None:
    """Reading a pipe would wait for whoever writes to it, and a device may never end."""
    os.mkfifo(tmp_path / "pipe")
    for odd in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(SnapshotError, match="not an ordinary file"):
            read_regular(odd)
    with pytest.raises(IsADirectoryError):
        read_regular(tmp_path)


def test_large_files_and_folders_are_refused_with_their_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One file, all files together, their number, and the names of a folder."""
    for number in range(4):
        (tmp_path / f"{number}.py").write_text("x" * 60)
    monkeypatch.setattr(module, "MAX_FILE", 50)
    with pytest.raises(SnapshotError, match=r"0\.py has 60 bytes; 50 at most"):
        Snapshot().read(tmp_path / "0.py")
    monkeypatch.setattr(module, "MAX_FILE", 100)
    monkeypatch.setattr(module, "MAX_BYTES", 150)
    with pytest.raises(SnapshotError, match="2,000 files and 150 bytes together"):
        Snapshot().read_tree(tmp_path)
    monkeypatch.setattr(module, "MAX_FILES", 3)
    with pytest.raises(SnapshotError, match=r"more than 3 files \(\*\.py\)"):
        Snapshot().read_tree(tmp_path)
    monkeypatch.setattr(module, "MAX_NAMES", 3)
    with pytest.raises(SnapshotError, match="or 3 names"):
        Snapshot().read_tree(tmp_path, "*.txt")


def test_no_name_can_be_taken_for_other_files() -> None:
    """A digest is of names and contents, and of nothing that they could be joined to."""
    digest = digest_files([("b", b"2")])
    assert digest_files([("a", b"1"), ("b", b"2")]) == digest_files([("b", b"2"), ("a", b"1")])
    forged = f'a"], ["{digest}'
    assert digest_files([("a", b"1"), ("b", b"2")]) != digest_files([(forged, b"1")])
    assert digest_files([("a\nb", b"1")]) != digest_files([("a", b"1"), ("b", b"1")])
    assert digest_files([("\udc80", b"")]) != digest_files([("\udc81", b"")])


def test_what_lies_in_a_folder_does_so_behind_links(tmp_path: Path) -> None:
    """By either name; the program's own environment does not, even inside it."""
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    assert lies_in(tmp_path / "link" / "a.py", real)
    assert lies_in(real / "a.py", tmp_path / "link")
    assert not lies_in(tmp_path / "a.py", real)
    assert not lies_in(Path(module.__file__), Path(module.__file__).anchor / Path())


def test_a_governed_folder_is_reached_through_the_snapshot_only(tmp_path: Path) -> None:
    """From the moment it is said."""
    kept = Snapshot()
    assert not kept.governs(tmp_path / "a.py")
    kept.govern(tmp_path)
    assert kept.governs(tmp_path / "a.py")
    assert kept.governed == tmp_path
    assert normalize(Path("~")) == Path.home()
