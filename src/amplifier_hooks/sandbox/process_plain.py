"""Running a command as a child of this process.

What left its group is ended with a command that is ended, and stays after an orderly end.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections.abc import Mapping
from pathlib import Path

from amplifier_core.utils import run_with_timeout
from amplifier_hooks.machine.pipes import LINGER, OnOutput, Pipes
from amplifier_hooks.sandbox.process_group import (
    add_mark,
    create_mark,
    kill_marked,
    signal_group,
    terminate_group,
)
from amplifier_hooks.sandbox.process_outcome import (
    CommandOutcome,
    explain_failure,
    make_outcome,
)

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
