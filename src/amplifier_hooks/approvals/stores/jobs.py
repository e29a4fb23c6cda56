"""Work for other threads, and its result back in the event loop that awaits it."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any


@dataclass(slots=True)
class Job:
    """One piece of work, and how it ended."""

    work: Callable[..., Any]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    deadline: float = math.inf
    """Until when it may be tried again, by the steady clock."""
    result: Any = None
    error: BaseException | None = field(default=None)

    @classmethod
    def make(cls, work: Callable[..., Any], deadline: float = math.inf) -> Job:
        """A job of the running loop."""
        loop = asyncio.get_running_loop()
        return cls(work, loop, loop.create_future(), deadline)


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


Do = Callable[[list[Job]], None]


def do_each(jobs: list[Job]) -> None:
    """Do one after another, and hand over each result."""
    for job in jobs:
        try:
            job.result = job.work()
        except BaseException as error:  # noqa: BLE001 - it belongs to whoever awaits the work
            job.error = error
        report([job])


class Workers:
    """A few threads that share what is put; another one is started when all of them are busy.

    Each takes `at_once` jobs that wait at most, and hands them to `do`, which reports them.
    """

    def __init__(self, name: str, most: int, do: Do = do_each, at_once: int = 1) -> None:
        self._name = name
        self._most = most
        self._do = do
        self._at_once = at_once
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._threads: list[Thread] = []
        # One entry for each thread that waits: a list changes at once, where a number would not.
        self._idle: list[None] = []

    def put(self, job: Job) -> None:
        """Do this as soon as a thread is free."""
        self._jobs.put(job)
        if len(self._idle) < self._jobs.qsize() and len(self._threads) < self._most:
            thread = Thread(target=self._work, name=self._name, daemon=True)
            self._threads.append(thread)
            thread.start()

    def close(self) -> None:
        """Finish what is under way, give up what was not begun, and end; blocks."""
        for job in self._take_waiting(self._jobs.qsize()):
            with contextlib.suppress(RuntimeError):
                job.loop.call_soon_threadsafe(job.future.cancel)
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while (first := self._wait()) is not None:
            jobs = [first, *self._take_waiting(self._at_once - 1)]
            if wanted := [job for job in jobs if not job.future.cancelled()]:
                self._do(wanted)

    def _wait(self) -> Job | None:
        self._idle.append(None)
        try:
            return self._jobs.get()
        finally:
            self._idle.pop()

    def _take_waiting(self, most: int) -> Iterator[Job]:
        """What is there already."""
        with contextlib.suppress(Empty):
            for _ in range(most):
                job = self._jobs.get_nowait()
                if job is None:  # the end, for this thread or another one
                    self._jobs.put(None)
                    return
                yield job
