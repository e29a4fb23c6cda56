"""The worker: runs the hooks of a backtest, in a process that can write and send nothing.

It reads a job from its standard input and writes lines of JSON: how far it is, what it found in
each trail, and why it gave up. What hooks print goes nowhere.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from amplifier_core.errors import AmplifierError
from amplifier_hooks.insight.backtest.counts import Tally
from amplifier_hooks.insight.backtest.job import Job
from amplifier_hooks.insight.backtest.policy import BOOK
from amplifier_hooks.insight.backtest.trail_run import backtest_trails

_PAUSE = 0.2
"""Seconds between two words about progress."""
_LONG_PAUSE = 2.0
"""Seconds between two looks at what was found so far: it may have to do."""

Say = Callable[[dict[str, Any]], None]


class Reporter:
    """Says how far the work is, and not too often."""

    def __init__(self, say: Say, now: Callable[[], float] = time.monotonic) -> None:
        self._say = say
        self._now = now
        self._next = now() + _PAUSE
        self._next_look = now() + _LONG_PAUSE

    def tell(self, path: Path, read: int, tally: Tally) -> None:
        """So many bytes of a trail were read, and this was found in it."""
        now = self._now()
        if now < self._next:
            return
        self._next = now + _PAUSE
        found: dict[str, Any] = {"kind": "progress", "trail": str(path), "read": read}
        if now >= self._next_look:
            self._next_look = now + _LONG_PAUSE
            found["tally"] = tally.to_dict()
        self._say(found)


async def work(values: dict[str, Any], say: Say) -> None:
    """Do a job; AmplifierError if its policy cannot be loaded or mounted."""
    job, scratch = Job.from_dict(values), Path(values["scratch"])
    policy = job.policy.load(job.folder, scratch)
    baseline = None if job.baseline is None else job.baseline.load(job.folder, scratch / "other")
    found = backtest_trails(
        job.trails,
        policy,
        baseline,
        window=job.window,
        examples=job.examples,
        tell=Reporter(say).tell,
    )
    book = scratch / BOOK
    async for path, tally in found:
        spent = await asyncio.to_thread(_read_book, book)
        say({"kind": "trail", "trail": str(path), "tally": tally.to_dict(), "spent": spent})


def _read_book(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def main() -> None:
    """Do the job on standard input."""
    values = json.loads(sys.stdin.buffer.read())
    # The pipe is for what this process says; hooks may print, and programs may write.
    with os.fdopen(os.dup(1), "w", buffering=1) as told:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        logging.disable(logging.CRITICAL)

        def say(message: dict[str, Any]) -> None:
            told.write(f"{json.dumps(message, default=str)}\n")

        try:
            asyncio.run(work(values, say))
        except AmplifierError as error:
            say({"kind": "failed", "why": str(error)})
        else:
            say({"kind": "done"})


if __name__ == "__main__":
    main()
