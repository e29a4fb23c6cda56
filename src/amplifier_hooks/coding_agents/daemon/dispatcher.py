"""Each request gets its answer in time, whatever the judge does; and how long the process lives."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Iterator

from amplifier_core.utils import describe_error
from amplifier_hooks.coding_agents.daemon.protocol import Judge, Request, Response

logger = logging.getLogger(__name__)


class Lifetime:
    """Counts what is open, and says when to end and why."""

    def __init__(self, idle_seconds: float, stop_listening: Callable[[], None]) -> None:
        self._idle_seconds = idle_seconds
        self._stop_listening = stop_listening
        self._ending = asyncio.Event()
        self._used = self.started = time.monotonic()
        self._open = 0

    @property
    def ending(self) -> bool:
        """Whether it has been decided that the process ends."""
        return self._ending.is_set()

    @contextlib.contextmanager
    def hold(self, *, use: bool = True) -> Iterator[None]:
        """Keep the process while something is open; with `use`, for its idle time after that."""
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1
            if use:
                self._used = time.monotonic()

    def end(self, why: str) -> None:
        """Let the process end: from here on nobody new can come in."""
        if not self.ending:
            logger.info("The process ends: %s", why)
            self._stop_listening()
            self._ending.set()

    async def wait(self, is_needed: Callable[[], bool]) -> None:
        """Return when the process is to end: somebody said so, or nobody needs it any more."""
        while not self.ending:
            left = self._used + self._idle_seconds - time.monotonic()
            if left <= 0:
                if not self._open and not is_needed():
                    # Nothing is awaited between the question and the end of listening.
                    self.end(f"no request for {self._idle_seconds:g} seconds")
                    return
                left = min(self._idle_seconds, 1.0)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._ending.wait()


_EARLIER = 1.0
_AFTER_LEAVING = 5.0
_SHORT = 2.0
_SHORT_PART = 0.8


class Interrupted(Exception):
    """The process ends before this is judged; the next one must be asked."""


class Dispatcher:
    """Hands requests to the judge, with a deadline, and keeps the work that is under way."""

    def __init__(self, judge: Judge, lifetime: Lifetime) -> None:
        self.judge = judge
        self.lifetime = lifetime
        self._work: set[asyncio.Task[Response]] = set()
        self._interrupted = False

    async def answer(
        self, request: Request, since: float, gone: asyncio.Event | None = None
    ) -> Response:
        """The judge's answer, or one that says why there is none; Interrupted if the process ends.

        `since` is the monotonic time from which the client counts its seconds. When it has `gone`,
        hooks that are at work come to their end, but nobody waits for a person any more.
        """
        if self._interrupted:
            raise Interrupted
        with self.lifetime.hold():
            task = asyncio.create_task(self._judge(request))
            self._work.add(task)
            task.add_done_callback(self._work.discard)
            limit = since + _get_limit(request.seconds) - time.monotonic()
            await _wait(task, max(limit, 0), gone or asyncio.Event())
            if not task.done():
                task.cancel()
                return _refuse(f"no hook answered within {request.seconds:g} seconds")
            if task.cancelled():
                if self._interrupted:
                    raise Interrupted
                return _refuse("the judgement was cancelled")
            return task.result()

    def count_open(self) -> int:
        """How many requests are being judged."""
        return len(self._work)

    async def finish(self, grace: float) -> None:
        """Wait for what is under way, and interrupt it after `grace` seconds."""
        if self._work:
            await asyncio.wait(set(self._work), timeout=grace)
        self._interrupted = True
        left = set(self._work)
        for task in left:
            task.cancel()
        if left:
            logger.warning("The process ends before %d requests were judged", len(left))
            await asyncio.wait(left, timeout=grace)

    async def _judge(self, request: Request) -> Response:
        try:
            response = await self.judge.answer(request)
        except Exception as failure:
            logger.exception("%s %s was not judged", request.agent, request.event)
            return _refuse(describe_error(failure))
        if 0 <= response.code <= 255:
            return response
        return _refuse(f"the judge answered with the exit code {response.code}")


async def _wait(task: asyncio.Task[Response], limit: float, gone: asyncio.Event) -> None:
    """Until it is done, its time is over, or the client has gone for a while."""
    leaving = asyncio.create_task(gone.wait())
    try:
        await asyncio.wait({task, leaving}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
        if not task.done() and gone.is_set():
            await asyncio.wait({task}, timeout=min(limit, _AFTER_LEAVING))
    finally:
        leaving.cancel()


def _get_limit(seconds: float) -> float:
    """When to answer, so that the answer arrives before the client gives up."""
    return seconds * _SHORT_PART if seconds <= _SHORT else seconds - _EARLIER


def _refuse(why: str) -> Response:
    text = " ".join(f"amplifier: this was not judged: {why}".split())
    return Response(2, b"", text.encode(errors="replace") + b"\n")
