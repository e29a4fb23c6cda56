"""The loop on which the hooks of a run are called, whoever calls from wherever."""

from __future__ import annotations

import asyncio
import math
import os
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Any, ParamSpec, TypeVar

from amplifier_core.utils import PATIENCE

T = TypeVar("T")
P = ParamSpec("P")

THREAD = "amplifier-hooks"


@cache
def start_own_loop() -> asyncio.AbstractEventLoop:
    """The loop of this process for callers without one, in a thread of its own."""
    loop = asyncio.new_event_loop()
    if not _exiting.is_set():
        threading.Thread(target=_serve, args=(loop,), name=THREAD, daemon=True).start()
    return loop


_exiting = threading.Event()


def run_at_exit(work: Coroutine[Any, Any, object]) -> None:
    """Run the work while the interpreter exits; since Python 3.12 no thread can be started then.

    What the work hands to the loop's threads is done in the loop's own thread.
    """
    _exiting.set()
    loop = start_own_loop()
    if loop.is_running():
        loop.call_soon_threadsafe(loop.set_default_executor, _SameThreadExecutor())
        asyncio.run_coroutine_threadsafe(work, loop).result()
    else:
        loop.set_default_executor(_SameThreadExecutor())
        loop.run_until_complete(work)


class _SameThreadExecutor(ThreadPoolExecutor):
    """Calls where it is asked to: loops accept only this class, but it has no thread."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - whoever awaits the result gets it
            future.set_exception(error)
        return future


# A child that was forked has the loop and not its thread.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=start_own_loop.cache_clear)


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()


def find_running_loop() -> asyncio.AbstractEventLoop | None:
    """The loop that runs in this thread, if one does."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


# A loop knows its tasks only weakly.
_unstoppable: set[asyncio.Future[Any]] = set()


HELD_UP = (
    "A run that was started on this event loop cannot be continued synchronously on its thread: "
    "use the asynchronous entry point of the framework"
)


class Home:
    """Where a run lives: its locks, tasks and files belong to one loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop

    def _find_loop(self) -> asyncio.AbstractEventLoop:
        """The loop, or the process's own where the program no longer runs it."""
        return self.loop if self.loop.is_running() else start_own_loop()

    @property
    def is_here(self) -> bool:
        """Whether this thread runs the loop: then it cannot wait for what is done there."""
        return find_running_loop() is self._find_loop()

    def find_loop_for_thread(self) -> asyncio.AbstractEventLoop:
        """The loop, for a thread that will wait for it; RuntimeError in the loop's own thread."""
        loop = self._find_loop()
        if self.is_here:
            raise RuntimeError(HELD_UP)
        return loop

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do the work at home and wait for it; who stops waiting stops the work."""
        loop = self._find_loop()
        if asyncio.get_running_loop() is loop:
            return await work
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, loop))

    async def run_through(self, work: Coroutine[Any, Any, T]) -> T:
        """The same for work that nobody may stop half-way: who is cancelled waits for it first.

        If it takes too long then, it goes on by itself.
        """
        doing = asyncio.ensure_future(self.run(work))
        stopped = None
        _unstoppable.add(doing)
        doing.add_done_callback(_unstoppable.discard)
        seconds = None
        until = math.inf
        while not doing.done() and time.monotonic() < until:
            try:
                await asyncio.wait([doing], timeout=seconds)
            except asyncio.CancelledError as error:
                stopped = error
                seconds = PATIENCE
                until = min(until, time.monotonic() + PATIENCE)
        if stopped is not None:
            raise stopped
        return await doing

    def start(self, work: Coroutine[Any, Any, T]) -> None:
        """Have the work done at home without waiting for it, from any thread."""
        asyncio.run_coroutine_threadsafe(work, self._find_loop())

    def run_sync(self, work: Coroutine[Any, Any, T]) -> T:
        """The same for a thread that waits; not for the thread of the loop itself."""
        try:
            loop = self.find_loop_for_thread()
        except RuntimeError:
            work.close()
            raise
        return asyncio.run_coroutine_threadsafe(work, loop).result()
