"""The two ends of a relay over pipes: the client that started us, and a server that we start."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import stat
import sys
from collections.abc import Mapping, Sequence
from typing import BinaryIO

from amplifier_hooks.guards.mcp.frames import Frame
from amplifier_hooks.machine.programs import list_binding_words
from amplifier_hooks.mcp.gateway.channel import ChannelError
from amplifier_hooks.mcp.gateway.lines import LineReader, LineWriter
from amplifier_hooks.sandbox.plain_process import signal_group

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


def take_standard_streams() -> tuple[BinaryIO, BinaryIO]:
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
    source, sink = os.dup(0), os.dup(1)
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
