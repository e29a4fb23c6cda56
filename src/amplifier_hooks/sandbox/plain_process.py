"""Running a command as a child of this process, ending it, and how it ended.

A command leads a process group of its own, so that one signal reaches its children. A child can
leave the group (`setsid`), but it keeps the mark in its environment: it is ended with a command
that is ended, and stays after an orderly end.
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

from amplifier_core.utils import run_with_timeout
from amplifier_hooks.machine.pipes import LINGER, OnOutput, Pipes

_NOT_FOUND = 127  # what a shell says about a program that is not there
_NOT_RUN = 126  # and about one that cannot be run


@dataclass(frozen=True, slots=True)
class CommandOutcome:
    """The outcome of a command. `returncode` is negative if a signal ended it.

    `notes` are sentences about what the sandbox did to it.
    """

    returncode: int
    stdout: str
    stderr: str
    timed_out: bool
    truncated: bool
    duration_ms: int
    notes: tuple[str, ...] = ()


def make_outcome(
    pipes: Pipes, returncode: int | None, *, timed_out: bool, started: float
) -> CommandOutcome:
    """The outcome of a command that ran, with what it printed."""
    stdout = pipes.stdout
    stderr = pipes.stderr
    return CommandOutcome(
        # None: it was killed, and the kernel has not let go of it yet.
        returncode=-signal.SIGKILL if returncode is None else returncode,
        stdout=stdout.read_text(),
        stderr=stderr.read_text(),
        timed_out=timed_out,
        truncated=bool(stdout.omitted or stderr.omitted),
        duration_ms=_count_ms(started),
    )


def explain_failure(
    argv: Sequence[str], cwd: str | Path | None, failure: OSError | ValueError, started: float
) -> CommandOutcome:
    """The outcome of a command that could not start."""
    code, sentence = _explain(argv, cwd, failure)
    return CommandOutcome(code, "", sentence, False, False, _count_ms(started))


def refuse(sentence: str, started: float) -> CommandOutcome:
    """The outcome of a command that was not run, for a reason that is not its own."""
    return CommandOutcome(_NOT_RUN, "", sentence, False, False, _count_ms(started))


def _explain(
    argv: Sequence[str], cwd: str | Path | None, failure: OSError | ValueError
) -> tuple[int, str]:
    if cwd is not None and not Path(cwd).is_dir():
        return _NOT_FOUND, f"Cannot run {' '.join(argv[:1])!r}: {str(cwd)!r} is not a directory"
    if isinstance(failure, FileNotFoundError):
        reason = "no such program; install it or give its full path"
        return _NOT_FOUND, f"Cannot run {argv[0]!r}: {reason}"
    return _NOT_RUN, f"Cannot run {' '.join(argv[:1])!r}: {failure}"


def _count_ms(started: float) -> int:
    return round((time.monotonic() - started) * 1000)


GRACE = 2.0  # seconds between TERM and KILL
MARK = "AMPLIFIER_COMMAND_ID"  # in the environment of every process we start
_POLLING = 0.02
_ROUNDS = 5


def create_mark() -> str:
    """A text that no other environment contains."""
    return uuid.uuid4().hex


def add_mark(env: Mapping[str, str] | None, mark: str) -> dict[str, str]:
    """Add the mark to an environment, or to a copy of ours."""
    # The outer marks stay, so that ending an agent also ends what its own commands started.
    marks = f"{os.environ.get(MARK, '')}/{mark}"
    return {**(os.environ if env is None else env), MARK: marks}


async def terminate_group(group: int) -> None:
    """Ask a group to end, and give it a moment to do so."""
    if signal_group(group, signal.SIGTERM):
        await _wait_until_gone(group, GRACE)


def signal_group(group: int, number: int) -> bool:
    """Signal a group; returns whether there was one."""
    try:
        os.killpg(group, number)
    # macOS answers PermissionError for a group of which only zombies are left.
    except (ProcessLookupError, PermissionError):
        return False
    return True


def kill_marked(mark: str) -> None:
    """KILL what left the group but inherited the mark; without /proc it finds nothing."""
    for _ in range(_ROUNDS):  # a process may fork while we look
        found = [pid for pid in _list_processes() if _has_mark(pid, mark)]
        if not found:
            return
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


async def _wait_until_gone(group: int, patience: float) -> None:
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline and _is_running(group):  # noqa: ASYNC110 - nothing tells us
        await asyncio.sleep(_POLLING)


def _is_running(group: int) -> bool:
    """Whether a member still runs; orphans that wait for init to reap them do not count."""
    if not signal_group(group, 0):  # signal 0 only asks whether somebody is there
        return False
    processes = _list_processes()
    return not processes or any(_is_live_member(pid, group) for pid in processes)


def _is_live_member(pid: int, group: int) -> bool:
    # The program's name stands in parentheses and may hold blanks and parentheses itself.
    try:
        state, _, pgrp = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:3]
    except (OSError, ValueError):
        return False
    return int(pgrp) == group and state not in "ZX"


def _list_processes() -> list[int]:
    try:
        return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    except OSError:
        return []


def _has_mark(pid: int, mark: str) -> bool:
    try:
        return mark.encode() in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False


_REAPING = 5.0  # seconds that a killed process may take to be gone


class PlainRun:
    """One running command."""

    def __init__(
        self,
        argv: list[str],
        cwd: str | Path | None,
        env: Mapping[str, str] | None,
        limit: int,
        on_output: OnOutput | None = None,
    ) -> None:
        self._argv = argv
        self._cwd = cwd
        self._mark = create_mark()
        self._env = add_mark(env, self._mark)
        self._process: asyncio.subprocess.Process | None = None
        self._started = time.monotonic()
        self._pipes = Pipes(limit, on_output)

    async def run(self, stdin: str | bytes | None, timeout: float) -> CommandOutcome:
        """Start it, wait for it, end what is left of its group."""
        try:
            await self._start(stdin)
        except (OSError, ValueError) as failure:
            self._pipes.close()
            return explain_failure(self._argv, self._cwd, failure, self._started)
        except BaseException:
            kill_marked(self._mark)
            self._pipes.close()
            raise
        return await self._finish(timeout)

    async def _start(self, stdin: str | bytes | None) -> None:
        with contextlib.ExitStack() as theirs:
            spawning = asyncio.create_subprocess_exec(
                *self._argv,
                stdout=await self._pipes.open_output(self._pipes.stdout, theirs),
                stderr=await self._pipes.open_output(self._pipes.stderr, theirs),
                stdin=await self._pipes.open_input(stdin, theirs),
                cwd=self._cwd,
                env=self._env,
                # A new session is a new group too, and has no terminal to read from.
                start_new_session=True,
            )
            await self._spawn(asyncio.ensure_future(spawning))

    async def _spawn(self, spawning: asyncio.Future[asyncio.subprocess.Process]) -> None:
        """Finish even a cancelled start: asyncio would end the leader and leave its children."""
        try:
            self._process = await asyncio.shield(spawning)
        except asyncio.CancelledError:
            with contextlib.suppress(OSError, ValueError):  # it never ran
                self._process = await spawning
                await self._end(everything=True)
            raise

    async def _finish(self, timeout: float) -> CommandOutcome:
        assert self._process is not None
        timed_out = False
        try:
            await run_with_timeout(self._process.wait(), timeout)
            # A pipeline's last process may write after the shell has gone.
            await self._pipes.drain(LINGER)
        except TimeoutError:
            timed_out = True
            await self._end(everything=True)
        except BaseException:
            await self._end(everything=True)
            raise
        else:
            # What left the group after an orderly end (a daemon) was meant to stay.
            await self._end(everything=False)
        finally:
            self._pipes.close()
        return make_outcome(
            self._pipes, self._process.returncode, timed_out=timed_out, started=self._started
        )

    async def _end(self, *, everything: bool) -> None:
        """TERM, a moment of grace, KILL; a second cancellation skips the grace, not the KILL."""
        assert self._process is not None
        group = self._process.pid  # the leader's id, also when the leader has gone
        try:
            await terminate_group(group)
        finally:
            signal_group(group, signal.SIGKILL)
            if everything:
                kill_marked(self._mark)
            # Also when cancelled twice: a process nobody waits for outlives its event loop.
            with contextlib.suppress(TimeoutError):
                await run_with_timeout(self._process.wait(), _REAPING)
        if everything:
            await self._pipes.drain(LINGER)
