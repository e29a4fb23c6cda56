"""The two ends of a relay over pipes: the client that started us, and a server that we start."""

from __future__ import annotations

import asyncio
import os
import select
import shutil
import signal
import stat
import sys
from collections.abc import Mapping, Sequence
from typing import BinaryIO

from amplifier_hooks.guards.mcp.frames import LARGEST, Frame
from amplifier_hooks.machine.programs import list_binding_words
from amplifier_hooks.mcp.gateway.channel import ChannelError
from amplifier_hooks.sandbox.plain_process import signal_group

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
        start = bytes(self._buffer[:_KEPT])
        size = 0
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


_PATIENCE = 2.0
"""Seconds that a server has to end after its input ended, and again after a signal."""


class ClientPipes:
    """The client at our standard input and output, which nothing else may use."""

    def __init__(
        self, reader: LineReader, writer: LineWriter, source: asyncio.ReadTransport
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._source = source

    @classmethod
    async def open(cls, source: BinaryIO, sink: BinaryIO) -> ClientPipes:
        """Over these two files, which are pipes."""
        loop = asyncio.get_running_loop()
        stream = asyncio.StreamReader(limit=2**20)
        reading, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(stream), source
        )
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), sink
        )
        writer = asyncio.StreamWriter(transport, protocol, None, loop)
        return cls(LineReader(stream), LineWriter(writer), reading)

    async def receive(self) -> bytes | None:
        return await self._reader.read()

    async def send(self, frame: Frame) -> None:
        await self._writer.write(frame.raw)

    async def close(self) -> None:
        self._writer.close()
        self._source.close()


def open_standard_streams() -> tuple[BinaryIO, BinaryIO]:
    """Our standard input and output, for the protocol alone.

    What hooks and their programs print goes to standard error from now on, and they read nothing.
    ChannelError if there is no client at them.
    """
    for number, name in enumerate(("input", "output")):
        if not _is_line(number):
            raise ChannelError(
                f"standard {name} is no pipe, socket or terminal, so there is no client: clients "
                "start the gateway themselves, or reach it with --listen"
            )
    sys.stdout.flush()
    source = os.dup(0)
    sink = os.dup(1)
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123 - a device, opened for its number
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    return os.fdopen(source, "rb", buffering=0), os.fdopen(sink, "wb", buffering=0)


def _is_line(number: int) -> bool:
    """Whether one can wait there until something comes, as one cannot at a file or /dev/null."""
    try:
        mode = os.fstat(number).st_mode
    except OSError:
        return False  # it is closed
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(number)


class ServerProcess:
    """A server that runs as our child."""

    def __init__(self, process: asyncio.subprocess.Process, command: Sequence[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._command = command
        self._reader = LineReader(process.stdout)
        self._writer = LineWriter(process.stdin)

    @classmethod
    async def start(
        cls, command: Sequence[str], env: Mapping[str, str] | None = None, cwd: str | None = None
    ) -> ServerProcess:
        """Start the command; ChannelError if there is no such program."""
        if "\0" in "".join(command) or shutil.which(command[0]) is None:
            reason = "there is no such program, or it cannot be run"
            raise ChannelError(f"the server {command[0]!r} cannot be started: {reason}")
        try:
            process = await asyncio.create_subprocess_exec(
                *list_binding_words(),
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env=env,
                cwd=cwd,
                start_new_session=True,
                limit=2**20,
            )
        except OSError as error:
            why = error.strerror or error
            raise ChannelError(f"the server {command[0]!r} cannot be started: {why}") from error
        return cls(process, command)

    @property
    def pid(self) -> int:
        return self._process.pid

    def describe_end(self) -> str:
        """How the server ended, for those who wait for it."""
        code = self._process.returncode
        if code is None:
            return f"the server {self._command[0]!r} closed its output"
        if code < 0:
            return f"the server {self._command[0]!r} was ended by {signal.Signals(-code).name}"
        return f"the server {self._command[0]!r} ended with exit code {code}"

    async def receive(self) -> bytes | None:
        line = await self._reader.read()
        if line is None:
            await self._wait(_PATIENCE)  # so that it can be said how it ended
        return line

    async def send(self, frame: Frame) -> None:
        await self._writer.write(frame.raw)

    async def close(self) -> None:
        """Close its input, and end it and what it has started if it does not end by itself."""
        self._writer.close()
        if not await self._wait(_PATIENCE):
            signal_group(self._process.pid, signal.SIGTERM)
            await self._wait(_PATIENCE)
        signal_group(self._process.pid, signal.SIGKILL)
        await self._process.wait()

    async def _wait(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._process.wait()
        except TimeoutError:
            return False
        return True
