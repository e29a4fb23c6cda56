"""Files that are written as a whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from amplifier_hooks.machine.files import replace_file, write_new_file


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
