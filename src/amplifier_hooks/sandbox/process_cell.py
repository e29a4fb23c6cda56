"""Running a command in a cell of the launcher: no descendant of it outlives the call."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from amplifier_core.utils import run_with_timeout
from amplifier_hooks.machine.pipes import LINGER, OnOutput, Pipes
from amplifier_hooks.sandbox import process_group
from amplifier_hooks.sandbox.cell import Cell, CellLost
from amplifier_hooks.sandbox.client import get_launcher
from amplifier_hooks.sandbox.enclosing import enclose
from amplifier_hooks.sandbox.process_outcome import (
    CommandOutcome,
    explain_failure,
    make_outcome,
    refuse,
)
from amplifier_hooks.sandbox.seal.copy import SealError
from amplifier_hooks.sandbox.sealing import keep_sealed
from amplifier_hooks.sandbox.wall import Wall

_REAPING = 5.0  # seconds that a killed process may take to be gone


class CellRun:
    """One running command."""

    def __init__(
        self,
        argv: list[str],
        cwd: str | Path | None,
        env: Mapping[str, str] | None,
        limit: int,
        wall: Wall | None,
        on_output: OnOutput | None = None,
    ) -> None:
        self._argv = argv
        self._cwd = cwd
        self._env = process_group.add_mark(env, process_group.create_mark())
        self._wall = wall
        self._launcher = get_launcher(walled=wall is not None)
        self._started = time.monotonic()
        self._pipes = Pipes(limit, on_output)

    async def run(self, stdin: str | bytes | None, timeout: float) -> CommandOutcome:
        """Start it, wait for it, end everything that it left behind, put back what is sealed."""
        if self._wall is None:
            return await self._run(stdin, timeout)
        try:
            with keep_sealed(self._wall) as notes:
                outcome = await self._run(stdin, timeout)
        except SealError as failure:
            return refuse(str(failure.strerror), self._started)
        return replace(outcome, notes=tuple(notes)) if notes else outcome

    async def _run(self, stdin: str | bytes | None, timeout: float) -> CommandOutcome:
        try:
            cell = await self._start(stdin)
            try:
                return await self._finish(cell, timeout)
            finally:
                self._launcher.give_back(cell)
        except (OSError, ValueError) as failure:
            return explain_failure(self._argv, self._cwd, failure, self._started)
        except CellLost:
            sentence = "The process that supervised the command was ended, and the command with it"
            return refuse(sentence, self._started)
        finally:
            self._pipes.close()

    async def _start(self, stdin: str | bytes | None) -> Cell:
        with contextlib.ExitStack() as theirs:
            stdout = await self._pipes.open_output(self._pipes.stdout, theirs)
            stderr = await self._pipes.open_output(self._pipes.stderr, theirs)
            read = await self._pipes.open_input(stdin, theirs)
            if read == asyncio.subprocess.DEVNULL:
                read = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
                theirs.callback(os.close, read)
            enclosing = enclose(self._argv, self._env, self._get_folder(), self._wall)
            order, more = theirs.enter_context(enclosing)
            return self._launcher.run(order, [read, stdout, stderr, *more])

    def _get_folder(self) -> str:
        return str(Path.cwd() if self._cwd is None else Path(self._cwd).absolute())

    async def _finish(self, cell: Cell, timeout: float) -> CommandOutcome:
        timed_out = False
        try:
            await run_with_timeout(cell.wait(), timeout)
            # A pipeline's last process may write after the shell has gone.
            await self._pipes.drain(LINGER)
        except TimeoutError:
            timed_out = True
        finally:
            await self._end(cell)
        return make_outcome(
            self._pipes, cell.returncode, timed_out=timed_out, started=self._started
        )

    async def _end(self, cell: Cell) -> None:
        """TERM, a moment of grace, KILL; a second cancellation skips the grace, not the KILL."""
        if cell.is_empty:
            return
        try:
            await cell.end(process_group.GRACE)
        finally:
            await cell.kill(_REAPING)
        await self._pipes.drain(LINGER)
