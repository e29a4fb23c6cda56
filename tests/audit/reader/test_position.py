"""A position that a verification has reached, saved for the next one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from amplifier_audit.errors import AuditError
from amplifier_audit.log_directory import open_log
from amplifier_audit.state import State
from amplifier_audit.verification import LogVerification, load_position, save_position
from tests.audit.support import feed_lines, make_lines, write_log

POSITION = State("ab", 2, 4711, feed_lines(make_lines(7)).head)


def test_a_position_is_loaded_as_it_was_saved(tmp_path: Path) -> None:
    """In a file of JSON, which replaces the one before."""
    path = tmp_path / "position.json"
    path.write_text("something longer than a position" * 50)
    save_position(path, POSITION)
    assert load_position(path) == POSITION
    assert json.loads(path.read_text())["offset"] == 4711


async def test_a_saved_position_is_where_the_next_verification_begins(tmp_path: Path) -> None:
    """The records before it are not read again."""
    await write_log(tmp_path / "log", 5)
    run = LogVerification(open_log(tmp_path / "log"))
    run.run()
    assert run.end is not None
    save_position(tmp_path / "position", run.end)
    await write_log(tmp_path / "log", 5)
    since = load_position(tmp_path / "position")
    report = LogVerification(open_log(tmp_path / "log"), since=since).run()
    assert (report.verdict, report.first) == ("consistent", since.head.size)
    assert report.size > report.first


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"nonsense",
        b"null",
        b"[]",
        b"{}",
        b"\xff\xfe",
        b'{"log":"a","segment":0,"offset":0,"head":{"size":Infinity,"hash":"","frontier":[]}}',
    ],
)
def test_what_is_no_position_is_one_sentence(tmp_path: Path, content: bytes) -> None:
    """Whatever stands in the file."""
    (tmp_path / "position").write_bytes(content)
    with pytest.raises(AuditError, match="is not a saved position of a log"):
        load_position(tmp_path / "position")


def test_a_file_that_cannot_be_read_or_written_is_one_sentence(tmp_path: Path) -> None:
    """With the reason that the system gives."""
    with pytest.raises(AuditError, match=r"Cannot read .*: No such file"):
        load_position(tmp_path / "none")
    with pytest.raises(AuditError, match=r"Cannot write .*: Is a directory"):
        save_position(tmp_path, POSITION)


async def test_a_position_remembers_whose_log_it_is(tmp_path: Path) -> None:
    """The record that says so is not read again."""
    await write_log(tmp_path / "ann", 5, name="ann")
    run = LogVerification(open_log(tmp_path / "ann"))
    run.run()
    assert run.end is not None
    save_position(tmp_path / "position", run.end)
    since = load_position(tmp_path / "position")
    assert since.name == "ann"
    for name, verdict in (("ann", "consistent"), ("bob", "tampered")):
        log = open_log(tmp_path / "ann")
        assert LogVerification(log, since=since, name=name).run().verdict == verdict
