"""The runs of an agent's graph, each with a session of ours behind it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
import warnings
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack
from functools import cache
from importlib.metadata import version
from types import TracebackType
from typing import Any

from langgraph.config import get_config
from langgraph.errors import GraphInterrupt
from langgraph.runtime import get_runtime

from amplifier_core.errors import SessionDenied
from amplifier_core.payloads import EndReason
from amplifier_hooks.coverage import LANGCHAIN
from amplifier_hooks.external.governor import IDLE_SECONDS, Governor
from amplifier_hooks.external.run import Run
from amplifier_hooks.external.verdicts import TextVerdict
from amplifier_hooks.frameworks.langchain.messages import Kept
from amplifier_hooks.frameworks.langchain.sub_agents import Spawning

Ended = Callable[[BaseException | None], None]
EndedAsync = Callable[[BaseException | None], Awaitable[None]]

INTERRUPT = "__interrupt__"
"""Under which LangGraph stores the interrupts of a node, and gives them to the caller."""

COLLECTED = frozenset({"updates", "values"})
"""What `invoke` reads of a run before it returns; whoever streams reads something else."""


class GraphRun:
    """One execution of an agent's graph, from its start or from an interrupt on.

    LangGraph names no execution and calls no middleware when one fails. Its executor is reached
    through the configuration of each node; `stack` is what that executor unwinds at the end.
    """

    def __init__(self, config: dict[str, Any], control: object) -> None:
        executor = _find_executor(config)
        # Not kept alive: whoever remembers runs by their executor forgets them with it.
        self._executor_ref = None if executor is None else weakref.ref(executor)
        self._control = control
        namespace = str(config["configurable"].get("checkpoint_ns") or "")
        self._graph = namespace.rpartition("|")[0]
        self.agent = str((config.get("metadata") or {}).get("lc_agent_name") or "")

    @property
    def executor(self) -> Any:
        """The same for all nodes of one execution; None if this LangGraph hides it."""
        return None if self._executor_ref is None else self._executor_ref()

    @property
    def name(self) -> tuple[int, str]:
        """Which execution it is, where LangGraph hides the executor."""
        return id(self._control), self._graph

    @property
    def _stack(self) -> Any:
        stack = getattr(self.executor, "stack", None)
        return stack if isinstance(stack, ExitStack | AsyncExitStack) else None

    @property
    def tells_end(self) -> bool:
        """Whether somebody can be told when the execution ends, however it does."""
        return self._stack is not None

    @property
    def checkpoint(self) -> str | None:
        """Where it can be resumed from; None without a checkpointer."""
        if getattr(self.executor, "checkpointer", None) is None:
            return None
        checkpoint = getattr(self.executor, "checkpoint", None) or {}
        return checkpoint.get("id")

    def list_shown(self) -> list[Any]:
        """What the node that is being called has interrupted for before, as it was stored."""
        task = get_runtime().execution_info
        writes = getattr(self.executor, "checkpoint_pending_writes", None) or ()
        return [
            one.value
            for task_id, channel, value in writes
            if channel == INTERRUPT and task is not None and task_id == task.task_id
            for one in value
        ]

    @property
    def is_streaming(self) -> bool:
        """Whether somebody reads what the nodes write while the run goes on."""
        modes = getattr(getattr(self.executor, "stream", None), "modes", None)
        return modes is None or set(modes) != COLLECTED

    def tell_end(self, ended: Ended, ended_async: EndedAsync) -> None:
        """Call one of them when the execution is over, before its open tasks are waited for."""
        stack = self._stack

        def leave(
            kind: type[BaseException] | None,
            error: BaseException | None,
            traceback: TracebackType | None,
        ) -> None:
            ended(error)

        async def leave_async(
            kind: type[BaseException] | None,
            error: BaseException | None,
            traceback: TracebackType | None,
        ) -> None:
            await ended_async(error)

        if isinstance(stack, AsyncExitStack):
            stack.push_async_exit(leave_async)
        elif stack is not None:
            stack.push(leave)


def read_graph_run() -> GraphRun:
    """The execution whose node is being called; RuntimeError outside of one."""
    try:
        config = get_config()
        control = get_runtime().control
    except (AttributeError, KeyError, RuntimeError) as error:
        raise RuntimeError(
            "AmplifierMiddleware was called outside a run of an agent: give it to "
            "create_agent(..., middleware=[...]) and call the agent"
        ) from error
    return GraphRun(dict(config), control)


def _find_executor(config: dict[str, Any]) -> Any:
    call = config["configurable"].get("__pregel_call")
    schedule = (getattr(call, "keywords", None) or {}).get("schedule_task")
    return getattr(schedule, "__self__", None)


TOO_LATE = (
    "A hook changed the task of this agent, which had it already: give it AmplifierMiddleware, and "
    "its task can be changed"
)
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
        self._has_begun: bool = False if before is None else before._has_begun
        """Whether the graph has the middleware, which tells of its answer."""
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
        self._has_begun = True
        self.run, verdict = found
        if self.run is None:
            return self._refuse(verdict)
        return TextVerdict(True, verdict.text, asked.changed or verdict.changed)

    # What happens in it

    async def find_run(self, task: str = "") -> Run | None:
        """The run; opened now if LangGraph has resumed what another process began.

        So is that of a graph without the middleware, whose first tool call this is; `task` is what
        it was asked to do.
        """
        async with self._opening_async:
            if self._must_open() and self._may_work(await self._spawning.ask(task)):
                try:
                    self.run = await self._governor.open(LANGCHAIN, self.graph.agent)
                except SessionDenied as error:
                    self.refusal = str(error)
        return None if self.refusal else self.run

    def find_run_sync(self, task: str = "") -> Run | None:
        """The same for a thread."""
        with self._opening:
            if self._must_open() and self._may_work(self._spawning.ask_sync(task)):
                try:
                    self.run = self._governor.open_sync(LANGCHAIN, self.graph.agent)
                except SessionDenied as error:
                    self.refusal = str(error)
        return None if self.refusal else self.run

    def _must_open(self) -> bool:
        if not self.is_alive:
            self.refusal = OVER
        return self.run is None and not self.refusal

    def _may_work(self, asked: TextVerdict) -> bool:
        if asked.allowed and asked.changed:
            self.refusal = TOO_LATE
        elif not asked.allowed:
            self.refusal = asked.text
        return not self.refusal

    @contextlib.asynccontextmanager
    async def work(self, task: str = "") -> AsyncIterator[Run | None]:
        """Do something in the run; it is not ended meanwhile."""
        run = await self.find_run(task)
        self._enter()
        try:
            yield run
        finally:
            if (reason := self._leave()) is not None:
                await self.end(reason)

    @contextlib.contextmanager
    def work_sync(self, task: str = "") -> Iterator[Run | None]:
        """The same for a thread."""
        run = self.find_run_sync(task)
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
            has_answered = self.answer is not None or not self._has_begun
            self._reason = read_reason(error, has_answered=has_answered)
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
