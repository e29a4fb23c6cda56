"""Work that somebody awaits and a thread does."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from amplifier_hooks.approvals.stores.engine import Transaction


@dataclass(slots=True)
class Job:
    """One piece of work, and how it ended."""

    work: Callable[[Transaction], Any]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    result: Any = None
    error: BaseException | None = field(default=None)

    @classmethod
    def make(cls, work: Callable[[Transaction], Any]) -> Job:
        """A job of the running loop."""
        loop = asyncio.get_running_loop()
        return cls(work, loop, loop.create_future())


def report(jobs: Sequence[Job]) -> None:
    """Hand the results to whoever awaits them, in their own loops; called from a worker thread."""
    loops: dict[asyncio.AbstractEventLoop, list[Job]] = {}
    for job in jobs:
        loops.setdefault(job.loop, []).append(job)
    for loop, of_loop in loops.items():
        # A loop that was closed has nobody left who awaits.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(_settle, of_loop)


def _settle(jobs: Sequence[Job]) -> None:
    for job in jobs:
        if job.future.done():
            continue
        if job.error is None:
            job.future.set_result(job.result)
        else:
            job.future.set_exception(job.error)
