"""Reads the lines of a segment with their positions, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from itertools import takewhile
from pathlib import Path
from typing import BinaryIO

from amplifier_audit.errors import MalformedRecord, NotALog
from amplifier_audit.format.chain import Head
from amplifier_audit.format.limits import RECORD_LIMIT
from amplifier_audit.format.own_records import LogOpened
from amplifier_audit.format.record import Record, parse_record

# So much is read and split at a time: large enough to be quick, small enough for any machine.
CHUNK = 128 * 1024


def read_lines(path: Path, offset: int = 0) -> Iterator[tuple[int, bytes]]:
    """Each line with the byte where it starts; a line beyond the limit comes as one piece of it."""
    with _open_at(path, offset) as file:
        readline = file.readline
        while line := readline(RECORD_LIMIT + 1):
            yield offset, line
            offset += len(line)
            if len(line) > RECORD_LIMIT:
                return


def read_batches(path: Path, offset: int = 0) -> Iterator[list[bytes]]:
    """The whole lines, many at a time, which is quicker.

    It ends before a line that has no LF or is beyond the limit: `read_lines` hands that one out.
    """
    rest = b""
    with _open_at(path, offset) as file:
        while len(rest) <= RECORD_LIMIT and (chunk := file.read(CHUNK)):
            lines = BytesIO(rest + chunk).readlines()
            rest = b"" if lines[-1].endswith(b"\n") else lines.pop()
            if max(map(len, lines), default=0) > RECORD_LIMIT:
                yield list(takewhile(lambda line: len(line) <= RECORD_LIMIT, lines))
                return
            yield lines


@contextmanager
def _open_at(path: Path, offset: int) -> Iterator[BinaryIO]:
    try:
        # A pipe would be waited for, and a device read, without end.
        if path.exists() and not path.is_file():
            raise NotALog(f"Cannot read {path}: it is not a file")
        with path.open("rb") as file:
            file.seek(offset)
            yield file
    except OSError as error:
        raise NotALog(f"Cannot read {path}: {error.strerror}") from error


def is_torn(line: bytes) -> bool:
    """Whether the file ends within this line."""
    return len(line) <= RECORD_LIMIT and not line.endswith(b"\n")


def read_first_record(path: Path) -> Record | None:
    """The first record of a segment, or None if its first line is not one."""
    for _, line in read_lines(path):
        return parse_or_none(line)
    return None


def read_last_record_before(path: Path, offset: int) -> Record | None:
    """The record whose line ends exactly at `offset`, or None."""
    start = max(0, offset - RECORD_LIMIT - 1)
    try:
        with path.open("rb") as file:
            file.seek(start)
            content = file.read(offset - start)
    except OSError:
        return None
    if len(content) < offset - start or not content.endswith(b"\n"):
        return None
    return parse_or_none(content[content.rfind(b"\n", 0, -1) + 1 :])


def parse_or_none(line: bytes) -> Record | None:
    """The record of a line, or None if the line is not one."""
    try:
        return parse_record(line)
    except MalformedRecord:
        return None


def read_head_before(record: Record) -> Head:
    """The head that the first record of a segment says it goes on from."""
    previous = LogOpened.parse(record["body"]).previous or {}
    frontier = previous.get("frontier")
    return Head.from_dict({"size": record["seq"], "hash": record["prev"], "frontier": frontier})
