"""The files of a log, as a reader finds them."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_audit.errors import NotALog
from amplifier_audit.log_directory import open_log, open_readable, open_remains
from amplifier_audit.settings import AuditSettings
from amplifier_audit.state import read_state
from amplifier_audit.verification import verify
from tests.audit.support import first_segment, locate, make_lines, write_lines, write_log


async def test_a_directory_gives_its_segments_in_order_and_the_state(tmp_path: Path) -> None:
    """Everything that a verifier needs to know."""
    await write_log(tmp_path, 40, AuditSettings(segment_bytes=4000))
    log = open_log(tmp_path)
    assert log.numbers == tuple(range(len(log.paths)))
    assert len(log.paths) > 2
    assert [path.name for path in log.paths] == [f"{n:08d}.jsonl" for n in log.numbers]
    assert log.state == read_state(tmp_path / "state")
    assert log.directory is not None
    assert log.directory.path == tmp_path
    assert log.size == sum(path.stat().st_size for path in log.paths)


async def test_one_segment_alone_is_a_log_of_which_nothing_else_is_known(tmp_path: Path) -> None:
    """An auditor may be given a single file, under any name."""
    await write_log(tmp_path / "log", 2)
    first_segment(tmp_path / "log").rename(tmp_path / "evidence.txt")
    log = open_log(str(tmp_path / "evidence.txt"))
    assert (log.paths, log.numbers) == ((tmp_path / "evidence.txt",), (None,))
    assert (log.directory, log.state) == (None, None)


@pytest.mark.parametrize(
    ("name", "word"), [("none", "There is no log at"), ("empty", "has no file like 00000000")]
)
def test_where_there_is_no_log_one_sentence_says_so(tmp_path: Path, name: str, word: str) -> None:
    """Nothing at all, or a directory of something else."""
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotALog, match=word):
        open_log(tmp_path / name)


async def test_a_log_whose_segments_are_all_gone_is_not_called_empty(tmp_path: Path) -> None:
    """Its state still knows how many records there were."""
    await write_log(tmp_path, 5)
    first_segment(tmp_path).unlink()
    with pytest.raises(NotALog, match="its writer acknowledged 8 records"):
        open_log(tmp_path)


@pytest.mark.parametrize(
    ("content", "word"),
    [(b"", "is empty"), (b"hello\n", "is not an audit log"), (b"{}", "not a record")],
)
def test_a_file_that_never_was_a_log_is_refused(tmp_path: Path, content: bytes, word: str) -> None:
    """It is not called tampered with."""
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(NotALog, match=word):
        open_readable(path)
    with pytest.raises(NotALog, match=word):
        verify(path)


def test_a_log_that_was_cut_in_its_first_bytes_still_is_one(tmp_path: Path) -> None:
    """A writer may have been killed at its first write."""
    (tmp_path / "file").write_bytes(make_lines(1)[0][:3])
    assert open_readable(tmp_path / "file").size == 3


async def test_damage_in_the_first_bytes_is_tampering_where_a_state_proves_the_log(
    tmp_path: Path,
) -> None:
    """Whoever edits the first byte does not turn the log into something else."""
    await write_log(tmp_path, 5)
    content = first_segment(tmp_path).read_bytes()
    for damaged in (b"x" + content[1:], b"", b"\n" + content):
        first_segment(tmp_path).write_bytes(damaged)
        report = verify(tmp_path)
        assert report.verdict == "tampered"
        assert locate(report)[1] == 0
        assert open_readable(tmp_path).size == len(damaged)


def test_a_segment_that_vanishes_does_not_hide_the_size_of_the_others(tmp_path: Path) -> None:
    """Retention may remove one while somebody reads."""
    write_lines(tmp_path, make_lines(2))
    (tmp_path / "00000001.jsonl").write_bytes(b"12345")
    log = open_log(tmp_path)
    first_segment(tmp_path).unlink()
    assert log.size == 5


async def test_remains_of_a_log_can_be_opened_without_a_segment(tmp_path: Path) -> None:
    """To say that they are gone; a folder of something else still is none."""
    await write_log(tmp_path / "log", 5)
    first_segment(tmp_path / "log").unlink()
    remains = open_remains(tmp_path / "log")
    assert (remains.paths, remains.name, remains.state is None) == ((), "log", False)
    (tmp_path / "other").mkdir()
    with pytest.raises(NotALog, match="holds no audit log"):
        open_remains(tmp_path / "other")
