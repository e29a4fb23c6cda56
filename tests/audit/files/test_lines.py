"""The lines of a segment, with their positions."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_audit.errors import NotALog
from amplifier_audit.log_directory import (
    CHUNK,
    is_torn,
    parse_or_none,
    read_batches,
    read_first_record,
    read_head_before,
    read_last_record_before,
    read_lines,
)
from amplifier_audit.record import Record, parse_record
from amplifier_audit.strict_json import RECORD_LIMIT
from amplifier_audit.verification import verify
from tests.audit.support import extend_log, feed_lines, make_lines


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lines") / "file"


@given(content=st.lists(st.binary(max_size=9), max_size=9))
def test_lines_come_with_the_byte_where_they_start(file: Path, content: list[bytes]) -> None:
    """Together they are the file, from any of these bytes on."""
    file.write_bytes(b"\n".join(content))
    found = list(read_lines(file))
    assert b"".join(line for _, line in found) == file.read_bytes()
    for offset, line in found:
        assert file.read_bytes()[offset:].startswith(line)
        assert next(read_lines(file, offset)) == (offset, line)


def test_a_line_beyond_the_limit_comes_as_one_piece_and_ends_the_reading(tmp_path: Path) -> None:
    """A file without line breaks does not fill the memory."""
    path = tmp_path / "long"
    path.write_bytes(b"short\n" + b"x" * 50_000_000)
    tracemalloc.start()
    found = [(offset, len(line)) for offset, line in read_lines(path)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == [(0, 6), (6, RECORD_LIMIT + 1)]
    assert peak < 1_000_000


@given(content=st.lists(st.binary(max_size=9), max_size=9))
def test_batches_are_the_whole_lines(file: Path, content: list[bytes]) -> None:
    """All that end with a line break, whatever other breaks are in them."""
    file.write_bytes(b"\n".join(content))
    found = [line for lines in read_batches(file) for line in lines]
    assert found == [line for _, line in read_lines(file) if line.endswith(b"\n")]


def test_batches_go_on_over_chunks(tmp_path: Path) -> None:
    """From any byte where a line starts."""
    path = tmp_path / "many"
    lines = [b"%d %b\n" % (number, b"x" * (number % 1000)) for number in range(3000)]
    path.write_bytes(b"".join(lines))
    assert [line for batch in read_batches(path) for line in batch] == lines
    start = sum(map(len, lines[:1234]))
    assert [line for batch in read_batches(path, start) for line in batch] == lines[1234:]
    assert len(list(read_batches(path))) > 3


@pytest.mark.parametrize("long", [RECORD_LIMIT, 3 * CHUNK, 50_000_000])
@pytest.mark.parametrize("before", [0, 2])
def test_batches_end_before_a_line_beyond_the_limit(tmp_path: Path, long: int, before: int) -> None:
    """A file without line breaks does not fill the memory."""
    path = tmp_path / "long"
    path.write_bytes(b"short\n" * before + b"x" * long + b"\nnext\n")
    tracemalloc.start()
    found = [line for lines in read_batches(path) for line in lines]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == [b"short\n"] * before
    assert peak < 1_000_000


def test_batches_hold_lines_of_just_the_limit(tmp_path: Path) -> None:
    """The limit itself is allowed."""
    path = tmp_path / "long"
    path.write_bytes(b"x" * (RECORD_LIMIT - 1) + b"\nnext\n")
    assert [len(line) for batch in read_batches(path) for line in batch] == [RECORD_LIMIT, 5]


def test_a_line_of_just_the_limit_is_read_whole(tmp_path: Path) -> None:
    """The limit itself is allowed."""
    path = tmp_path / "long"
    path.write_bytes(b"x" * (RECORD_LIMIT - 1) + b"\nnext\n")
    assert [len(line) for _, line in read_lines(path)] == [RECORD_LIMIT, 5]


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    """A directory under the name of a segment, or nothing."""
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(NotALog, match="Cannot read"):
            list(read_lines(path))


def test_a_segment_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    """Also when a whole log is verified."""
    (tmp_path / "00000000.jsonl").mkdir()
    with pytest.raises(NotALog, match="Cannot read"):
        verify(tmp_path)


@pytest.mark.parametrize(
    ("line", "torn"),
    [(b"x", True), (b"x\n", False), (b"", True), (b"x" * (RECORD_LIMIT + 1), False)],
)
def test_a_line_is_torn_if_the_file_ends_within_it(line: bytes, torn: bool) -> None:
    """A piece of a line that is too long says nothing about the end of the file."""
    assert is_torn(line) is torn


def test_the_first_record_is_that_of_the_first_line_or_none(tmp_path: Path) -> None:
    """Later lines are not looked at."""
    path, lines = tmp_path / "one", make_lines(3)
    path.write_bytes(b"".join(lines))
    assert read_first_record(path) == parse_record(lines[0])
    path.write_bytes(b"damaged\n" + b"".join(lines))
    assert read_first_record(path) is None
    path.write_bytes(b"")
    assert read_first_record(path) is None


def test_the_last_record_before_a_byte_must_end_exactly_there(tmp_path: Path) -> None:
    """Any other byte, or one beyond the end, has no record before it."""
    path, lines = tmp_path / "one", make_lines(3)
    path.write_bytes(b"".join(lines))
    end = len(lines[0]) + len(lines[1])
    assert read_last_record_before(path, end) == parse_record(lines[1])
    assert read_last_record_before(path, len(lines[0])) == parse_record(lines[0])
    for offset in (0, 1, end - 1, end + 1, path.stat().st_size + 1):
        assert read_last_record_before(path, offset) is None
    assert read_last_record_before(tmp_path / "none", 5) is None


def test_the_last_record_is_found_without_reading_the_whole_file(tmp_path: Path) -> None:
    """Only as much as one record may have."""
    path, (line,) = tmp_path / "one", make_lines(1)
    path.write_bytes(b"x\n" * 100_000 + line)
    assert read_last_record_before(path, path.stat().st_size) == parse_record(line)


def test_what_is_no_record_is_none() -> None:
    """For readers who go on with what they can read."""
    (line,) = make_lines(1)
    assert parse_or_none(line) == parse_record(line)
    assert parse_or_none(line[:-1]) is None
    assert parse_or_none(b"{}\n") is None


def continue_log(lines: list[bytes]) -> Record:
    """The record that begins another segment after these lines."""
    previous = feed_lines(lines).head.to_dict()
    return parse_record(extend_log(lines, "log_opened", {"previous": previous})[-1])


def test_a_segment_says_from_which_head_it_goes_on() -> None:
    """So that it can be verified when those before it are gone."""
    lines = make_lines(7)
    assert read_head_before(continue_log(lines)) == feed_lines(lines).head


@pytest.mark.parametrize(
    "change",
    [
        {"body": {}},
        {"body": {"previous": None}},
        {"body": {"previous": [1]}},
        {"body": {"previous": {"frontier": "abc"}}},
        {"body": {"previous": {"frontier": []}}},
        {"prev": "é" * 64},
        {"prev": ""},
        {"seq": 2},
    ],
)
def test_a_forged_head_is_refused(change: Record) -> None:
    """Whatever stands in the record, it is one ValueError."""
    with pytest.raises(ValueError, match="Not the head of a log"):
        read_head_before({**continue_log(make_lines(7)), **change})


def test_a_pipe_in_the_place_of_a_segment_is_refused(tmp_path: Path) -> None:
    """Nobody may ever write into it, and reading would wait."""
    path = tmp_path / "00000000.jsonl"
    os.mkfifo(path)
    with pytest.raises(NotALog, match="it is not a file"):
        next(read_lines(path))
