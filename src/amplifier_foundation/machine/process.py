"""Run a command in its own process group and leave nothing of it behind."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from amplifier_foundation.machine.pipes import Pipes
from amplifier_foundation.machine.process_group import (
    add_mark,
    create_mark,
    kill_marked,
    signal_group,
    terminate_group,
)

_REAPING = 5.0  # seconds that a killed process may take to be gone
_LINGER = 0.3  # seconds in which a finished command's last output may still arrive
_NOT_FOUND = 127  # what a shell says about a program that is not there
_NOT_RUN = 126  # and about one that cannot be run


@dataclass(frozen=True, slots=True)
class CommandOutcome:
    """The outcome of a command. `returncode` is negative if a signal ended it."""

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
    if not timeout > 0:  # also refuses NaN, which `timeout <= 0` would not
        raise ValueError(f"timeout must be positive, not {timeout!r}")
    if not command and not isinstance(command, str):
        raise ValueError("command is an empty sequence; its first item names the program")
    argv = ["bash", "-c", command] if isinstance(command, str) else list(command)
    run = _Run(argv, cwd, env, output_limit)
    try:
        await run.start(stdin)
    except (OSError, ValueError) as failure:
        run.pipes.close()
        return run.explain(failure)
    except BaseException:
        run.abandon()
        raise
    return await run.finish(timeout)


class _Run:
    """One running command."""

    def __init__(
        self,
        argv: list[str],
        cwd: str | Path | None,
        env: Mapping[str, str] | None,
        limit: int,
    ) -> None:
        self._argv = argv
        self._cwd = cwd
        self._mark = create_mark()
        self._env = add_mark(env, self._mark)
        self._process: asyncio.subprocess.Process | None = None
        self._started = time.monotonic()
        self.pipes = Pipes(limit)

    async def start(self, stdin: str | bytes | None) -> None:
        with contextlib.ExitStack() as theirs:
            spawning = asyncio.create_subprocess_exec(
                *self._argv,
                stdout=await self.pipes.open_output(self.pipes.stdout, theirs),
                stderr=await self.pipes.open_output(self.pipes.stderr, theirs),
                stdin=await self.pipes.open_input(stdin, theirs),
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

    async def finish(self, timeout: float) -> CommandOutcome:
        assert self._process is not None
        timed_out = False
        try:
            await asyncio.wait_for(self._process.wait(), timeout)
            # A pipeline's last process may write after the shell has gone.
            await self.pipes.drain(_LINGER)
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
            self.pipes.close()
        return self._make_outcome(self._process.returncode, timed_out)

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
                await asyncio.wait_for(self._process.wait(), _REAPING)
        if everything:
            await self.pipes.drain(_LINGER)

    def abandon(self) -> None:
        """Clean up when not even the start was finished."""
        kill_marked(self._mark)
        self.pipes.close()

    def explain(self, failure: OSError | ValueError) -> CommandOutcome:
        """The outcome of a command that could not start."""
        code, sentence = _explain_failure(self._argv, self._cwd, failure)
        return CommandOutcome(code, "", sentence, False, False, self._elapsed_ms)

    def _make_outcome(self, returncode: int | None, timed_out: bool) -> CommandOutcome:
        stdout, stderr = self.pipes.stdout, self.pipes.stderr
        return CommandOutcome(
            # None: it was killed, and the kernel has not let go of it yet.
            returncode=-signal.SIGKILL if returncode is None else returncode,
            stdout=stdout.read_text(),
            stderr=stderr.read_text(),
            timed_out=timed_out,
            truncated=bool(stdout.omitted or stderr.omitted),
            duration_ms=self._elapsed_ms,
        )

    @property
    def _elapsed_ms(self) -> int:
        return round((time.monotonic() - self._started) * 1000)


def _explain_failure(
    argv: list[str], cwd: str | Path | None, failure: OSError | ValueError
) -> tuple[int, str]:
    if cwd is not None and not Path(cwd).is_dir():
        return _NOT_FOUND, f"Cannot run {argv[:1]}: {str(cwd)!r} is not a directory"
    if isinstance(failure, FileNotFoundError):
        reason = "no such program; install it or give its full path"
        return _NOT_FOUND, f"Cannot run {argv[0]!r}: {reason}"
    return _NOT_RUN, f"Cannot run {argv[:1]}: {failure}"
