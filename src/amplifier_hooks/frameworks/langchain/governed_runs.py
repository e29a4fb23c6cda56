"""The runs under way: which of ours stands behind which of theirs."""

from __future__ import annotations

import threading
import time
import warnings
import weakref
from functools import cache
from importlib.metadata import version
from typing import Any

from langgraph.errors import GraphInterrupt

from amplifier_core.events.payloads import EndReason
from amplifier_hooks.external.governor import IDLE_SECONDS, Governor
from amplifier_hooks.frameworks.langchain.governed import Governed
from amplifier_hooks.frameworks.langchain.graph_run import GraphRun, read_graph_run


class GovernedRuns:
    """Finds the run of ours for whichever node is being called.

    A run that was interrupted waits here, by the checkpoint that it can be resumed from.
    """

    def __init__(self, governor: Governor) -> None:
        self._governor = governor
        self._known: weakref.WeakKeyDictionary[Any, Governed] = weakref.WeakKeyDictionary()
        self._unwatched: dict[tuple[int, str], Governed] = {}
        self._waiting: dict[str, Governed] = {}
        self._changing = threading.Lock()

    def find(self) -> Governed:
        """The one whose node is being called."""
        graph = read_graph_run()
        with self._changing:
            known = self._look_up(graph)
            if known is not None:
                return known
            made = Governed(self._governor, graph, self._take_waiting(graph))
            if graph.tells_end:
                self._known[graph.executor] = made
            else:
                self._unwatched[graph.name] = made
        self._watch(made)
        return made

    def _look_up(self, graph: GraphRun) -> Governed | None:
        # One that has ended is found as well: a thread of it may come late.
        if graph.tells_end:
            return self._known.get(graph.executor)
        return self._unwatched.get(graph.name)

    def _take_waiting(self, graph: GraphRun) -> Governed | None:
        before = self._waiting.pop(graph.checkpoint or "", None)
        return before if before is not None and before.is_open else None

    def _watch(self, governed: Governed) -> None:
        if not governed.graph.tells_end:
            _warn_once()
            return

        async def end(error: BaseException | None) -> None:
            if (reason := self._part(governed, error)) is not None:
                await governed.end(reason)

        def end_sync(error: BaseException | None) -> None:
            if (reason := self._part(governed, error)) is not None:
                governed.end_sync(reason)

        governed.graph.tell_end(end_sync, end)

    def _part(self, governed: Governed, error: BaseException | None) -> EndReason | None:
        """Forget a run that is over; returns how to end it now, if so."""
        with self._changing:
            self._unwatched.pop(governed.graph.name, None)
            checkpoint = governed.graph.checkpoint
            if isinstance(error, GraphInterrupt) and governed.is_open and checkpoint is not None:
                governed.is_alive = False
                self._waiting[checkpoint] = governed
                return None
        return governed.stop(error)

    async def finish(self, governed: Governed) -> None:
        """The answer has gone out: end the run, if LangGraph will not tell of its end."""
        if not governed.graph.tells_end and (reason := self._part(governed, None)) is not None:
            await governed.end(reason)

    def finish_sync(self, governed: Governed) -> None:
        """The same for a thread."""
        if not governed.graph.tells_end and (reason := self._part(governed, None)) is not None:
            governed.end_sync(reason)

    def take_forgotten(self) -> list[Governed]:
        """Interrupted runs that nobody has resumed for long, to be ended."""
        oldest = time.monotonic() - IDLE_SECONDS
        with self._changing:
            forgotten = {
                key: one
                for key, one in self._waiting.items()
                if one.run is None or one.run.has_ended or one.run.last_used < oldest
            }
            for key in forgotten:
                del self._waiting[key]
        return list(forgotten.values())


@cache
def _warn_once() -> None:
    warnings.warn(
        f"langgraph {version('langgraph')} does not show when a run ends: sessions of runs that "
        "fail are ended with the program, and what a person allows after a time limit has passed "
        "may still run. AmplifierMiddleware was tested with langgraph 1.2",
        RuntimeWarning,
        stacklevel=2,
    )
