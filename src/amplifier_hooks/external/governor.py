"""The governor: puts the same hooks in front of every run of a framework's agents."""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures.thread  # noqa: F401 - its own clean-up is registered by this
import contextlib
import os
import threading
import time
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import Future
from contextvars import ContextVar
from types import TracebackType
from typing import Protocol, Self

from amplifier_core.errors import SessionDenied
from amplifier_core.payloads import EndReason
from amplifier_hooks.coverage import Coverage
from amplifier_hooks.external.coverage_gaps import (
    check_start,
    report_uncovered_hooks,
)
from amplifier_hooks.external.loops import Home, run_at_exit, start_own_loop
from amplifier_hooks.external.opening import (
    explain_end,
    open_child,
)
from amplifier_hooks.external.run import Run, inside
from amplifier_hooks.external.session import ExternalSession
from amplifier_hooks.external.verdicts import TextVerdict

Open = Callable[[], Awaitable[Run]]


class SharedSession:
    """Opened by the first run, used by all that begin in the same block, and ended with it."""

    def __init__(self, governor: object) -> None:
        self.governor = governor
        self.run: Run | None = None
        self.is_over = False
        """Whether its block was left; a task that was started there may live on."""
        self._changing = threading.Lock()
        self._opening: Future[None] | None = None

    async def find_run(self, open_run: Open) -> Run:
        """The run behind all of them; those that begin at the same time wait for the first."""
        while True:
            with self._changing:
                if self.run is not None and not self.run.has_ended:
                    return self.run
                first = self._opening
                mine = Future[None]()
                if first is None:
                    self._opening = mine
            if first is None:
                return await self._open(open_run, mine)
            # Who stops waiting does not stop the others.
            await asyncio.shield(asyncio.wrap_future(first))

    async def _open(self, open_run: Open, opening: Future[None]) -> Run:
        try:
            self.run = run = await open_run()
            run.is_shared = True
            return run
        finally:
            self._opening = None
            opening.set_result(None)


shared_session: ContextVar[SharedSession | None] = ContextVar("amplifier_shared", default=None)
"""The one that runs begin in here, if they share one."""


IDLE_SECONDS = 24 * 3600.0
"""After so long without any event, a run that its framework never ended is ended."""


class Source(Protocol):
    """Opens what stands behind a run."""

    async def open(self, program: str, coverage: Coverage | None = None) -> ExternalSession: ...


