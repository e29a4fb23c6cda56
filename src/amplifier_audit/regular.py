"""Reading a file that somebody named: bounded, and never a pipe or a device."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

# Windows knows neither of the last two, and has no pipes among its files.
_READING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


class NotAFile(OSError):
    """A pipe, a device or a socket where a file was named, or a file that is too large."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(errno.EINVAL, why, str(path))


def read_regular(path: Path, most: int) -> bytes:
    """The content of an ordinary file of at most so many bytes; NotAFile for all else
    but a folder.

    A pipe would be waited for, and a device such as /dev/zero read, without end.
    """
    descriptor = os.open(path, _READING)
    try:
        facts = os.fstat(descriptor)
        if stat.S_ISDIR(facts.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(facts.st_mode):
            raise NotAFile(path, "it is not an ordinary file")
        if facts.st_size > most:
            raise NotAFile(path, f"it has {facts.st_size:,} bytes, and may have {most:,}")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(descriptor)
