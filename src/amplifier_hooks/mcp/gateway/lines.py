"""Lines of bytes over a pipe, however large, in the pieces in which they come."""

from __future__ import annotations

import asyncio
import os
import select

from amplifier_hooks.guards.mcp.frames import LARGEST
from amplifier_hooks.mcp.gateway.channel import ChannelError

_PIECE = 256 * 1024
_KEPT = 4_096
"""Bytes of a line that is too long, by which its reader may find out what it was about."""


def write_if_room(number: int, line: bytes) -> bool:
    """Write a line to a file by its number, and wait for nobody.

    False if a pipe is full, or nobody reads there any more.
    """
    try:
        _, room, _ = select.select([], [number], [], 0)
        return bool(room) and os.write(number, line[: select.PIPE_BUF - 1] + b"\n") > 0
    except OSError:
        return False


class LineTooLong(ChannelError):
    """A line that nobody would read to its end; what follows it can be read."""

    def __init__(self, size: int, start: bytes) -> None:
        super().__init__(f"a message has {size:,} bytes; {LARGEST:,} are the most")
        self.start = start


class LineReader:
    """Takes lines from a stream."""

    def __init__(self, stream: asyncio.StreamReader, largest: int = LARGEST) -> None:
        self._stream = stream
        self._largest = largest
        self._buffer = bytearray()
        self._searched = 0
        self._at_end = False

    async def read(self) -> bytes | None:
        """The next line that is not blank, without its end; None at the end of the stream.

        A last line without an end is no line: its sender died while writing it.
        """
        while True:
            line = await self._read_line()
            if line is None or line.strip():
                return None if line is None else line.rstrip(b"\r")

    async def _read_line(self) -> bytes | None:
        while (at := self._buffer.find(b"\n", self._searched)) < 0:
            self._searched = len(self._buffer)
            if self._searched > self._largest:
                raise await self._skip_line()
            if not await self._fill():
                return None
        line = bytes(self._buffer[:at])
        del self._buffer[: at + 1]
        self._searched = 0
        if len(line) > self._largest:
            raise LineTooLong(len(line), line[:_KEPT])
        return line

    async def _skip_line(self) -> LineTooLong:
        start, size = bytes(self._buffer[:_KEPT]), 0
        while (at := self._buffer.find(b"\n")) < 0:
            size += len(self._buffer)
            self._buffer.clear()
            if not await self._fill():
                at = 0
                break
        size += at
        del self._buffer[: at + 1]
        self._searched = 0
        return LineTooLong(size, start)

    async def _fill(self) -> bool:
        piece = b"" if self._at_end else await self._stream.read(_PIECE)
        self._buffer += piece
        self._at_end = not piece
        return bool(piece)


class LineWriter:
    """Writes lines to a pipe, in the order of the calls, no faster than they are read."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def write(self, line: bytes) -> None:
        """Write a line; ChannelError if nobody reads there any more."""
        if self._writer.is_closing():
            raise ChannelError("nobody reads there any more")
        try:
            self._writer.write(line + b"\n")  # whole, so that lines never mix
            await self._writer.drain()
        except (OSError, RuntimeError) as error:
            raise ChannelError(f"nobody reads there any more: {error}") from error

    def close(self) -> None:
        """Write no more."""
        self._writer.close()
