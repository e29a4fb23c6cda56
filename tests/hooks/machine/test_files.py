"""Files that are written as a whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from amplifier_hooks.machine import files as module
from amplifier_hooks.machine.files import (
    Snapshot,
    SnapshotError,
    digest_files,
    lies_in,
    normalize,
    read_regular,
    replace_file,
    write_new_file,
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


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def test_a_file_is_made_or_replaced(tmp_path: Path) -> None:
    """Nothing but the file itself is left in the directory."""
    path = tmp_path / "state"
    replace_file(path, b"one")
    replace_file(str(path), b"two", sync=False)
    assert path.read_bytes() == b"two"
    assert names_in(tmp_path) == ["state"]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755])
def test_a_given_mode_is_exact_whatever_the_umask(tmp_path: Path, mode: int) -> None:
    """A private file is private, and a program stays executable."""
    before = os.umask(0o077)
    try:
        replace_file(tmp_path / "a", b"", mode=mode)
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "a") == mode


def test_without_a_mode_it_is_that_of_any_new_file(tmp_path: Path) -> None:
    """The umask of the process decides, as for every other file."""
    (tmp_path / "other").touch()
    replace_file(tmp_path / "a", b"")
    assert mode_of(tmp_path / "a") == mode_of(tmp_path / "other")


def test_a_reader_of_the_old_file_keeps_it(tmp_path: Path) -> None:
    """The old content is never cut off under somebody who is reading it."""
    path = tmp_path / "a"
    path.write_bytes(b"old" * 1000)
    with path.open("rb") as reader:
        replace_file(path, b"new")
        assert reader.read() == b"old" * 1000


def test_a_symlink_is_replaced_and_its_target_is_not(tmp_path: Path) -> None:
    """Whoever plants a link cannot make us overwrite what it leads to."""
    target = tmp_path / "target"
    target.write_bytes(b"precious")
    (tmp_path / "link").symlink_to(target)
    replace_file(tmp_path / "link", b"new")
    assert target.read_bytes() == b"precious"
    assert not (tmp_path / "link").is_symlink()


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    """No temporary file stays behind."""
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with pytest.raises(TypeError):
        replace_file(path, "no bytes")  # type: ignore[arg-type]
    assert path.read_bytes() == b"old"
    assert names_in(tmp_path) == ["a"]


def test_a_directory_is_not_replaced(tmp_path: Path) -> None:
    """The system refuses it, and nothing is left behind."""
    (tmp_path / "a").mkdir()
    with pytest.raises(OSError):
        replace_file(tmp_path / "a", b"")
    assert names_in(tmp_path) == ["a"]


def test_a_missing_directory_is_an_error(tmp_path: Path) -> None:
    """Directories are the caller's to make."""
    with pytest.raises(FileNotFoundError):
        replace_file(tmp_path / "none" / "a", b"")


def test_an_open_directory_is_used_whatever_its_name_is_by_now(tmp_path: Path) -> None:
    """Whoever renames the directory meanwhile cannot redirect the write."""
    (tmp_path / "was").mkdir()
    descriptor = os.open(tmp_path / "was", os.O_RDONLY)
    try:
        (tmp_path / "was").rename(tmp_path / "is")
        replace_file("a", b"here", dir_fd=descriptor)
    finally:
        os.close(descriptor)
    assert (tmp_path / "is" / "a").read_bytes() == b"here"


def test_an_owner_that_cannot_be_given_is_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the superuser may give files away; the file is written all the same."""

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "not the superuser")

    monkeypatch.setattr(os, "fchown", refuse)
    replace_file(tmp_path / "a", b"new", owner=(1, 1), mode=0o640)
    assert mode_of(tmp_path / "a") == 0o640


@pytest.mark.parametrize(("code", "raised"), [(errno.EINVAL, False), (errno.EIO, True)])
def test_a_directory_that_cannot_be_synced_is_no_failure_but_a_broken_disk_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, raised: bool
) -> None:
    """Some file systems cannot sync directories; an I/O error is never hidden."""
    real = os.fsync

    def sync(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(code, os.strerror(code))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", sync)
    if raised:
        with pytest.raises(OSError):
            replace_file(tmp_path / "a", b"new")
    else:
        replace_file(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"new"


def test_a_new_file_is_never_written_over_another(tmp_path: Path) -> None:
    """Neither over a file nor through a symlink to one that is not there yet."""
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "b")
    for name in ("a", "link"):
        with pytest.raises(FileExistsError):
            write_new_file(tmp_path / name, b"new")
    assert (tmp_path / "a").read_bytes() == b"old"
    assert not (tmp_path / "b").exists()
