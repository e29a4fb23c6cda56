"""Launches the worker of a backtest behind a wall, and gathers what it tells."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from amplifier_hooks.insight.backtest.policy import BOOK, PolicyError
from amplifier_hooks.insight.backtest.process.job import Job
from amplifier_hooks.insight.backtest.process.state import StateFile
from amplifier_hooks.insight.backtest.tally import Tally
from amplifier_hooks.sandbox.process import run_command
from amplifier_hooks.sandbox.protection import Protection, examine_machine
from amplifier_hooks.sandbox.wall import Wall

_LONGEST = 30 * 24 * 3600.0
_KEPT = 20_000
"""Bytes of the worker's last words that are kept for an error."""
_DISTURBED = (
    "A hook has written into the pipe that results come through, so they are not to be relied on"
)


@dataclass(slots=True)
class Findings:
    """What is known so far: of each trail, as a whole or in part."""

    job: Job
    protection: Protection
    done: dict[Path, Tally] = field(default_factory=dict)
    remembered: int = 0
    """Trails whose results an earlier run had found."""
    partly: tuple[Path, Tally] | None = None
    """The trail that is being read, and what was found in it so far."""

    @property
    def is_complete(self) -> bool:
        """Whether all trails were read to their end."""
        return len(self.done) == len(self.job.trails)

    def add_up(self) -> Tally:
        """The figures of everything, in the order of the trails."""
        total = Tally(most_examples=self.job.examples)
        for path in self.job.trails:
            if path in self.done:
                total.add(self.done[path])
            elif self.partly is not None and self.partly[0] == path:
                total.add(self.partly[1])
        return total


Tell = Callable[[int], None]
"""Told of the bytes that were read, of all trails."""


class Launch:
    """One run of the worker."""

    def __init__(self, job: Job, state: StateFile, tell: Tell = lambda read: None) -> None:
        self._state = state
        self.tell = tell
        self._rest = ""
        self._failure = ""
        self._finished = False
        self._before = 0
        self.findings = Findings(job, examine_machine())
        for trail in job.trails:
            if (known := state.find(trail)) is not None:
                self.findings.done[trail] = known
                self._before += measure_trail(trail)
        self.findings.remembered = len(self.findings.done)

    async def run(self) -> Findings:
        """Have the worker do what is not done yet; PolicyError if the policy cannot be tried."""
        job = self.findings.job
        todo = tuple(one for one in job.trails if one not in self.findings.done)
        if todo:
            try:
                with tempfile.TemporaryDirectory(prefix="amplifier-backtest-") as folder:
                    await self._launch(replace(job, trails=todo), _resolve(folder))
            finally:
                self._state.write()
        self._state.finish()
        return self.findings

    async def _launch(self, job: Job, folder: Path) -> None:
        scratch, temporary = folder / "scratch", folder / "tmp"
        for one in (scratch, scratch / "other", temporary):
            one.mkdir()
        if self._state.spent:
            (scratch / BOOK).write_text(self._state.spent)
        kind = self.findings.protection.kind
        wall = kind and Wall((scratch,), (), (), temporary, network="deny", kind=kind)
        outcome = await run_command(
            [sys.executable, "-P", "-m", "amplifier_hooks.insight.backtest.process"],
            cwd=job.folder,
            timeout=_LONGEST,
            stdin=json.dumps(job.to_dict(scratch)),
            env=dict(os.environ),
            output_limit=_KEPT,
            wall=wall or None,
            contained=True,
            on_output=self._take_output,
        )
        if self._failure:
            raise PolicyError(self._failure)
        if not self._finished:
            last = outcome.stderr.strip().splitlines() or [f"exit code {outcome.returncode}"]
            raise PolicyError(f"The process that runs the hooks has ended: {last[-1]}")

    def _take_output(self, stream: str, text: str) -> None:
        if stream != "stdout":
            return
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            try:
                self._take_message(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError):
                self._failure = _DISTURBED

    def _take_message(self, message: dict[str, Any]) -> None:
        kind = message["kind"]
        if kind == "failed":
            self._failure = message["why"]
        elif kind == "done":
            self._finished = True
        elif kind == "progress":
            self.tell(self._before + message["read"])
            if "tally" in message:
                self.findings.partly = Path(message["trail"]), Tally.from_dict(message["tally"])
        else:
            self._take_trail(Path(message["trail"]), message)

    def _take_trail(self, trail: Path, message: dict[str, Any]) -> None:
        tally = Tally.from_dict(message["tally"])
        self.findings.done[trail] = tally
        self.findings.partly = None
        self._state.keep(trail, tally, message["spent"])
        self._before += measure_trail(trail)
        self.tell(self._before)


def _resolve(folder: str) -> Path:
    return Path(folder).resolve()


def measure_trail(trail: Path) -> int:
    """The bytes of a trail."""
    files = trail.glob("*.jsonl") if trail.is_dir() else [trail]
    return sum(path.stat().st_size for path in files)
