"""Run a command in its own process group and leave nothing of it behind.

The pipes are ours rather than asyncio's, because a background child that keeps one open would
otherwise hold up the wait for the command itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

GRACE = 2.0  # seconds between TERM and KILL
REAPING = 5.0  # seconds that a killed process may take to be gone
LINGER = 0.3  # seconds in which a finished command's last output may still arrive
MARK = "AMPLIFIER_COMMAND_ID"  # in the environment of every process we start
_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class CommandOutcome:
    """What became of a command. `returncode` is negative for the signal that ended it."""

    returncode: int
    stdout: str
    stderr: str
    timed_out: bool
    truncated: bool
    duration_ms: int


async def run_command(
    command: str | Sequence[str],
    *,
    cwd: str | Path | None = None,
    timeout: float = 60,
    stdin: str | bytes | None = None,
    env: Mapping[str, str] | None = None,
    output_limit: int = 100_000,
) -> CommandOutcome:
    """Run a command: a string in bash, a sequence directly.

    `env` replaces the whole environment, as in `subprocess`. Without `stdin` the command reads an
    empty one. Of each stream at most `output_limit` bytes are kept, its beginning and its end.
    A command that cannot start is an outcome with code 127 (not found) or 126 and the reason in
    `stderr`. When the command ends, the rest of its process group ends with it.
    """
    if not timeout > 0:
        raise ValueError(f"timeout must be positive, not {timeout!r}")
    if not command and not isinstance(command, str):
        raise ValueError("command is an empty sequence; its first item names the program")
    argv = ["bash", "-c", command] if isinstance(command, str) else list(command)
    run = _Run(argv, cwd, env, output_limit)
    try:
        await run.start(stdin)
    except (OSError, ValueError) as failure:
        run.close()
        return run.refused(failure)
    except BaseException:
        run.abandon()
        raise
    return await run.finish(timeout)


class _Tail(asyncio.Protocol):
    """Keeps the beginning and the end of a stream and counts the rest."""

    def __init__(self, limit: int) -> None:
        self._head_size = max(limit, 0) - max(limit, 0) // 2
        self._tail_size = max(limit, 0) // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0
        self.closed = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self._total += len(data)
        room = self._head_size - len(self._head)
        self._head += data[: max(room, 0)]
        self._tail += data[max(room, 0) :]
        if len(self._tail) > 2 * self._tail_size + 65_536:
            self._cut()

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed.set()

    def _cut(self) -> None:
        del self._tail[: max(len(self._tail) - self._tail_size, 0)]

    @property
    def omitted(self) -> int:
        return max(self._total - self._head_size - self._tail_size, 0)

    def text(self) -> str:
        self._cut()
        if not self.omitted:
            return (self._head + self._tail).decode(errors="replace")
        head, tail = (part.decode(errors="replace") for part in (self._head, self._tail))
        return f"{head}\n… {self.omitted} bytes left out …\n{tail}"


class _Source(asyncio.Protocol):
    """Our end of the command's standard input."""

    closed = False

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = True


