"""A run of an agent with ours behind it: begun once, found again, ended once."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Iterator

from amplifier_core.errors import SessionDenied
from amplifier_core.events.payloads import EndReason
from amplifier_hooks.coverage import LANGCHAIN
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.external.run import Run
from amplifier_hooks.external.verdicts import TextVerdict
from amplifier_hooks.frameworks.langchain.graph_run import GraphRun
from amplifier_hooks.frameworks.langchain.keeping import Kept
from amplifier_hooks.frameworks.langchain.spawning import Spawning

OVER = "The run has ended, so nothing was done."
STOPPED = (asyncio.CancelledError, GeneratorExit, KeyboardInterrupt)


class Governed:
    """One execution of an agent's graph; `before` is what it goes on with after an interrupt."""

    def __init__(self, governor: Governor, graph: GraphRun, before: Governed | None = None) -> None:
        self.graph = graph
        self.run: Run | None = None if before is None else before.run
        self.refusal = ""
        """Why nothing may happen in this execution, if so."""
        self.answer: str | None = None
        """What went out, once it did."""
        self.kept: list[Kept] = [] if before is None else before.kept
        self.is_alive = True
        self._governor = governor
        self._spawning: Spawning = (
            Spawning(governor, graph.agent) if before is None else before._spawning
        )
        self._busy = 0
        self._reason: EndReason | None = None
        self._counting = threading.Lock()
        self._opening = threading.Lock()
        self._opening_async = asyncio.Lock()

    @property
    def is_open(self) -> bool:
        """Whether there is a run that has not ended."""
        return self.run is not None and not self.run.has_ended

    # The start

    async def begin(self, prompt: str) -> TextVerdict:
        """Open the run with its prompt."""
        asked = await self._spawning.ask(prompt)
        if not asked.allowed:
            return self._refuse(asked)
        return self._keep(
            asked, await self._governor.begin(LANGCHAIN, asked.text, self.graph.agent)
        )

    def begin_sync(self, prompt: str) -> TextVerdict:
        """The same for a thread."""
        asked = self._spawning.ask_sync(prompt)
        if not asked.allowed:
            return self._refuse(asked)
        return self._keep(asked, self._governor.begin_sync(LANGCHAIN, asked.text, self.graph.agent))

    def _refuse(self, verdict: TextVerdict) -> TextVerdict:
        self.refusal = verdict.text
        return verdict

    def _keep(self, asked: TextVerdict, found: tuple[Run | None, TextVerdict]) -> TextVerdict:
        self.run, verdict = found
        if self.run is None:
            return self._refuse(verdict)
        return TextVerdict(True, verdict.text, asked.changed or verdict.changed)

    # What happens in it

    async def find_run(self) -> Run | None:
        """The run; opened now if LangGraph has resumed what another process began."""
        async with self._opening_async:
            if self._must_open():
                try:
                    self.run = await self._governor.open(LANGCHAIN, self.graph.agent)
                except SessionDenied as error:
                    self.refusal = str(error)
        return None if self.refusal else self.run

    def find_run_sync(self) -> Run | None:
        """The same for a thread."""
        with self._opening:
            if self._must_open():
                try:
                    self.run = self._governor.open_sync(LANGCHAIN, self.graph.agent)
                except SessionDenied as error:
                    self.refusal = str(error)
        return None if self.refusal else self.run

    def _must_open(self) -> bool:
        if not self.is_alive:
            self.refusal = OVER
        return self.run is None and not self.refusal

    @contextlib.asynccontextmanager
    async def work(self) -> AsyncIterator[Run | None]:
        """Do something in the run; it is not ended meanwhile."""
        run = await self.find_run()
        self._enter()
        try:
            yield run
        finally:
            if (reason := self._leave()) is not None:
                await self.end(reason)

    @contextlib.contextmanager
    def work_sync(self) -> Iterator[Run | None]:
        """The same for a thread."""
        run = self.find_run_sync()
        self._enter()
        try:
            yield run
        finally:
            if (reason := self._leave()) is not None:
                self.end_sync(reason)

    def _enter(self) -> None:
        with self._counting:
            self._busy += 1

    def _leave(self) -> EndReason | None:
        with self._counting:
            self._busy -= 1
            return None if self._busy else self._reason

    # The end

    def stop(self, error: BaseException | None) -> EndReason | None:
        """Let nothing start any more; returns how to end, unless something is still under way.

        LangGraph waits for the threads of a run that has failed, as long as their people think.
        """
        self.is_alive = False
        with self._counting:
            self._reason = read_reason(error, has_answered=self.answer is not None)
            return None if self._busy else self._reason

    async def end(self, reason: EndReason) -> None:
        """End the session behind it."""
        if self.run is not None:
            await self.run.end(reason)
            await self._spawning.complete(reason, self.answer or "")

    def end_sync(self, reason: EndReason) -> None:
        """The same for a thread."""
        if self.run is not None:
            self.run.end_sync(reason)
            self._spawning.complete_sync(reason, self.answer or "")


def read_reason(error: BaseException | None, *, has_answered: bool) -> EndReason:
    """How a run ended, in our words."""
    if error is None:
        return "complete" if has_answered else "error"
    if isinstance(error, STOPPED):
        return "user_exit"
    return "timeout" if isinstance(error, TimeoutError) else "error"
