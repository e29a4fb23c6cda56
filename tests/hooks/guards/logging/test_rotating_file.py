"""A file that never grows past its limit."""

from __future__ import annotations

import stat
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amplifier_hooks.guards.logging.rotating_file import RotatingFile


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_without_backups_the_file_begins_anew(tmp_path: Path) -> None:
    """`backups: 0` keeps one file."""
    file = RotatingFile(tmp_path / "log", 1000, 0)
    for _ in range(5):
        file.append([b"x" * 599 + b"\n"])
    assert names(tmp_path) == ["log"]
    assert (tmp_path / "log").stat().st_size == 600


def test_the_newest_backup_is_the_first_and_the_oldest_goes(tmp_path: Path) -> None:
    file = RotatingFile(tmp_path / "log", 10, 2)
    for number in range(5):
        file.append([b"line %d\n" % number])
    assert names(tmp_path) == ["log", "log.1", "log.2"]
    assert (tmp_path / "log").read_bytes() == b"line 4\n"
    assert (tmp_path / "log.1").read_bytes() == b"line 3\n"
    assert (tmp_path / "log.2").read_bytes() == b"line 2\n"


def test_a_line_longer_than_the_limit_is_kept_whole(tmp_path: Path) -> None:
    """Half a line is not JSON."""
    RotatingFile(tmp_path / "log", 10, 1).append([b"x" * 50 + b"\n", b"y\n"])
    assert (tmp_path / "log.1").read_bytes() == b"x" * 50 + b"\n"
    assert (tmp_path / "log").read_bytes() == b"y\n"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(st.lists(st.lists(st.integers(0, 40), max_size=4), max_size=8))
def test_nothing_is_lost_or_cut_while_backups_last(tmp_path_factory, batches) -> None:
    folder = tmp_path_factory.mktemp("logs")
    file = RotatingFile(folder / "log", 30, 100)
    lines = []
    for batch in batches:
        written = [b"x" * size + b"\n" for size in batch]
        file.append(written)
        lines += written
    found = sorted(folder.iterdir(), key=lambda path: -int(path.suffix[1:] or 0))
    assert b"".join(path.read_bytes() for path in found) == b"".join(lines)
    assert all(len(path.read_bytes()) <= max(30, 41) for path in found)


def test_an_empty_batch_makes_no_file(tmp_path: Path) -> None:
    RotatingFile(tmp_path / "log", 10, 1).append([])
    assert names(tmp_path) == []


def test_file_and_folder_are_for_their_owner(tmp_path: Path) -> None:
    """Events hold prompts and the contents of files."""
    RotatingFile(tmp_path / "logs" / "log", 10, 1).append([b"x\n"])
    assert stat.S_IMODE((tmp_path / "logs").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "logs" / "log").stat().st_mode) == 0o600


def test_two_sessions_that_share_a_file_lose_no_line(tmp_path: Path) -> None:
    files = [RotatingFile(tmp_path / "log", 200, 1000) for _ in range(4)]

    def write(file: RotatingFile) -> None:
        for _ in range(50):
            file.append([b"0123456789\n"])

    threads = [threading.Thread(target=write, args=(file,)) for file in files]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) == 4 * 50 * 11


def test_a_disk_that_says_no_is_an_os_error(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file stands where the folder should be")
    with pytest.raises(OSError):
        RotatingFile(tmp_path / "logs" / "log", 10, 1).append([b"x\n"])
