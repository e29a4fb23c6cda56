"""Hands out the records of a log, without verifying them."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from amplifier_audit.errors import NotALog
from amplifier_audit.log import AuditLog
from amplifier_audit.log_directory import open_log
from amplifier_audit.reader import follow, read_records
from amplifier_audit.record import parse_record
from amplifier_audit.settings import AuditSettings
from tests.audit.support import FAST, first_segment, make_lines, write_lines, write_log


async def test_records_come_in_order_across_segments(tmp_path: Path) -> None:
    """As they were written."""
    await write_log(tmp_path, 40, AuditSettings(segment_bytes=4000))
    log = open_log(tmp_path)
    assert len(log.paths) > 2
    found = [record["seq"] for record in read_records(log)]
    assert found == list(range(len(found)))


def test_lines_that_are_no_records_are_left_out(tmp_path: Path) -> None:
    """Whoever reads a damaged log still gets the rest."""
    lines = make_lines(5)
    write_lines(tmp_path, [*lines[:2], b"damaged\n", lines[2], b"\n", lines[4][:-7]])
    found = list(read_records(open_log(tmp_path)))
    assert found == [parse_record(line) for line in lines[:3]]


async def test_following_a_log_gives_what_comes_after_and_crosses_segments(tmp_path: Path) -> None:
    """What was there before is not repeated; a new segment begins while somebody follows."""
    log = await AuditLog.open(tmp_path, AuditSettings(segment_bytes=2000))
    log.append("dispatch", {"n": "before"})
    await log.commit()
    records = follow(tmp_path, wait=lambda _: pytest.fail("everything is there"))
    for number in range(20):
        log.append("dispatch", {"n": number})
    await log.commit()
    dispatched = (r["body"]["n"] for r in records if r["type"] == "dispatch")
    assert list(itertools.islice(dispatched, 20)) == list(range(20))
    assert len(open_log(tmp_path).paths) > 2
    await log.close()


async def test_where_nothing_is_new_it_waits_as_long_as_it_was_told(tmp_path: Path) -> None:
    """And goes on with what came meanwhile."""
    await write_log(tmp_path, 1)
    pauses: list[float] = []

    def wait(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            log = AuditLog(tmp_path, FAST)
            log.append("dispatch", {"n": "new"})
            log.close_now()

    records = follow(tmp_path, poll=7.5, wait=wait)
    found = next(r["body"] for r in records if r["type"] == "dispatch")
    assert (found, pauses) == ({"n": "new"}, [7.5] * 3)


async def test_each_record_is_handed_out_once(tmp_path: Path) -> None:
    """However often the log has grown in between."""
    await write_log(tmp_path, 1)
    lines = make_lines(6)
    left = iter(lines)

    def wait(_: float) -> None:
        with first_segment(tmp_path).open("ab") as file:
            file.write(next(left) + next(left))

    records = follow(tmp_path, wait=wait)
    assert list(itertools.islice(records, 6)) == [parse_record(line) for line in lines]


async def test_a_line_that_is_just_being_written_is_waited_for(tmp_path: Path) -> None:
    """It is handed out once, when it is whole."""
    await write_log(tmp_path, 1)
    (line,) = make_lines(1)
    path = first_segment(tmp_path)
    pieces = [line[:10], line[10:30], line[30:]]

    def wait(_: float) -> None:
        with path.open("ab") as file:
            file.write(pieces.pop(0))

    records = follow(tmp_path, wait=wait)
    assert next(records) == parse_record(line)
    assert pieces == []


async def test_following_passes_over_what_is_no_record(tmp_path: Path) -> None:
    """Damage in a log does not end the reading of it."""
    await write_log(tmp_path, 1)
    (line,) = make_lines(1)
    records = follow(tmp_path, wait=lambda _: pytest.fail("everything is there"))
    with first_segment(tmp_path).open("ab") as file:
        file.write(b"damaged\n" + line)
    assert next(records) == parse_record(line)


def test_one_file_alone_cannot_be_followed(tmp_path: Path) -> None:
    """A log that grows is a directory."""
    write_lines(tmp_path, make_lines(2))
    with pytest.raises(NotALog, match="a log that grows is a directory"):
        follow(first_segment(tmp_path))
    with pytest.raises(NotALog, match="There is no log"):
        follow(tmp_path / "none")
