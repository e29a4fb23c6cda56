"""The pipes between us and a command.

They are ours rather than asyncio's, because a background child that keeps one open would otherwise
hold up the wait for the command itself.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
from collections.abc import Callable
from functools import partial

from amplifier_core.utils import run_with_timeout

LINGER = 0.3  # seconds in which the last output of a finished command may still arrive
OnOutput = Callable[[str, str], None]
"""Told of the output of a command as it comes: "stdout" or "stderr", and a piece of text."""
_SLACK = 65_536  # bytes that may pile up before the end of a stream is cut to its size again


class OutputCapture(asyncio.Protocol):
    """Keeps the beginning and the end of a stream and counts the rest."""

    def __init__(self, limit: int, tell: Callable[[str], None] | None = None) -> None:
        self._tell = tell
        # A piece may end inside a letter.
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._tail_size = max(limit, 0) // 2
        self._head_size = max(limit, 0) - self._tail_size
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0
        self.closed = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        """Part of asyncio.Protocol."""
        self._total += len(data)
        room = max(self._head_size - len(self._head), 0)
        self._head += data[:room]
        self._tail += data[room:]
        # Cutting with every chunk would move the whole tail each time.
        if len(self._tail) > 2 * self._tail_size + _SLACK:
            self._cut_tail()
        if self._tell is not None and (text := self._decoder.decode(data)):
            self._tell(text)

    def connection_lost(self, exc: Exception | None) -> None:
        """Part of asyncio.Protocol."""
        self.closed.set()

    @property
    def omitted(self) -> int:
        """The number of bytes that were not kept."""
        return max(self._total - self._head_size - self._tail_size, 0)

    def read_text(self) -> str:
        """What was kept, with a line in place of the rest."""
        self._cut_tail()
        if not self.omitted:
            # Together: a letter may lie across the border between the two.
            return (self._head + self._tail).decode(errors="replace")
        head, tail = (part.decode(errors="replace") for part in (self._head, self._tail))
        return f"{head}\n… {self.omitted} bytes left out …\n{tail}"

    def _cut_tail(self) -> None:
        del self._tail[: max(len(self._tail) - self._tail_size, 0)]


class _Input(asyncio.Protocol):
    """Our end of the command's standard input."""

    closed = False

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = True


class Pipes:
    """Our ends of a command's three streams.

    Each `open_…` returns the command's end, which the stack closes as soon as the command has it:
    while we held it too, the stream would never end.
    """

    def __init__(self, limit: int, on_output: OnOutput | None = None) -> None:
        self.stdout = OutputCapture(limit, on_output and partial(on_output, "stdout"))
        self.stderr = OutputCapture(limit, on_output and partial(on_output, "stderr"))
        self._input = _Input()
        self._readers: list[asyncio.BaseTransport] = []
        self._writer: asyncio.WriteTransport | None = None

    async def open_output(self, capture: OutputCapture, stack: contextlib.ExitStack) -> int:
        """Open a pipe from the command to us."""
        read, write = os.pipe()
        stack.callback(os.close, write)
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(lambda: capture, os.fdopen(read, "rb", 0))
        self._readers.append(transport)
        return write

    async def open_input(self, stdin: str | bytes | None, stack: contextlib.ExitStack) -> int:
        """Open a pipe from us to the command, with everything that it is to read."""
        if stdin is None:
            return asyncio.subprocess.DEVNULL
        read, write = os.pipe()
        stack.callback(os.close, read)
        loop = asyncio.get_running_loop()
        pipe = os.fdopen(write, "wb", 0)
        self._writer, _ = await loop.connect_write_pipe(lambda: self._input, pipe)
        data = stdin.encode(errors="surrogateescape") if isinstance(stdin, str) else stdin
        self._writer.write(data)
        self._writer.write_eof()
        return read

    async def drain(self, seconds: float) -> None:
        """Wait until both outputs have ended, but not for long."""
        closed = asyncio.gather(self.stdout.closed.wait(), self.stderr.closed.wait())
        with contextlib.suppress(TimeoutError):
            await run_with_timeout(closed, seconds)

    def close(self) -> None:
        """Close our ends, even if not everything was read."""
        for reader in self._readers:
            reader.close()
        # A command may end without reading its input: then the rest is thrown away.
        if self._writer is not None and not self._input.closed:
            self._writer.abort()
