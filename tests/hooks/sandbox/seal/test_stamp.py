"""A file with the same stamp is the same file, or there is no stamp."""

from __future__ import annotations

import mmap
import os
import time
from pathlib import Path

import pytest

from amplifier_hooks.sandbox.seal import stamp
from amplifier_hooks.sandbox.seal.stamp import keeps_times, list_marks, make_stamp


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files count as left alone for long enough."""
    monkeypatch.setattr(stamp, "SETTLED", -60_000_000_000)


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
    monkeypatch.setattr(stamp, "_MOUNTS", write_mounts(tmp_path, device, *kinds))
    keeps_times.cache_clear()
    assert keeps_times(device) is honest
    keeps_times.cache_clear()


def test_a_system_without_a_list_of_mounts_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every file is then read."""
    monkeypatch.setattr(stamp, "_MOUNTS", tmp_path / "none")
    keeps_times.cache_clear()
    assert not keeps_times(os.makedev(8, 78))
    keeps_times.cache_clear()


def test_a_file_that_was_just_changed_has_no_stamp(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second change within the same tick would keep it."""
    monkeypatch.setattr(stamp, "keeps_times", lambda device: True)
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
