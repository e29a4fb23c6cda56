"""A run of a graph, as LangGraph executes it: which one it is, and when it ends."""

from __future__ import annotations

import weakref
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, ExitStack
from types import TracebackType
from typing import Any

from langgraph.config import get_config
from langgraph.runtime import get_runtime

Ended = Callable[[BaseException | None], None]
EndedAsync = Callable[[BaseException | None], Awaitable[None]]

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
        config, control = get_config(), get_runtime().control
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