class _Run:
    """One command under way."""

    def __init__(
        self,
        argv: list[str],
        cwd: str | Path | None,
        env: Mapping[str, str] | None,
        limit: int,
    ) -> None:
        self._argv = argv
        self._cwd = cwd
        self._mark = uuid.uuid4().hex
        # The outer marks stay, so that ending an agent also ends what its own commands started.
        marks = f"{os.environ.get(MARK, '')}/{self._mark}"
        self._env = {**(os.environ if env is None else env), MARK: marks}
        self._stdout = _Tail(limit)
        self._stderr = _Tail(limit)
        self._source = _Source()
        self._readers: list[asyncio.BaseTransport] = []
        self._writer: asyncio.WriteTransport | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._started = time.monotonic()

    async def start(self, stdin: str | bytes | None) -> None:
        with contextlib.ExitStack() as ours:
            out = await self._reader(self._stdout, ours)
            err = await self._reader(self._stderr, ours)
            source = asyncio.subprocess.DEVNULL
            if stdin is not None:
                source = await self._feed(stdin, ours)
            spawning = asyncio.create_subprocess_exec(
                *self._argv,
                stdin=source,
                stdout=out,
                stderr=err,
                cwd=self._cwd,
                env=self._env,
                start_new_session=True,
            )
            await self._spawn(asyncio.ensure_future(spawning))

    async def _spawn(self, spawning: asyncio.Future[asyncio.subprocess.Process]) -> None:
        """A cancelled start is finished first: asyncio would end the leader and leave children."""
        try:
            self._process = await asyncio.shield(spawning)
        except asyncio.CancelledError:
            with contextlib.suppress(OSError, ValueError):  # it never ran
                self._process = await spawning
                await self._end(everything=True)
            raise

    async def _reader(self, protocol: _Tail, ours: contextlib.ExitStack) -> int:
        """Connect our end of a pipe; return the child's end, which we close after the start."""
        read, write = os.pipe()
        ours.callback(os.close, write)
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(lambda: protocol, os.fdopen(read, "rb", 0))
        self._readers.append(transport)
        return write

    async def _feed(self, stdin: str | bytes, ours: contextlib.ExitStack) -> int:
        read, write = os.pipe()
        ours.callback(os.close, read)
        loop = asyncio.get_running_loop()
        pipe = os.fdopen(write, "wb", 0)
        self._writer, _ = await loop.connect_write_pipe(lambda: self._source, pipe)
        data = stdin.encode(errors="surrogateescape") if isinstance(stdin, str) else stdin
        self._writer.write(data)
        self._writer.write_eof()
        return read

    async def finish(self, timeout: float) -> CommandOutcome:
        assert self._process is not None
        timed_out = False
        try:
            await asyncio.wait_for(self._process.wait(), timeout)
            await self._linger()
        except TimeoutError:
            timed_out = True
            await self._end(everything=True)
        except BaseException:
            await self._end(everything=True)
            raise
        else:
            await self._end(everything=False)
        finally:
            self.close()
        return self._outcome(self._process.returncode, timed_out)

    async def _linger(self) -> None:
        """A pipeline's last process may write after the shell has gone."""
        closed = asyncio.gather(self._stdout.closed.wait(), self._stderr.closed.wait())
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(closed, LINGER)

    async def _end(self, *, everything: bool) -> None:
        """TERM, a moment of grace, KILL; a second cancellation skips the grace, not the KILL."""
        assert self._process is not None
        group = self._process.pid
        try:
            if _signal_group(group, signal.SIGTERM):
                await _gone(group, GRACE)
        finally:
            _signal_group(group, signal.SIGKILL)
            if everything:
                _kill_marked(self._mark)
            # Also when cancelled twice: a process nobody waits for outlives its event loop.
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), REAPING)
        if everything:
            await self._linger()

    def abandon(self) -> None:
        """When not even the start came to its end."""
        _kill_marked(self._mark)
        self.close()

    def close(self) -> None:
        for reader in self._readers:
            reader.close()
        if self._writer is not None and not self._source.closed:
            self._writer.abort()

    def _outcome(self, returncode: int | None, timed_out: bool) -> CommandOutcome:
        return CommandOutcome(
            returncode=-signal.SIGKILL if returncode is None else returncode,
            stdout=self._stdout.text(),
            stderr=self._stderr.text(),
            timed_out=timed_out,
            truncated=bool(self._stdout.omitted or self._stderr.omitted),
            duration_ms=self._elapsed(),
        )

    def refused(self, failure: OSError | ValueError) -> CommandOutcome:
        code, sentence = _why_not(self._argv, self._cwd, failure)
        return CommandOutcome(code, "", sentence, False, False, self._elapsed())

    def _elapsed(self) -> int:
        return round((time.monotonic() - self._started) * 1000)


def _why_not(
    argv: list[str], cwd: str | Path | None, failure: OSError | ValueError
) -> tuple[int, str]:
    if cwd is not None and not Path(cwd).is_dir():
        return 127, f"Cannot run {argv[:1]}: {str(cwd)!r} is not a directory"
    if isinstance(failure, FileNotFoundError):
        return 127, f"Cannot run {argv[0]!r}: no such program; install it or give its full path"
    return 126, f"Cannot run {argv[:1]}: {failure}"


def _signal_group(group: int, number: int) -> bool:
    """Whether there was anybody to signal."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


async def _gone(group: int, patience: float) -> None:
    """Wait until the group is empty, or patience ends."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline and _running(group):  # noqa: ASYNC110 - nothing tells us
        await asyncio.sleep(0.02)


def _running(group: int) -> bool:
    """Whether a member still runs; orphans that wait for init to reap them do not count."""
    if not _signal_group(group, 0):
        return False
    processes = _processes()
    return not processes or any(_is_live_member(pid, group) for pid in processes)


def _is_live_member(pid: int, group: int) -> bool:
    try:
        state, _, pgrp = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:3]
    except (OSError, ValueError):
        return False
    return int(pgrp) == group and state not in "ZX"


def _kill_marked(mark: str) -> None:
    """KILL what left the group (setsid) but inherited the mark; without /proc it finds nothing."""
    for _ in range(_ROUNDS):  # a process may fork while we look
        found = [pid for pid in _processes() if _has_mark(pid, mark)]
        if not found:
            return
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def _processes() -> list[int]:
    try:
        return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    except OSError:
        return []


def _has_mark(pid: int, mark: str) -> bool:
    try:
        return mark.encode() in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False
