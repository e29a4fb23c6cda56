"""Hands out the records of a log, without verifying them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from amplifier_audit.errors import NotALog
from amplifier_audit.files.directory import AuditDirectory
from amplifier_audit.files.lines import parse_or_none, read_lines
from amplifier_audit.files.log_files import LogFiles, open_log
from amplifier_audit.format.record import Record


def read_records(log: LogFiles) -> Iterator[Record]:
    """All records that can be read, in order; lines that are not records are left out."""
    for path in log.paths:
        for _, line in read_lines(path):
            if (record := parse_or_none(line)) is not None:
                yield record


def follow(
    path: str | os.PathLike[str], *, poll: float = 0.2, wait: Callable[[float], Any] = time.sleep
) -> Iterator[Record]:
    """The records that are written from this call on, over segment boundaries, for ever."""
    log = open_log(path)
    if log.directory is None:
        raise NotALog(f"{path} is one file; a log that grows is a directory")
    number = log.numbers[-1] or 0
    return _follow(log.directory, number, log.paths[-1].stat().st_size, poll, wait)


def _follow(
    directory: AuditDirectory, number: int, offset: int, poll: float, wait: Callable[[float], Any]
) -> Iterator[Record]:
    while True:
        for position, line in read_lines(directory.segment_path(number), offset):
            if not line.endswith(b"\n"):
                break
            offset = position + len(line)
            if (record := parse_or_none(line)) is not None:
                yield record
        if directory.segment_path(number + 1).exists():
            number, offset = number + 1, 0
        else:
            wait(poll)