class Governor:
    """Opens a session of ours behind each run of an agent that a framework runs."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._runs: set[Run] = set()
        self._told: set[str] = set()
        self._shown: set[str] = set()
        self._lock = threading.Lock()
        _governors.add(self)

    # Runs

    async def open(self, coverage: Coverage, agent: str = "") -> Run:
        """The run that begins here; SessionDenied if a hook refuses the start.

        Inside a tool call of a governed run, it is the run of a sub-agent; inside
        `conversation()`, all runs are turns of one session.
        """
        return await self._open(coverage, agent, Home(asyncio.get_running_loop()))

    def open_sync(self, coverage: Coverage, agent: str = "") -> Run:
        """The same for a thread."""
        parent = self._find_parent()
        home = Home(start_own_loop()) if parent is None else parent.home
        return home.run_sync(self._open(coverage, agent, home))

    async def begin(
        self, coverage: Coverage, prompt: str, agent: str = ""
    ) -> tuple[Run | None, TextVerdict]:
        """Open a run and submit its prompt; no run if either is refused."""
        try:
            run = await self.open(coverage, agent)
        except SessionDenied as error:
            return None, TextVerdict(False, str(error))
        try:
            verdict = await run.submit(prompt)
        except BaseException as error:
            await run.end(explain_end(error))
            raise
        if not verdict.allowed:
            await run.end()
        return (run if verdict.allowed else None), verdict

    def begin_sync(
        self, coverage: Coverage, prompt: str, agent: str = ""
    ) -> tuple[Run | None, TextVerdict]:
        """The same for a thread."""
        try:
            run = self.open_sync(coverage, agent)
        except SessionDenied as error:
            return None, TextVerdict(False, str(error))
        try:
            verdict = run.submit_sync(prompt)
        except BaseException as error:
            run.end_sync(explain_end(error))
            raise
        if not verdict.allowed:
            run.end_sync()
        return (run if verdict.allowed else None), verdict

    async def _open(self, coverage: Coverage, agent: str, home: Home) -> Run:
        await self.end_idle()
        parent = self._find_parent()
        shared = self._find_shared()
        if parent is not None:
            opened = await parent.home.run(
                open_child(parent.coordinator, agent, coverage.framework, coverage)
            )
            return self._keep(opened, coverage, parent.home, is_child=True)
        if shared is not None:
            return await shared.find_run(lambda: self._open_own(coverage, home))
        return await self._open_own(coverage, home)

    async def _open_own(self, coverage: Coverage, home: Home) -> Run:
        opened = await self._source.open(coverage.framework, coverage)
        run = self._keep(opened, coverage, home)
        try:
            check_start(opened.coordinator, coverage)
            if coverage.name not in self._told:
                self._told.add(coverage.name)
                await report_uncovered_hooks(opened.coordinator, coverage)
        except BaseException as error:
            await run.finish(explain_end(error))
            raise
        return run

    def _keep(
        self, opened: ExternalSession, coverage: Coverage, home: Home, *, is_child: bool = False
    ) -> Run:
        run = Run(opened, home, coverage, self._shown)
        run.governor = self
        run.is_child = is_child
        with self._lock:
            self._runs.add(run)
        return run

    def _list_open(self) -> list[Run]:
        with self._lock:
            return [run for run in self._runs if not run.has_ended]

    def _find_parent(self) -> Run | None:
        run = inside.get()
        belongs = run is not None and run.governor is self and not run.has_ended
        return run if belongs else None

    def _find_shared(self) -> SharedSession | None:
        shared = shared_session.get()
        belongs = shared is not None and shared.governor is self and not shared.is_over
        return shared if belongs else None

    def _forget_ended(self) -> None:
        with self._lock:
            self._runs = {run for run in self._runs if not run.has_ended}

    async def end_idle(self, seconds: float = IDLE_SECONDS) -> None:
        """End runs that nobody has used for so long."""
        oldest = time.monotonic() - seconds
        for run in self._list_open():
            if run.last_used < oldest and not run.is_busy:
                await run.finish("timeout")
        self._forget_ended()

    def disown_runs(self) -> None:
        """In a child that was forked: what runs in the parent goes on there, and only there."""
        self._lock = threading.Lock()
        for run in self._runs:
            run.has_ended = True
        self._runs = set()

    # Conversations

    @contextlib.asynccontextmanager
    async def conversation(self) -> AsyncIterator[None]:
        """Make all runs inside this block turns of one session."""
        shared = SharedSession(self)
        token = shared_session.set(shared)
        try:
            yield
        finally:
            shared_session.reset(token)
            shared.is_over = True
            if shared.run is not None:
                await shared.run.finish()

    @contextlib.contextmanager
    def conversation_sync(self) -> Iterator[None]:
        """The same for a program without a loop."""
        shared = SharedSession(self)
        token = shared_session.set(shared)
        try:
            yield
        finally:
            shared_session.reset(token)
            shared.is_over = True
            if shared.run is not None:
                shared.run.finish_sync()

    # End

    async def close(self, reason: EndReason = "complete") -> None:
        """End every run that is still open."""
        for run in self._list_open():
            await run.finish(reason)
        self._forget_ended()

    def close_sync(self, reason: EndReason = "complete") -> None:
        """The same for a thread."""
        for run in self._list_open():
            run.finish_sync(reason)
        self._forget_ended()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: object, traceback: TracebackType | None
    ) -> None:
        await self.close("complete" if kind is None else "error")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, traceback: TracebackType | None
    ) -> None:
        self.close_sync("complete" if kind is None else "error")


_governors: weakref.WeakSet[Governor] = weakref.WeakSet()


def _end_what_is_open() -> None:
    """A program that ends leaves no session open: its trail says that the run did not end."""
    for governor in list(_governors):
        with contextlib.suppress(Exception):
            run_at_exit(governor.close("error"))


def _disown_all() -> None:
    for governor in list(_governors):
        governor.disown_runs()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_disown_all)

# Files are written by pools of threads, which end before `atexit`; who comes last is called first.
getattr(threading, "_register_atexit", atexit.register)(_end_what_is_open)
