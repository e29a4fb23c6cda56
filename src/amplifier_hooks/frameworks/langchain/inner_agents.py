"""Agents without the middleware that a governed tool call starts, such as those of deepagents.

The tool nodes of such a graph are taken over before its first call of a model, so that its tool
calls pass the hooks in a session of their own. One whose calls go elsewhere is named or refused.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tracers.context import register_configure_hook
from langgraph.prebuilt import ToolNode

from amplifier_hooks.external.coverage_gaps import handle_ungoverned_agent
from amplifier_hooks.external.loops import HELD_UP
from amplifier_hooks.external.run import Run
from amplifier_hooks.frameworks.langchain.runs import read_graph_run
from amplifier_hooks.frameworks.langchain.sub_agents import (
    UNNAMED,
    Mediated,
    Stopped,
    is_in_net,
    mediate,
    mediated,
)

CURE = "give it AmplifierMiddleware, or pass config={'callbacks': [middleware.net()]}"
_STEP = "graph:step:"
"""How LangGraph marks a node of a graph."""
_NO_NAME = "LangGraph"

Execute = Callable[[Any], Any]
ExecuteAsync = Callable[[Any], Awaitable[Any]]


class Middleware(Protocol):
    """What takes tool calls through the hooks."""

    def wrap_tool_call(self, request: Any, handler: Execute) -> Any: ...

    async def awrap_tool_call(self, request: Any, handler: ExecuteAsync) -> Any: ...


# Tool nodes that are not ours


def take_tool_nodes() -> bool:
    """Have the graph that is being run call its tools through hooks; False if it cannot be had.

    LangGraph has no place for that in a graph that was compiled. Where no governed call is under
    way, the nodes do what they did before.
    """
    try:
        nodes = dict(getattr(read_graph_run().executor, "nodes", None) or {})
    except RuntimeError:
        return False
    found = [one.bound for one in nodes.values() if isinstance(one.bound, ToolNode)]
    return bool(found) and all(_take(one) for one in found)


def _take(node: Any) -> bool:
    if not (hasattr(node, "_wrap_tool_call") and hasattr(node, "_awrap_tool_call")):
        return False  # a LangGraph that calls tools otherwise
    own, own_async = node._wrap_tool_call, node._awrap_tool_call
    if not hasattr(own, "taken_by_amplifier"):
        node._wrap_tool_call = _compose(own)
        if own_async is not None or own is None:
            node._awrap_tool_call = _compose_async(own_async)
    return True


def _compose(own: Any) -> Any:
    def call(request: Any, execute: Execute) -> Any:
        watch = _find_watch(request)
        if watch is None or watch.holds_loop:
            return execute(request)
        return watch.middleware.wrap_tool_call(request, execute)

    def wrap(request: Any, execute: Execute) -> Any:
        if own is None:
            return call(request, execute)
        return own(request, lambda given: call(given, execute))

    wrap.taken_by_amplifier = True  # type: ignore[attr-defined]
    return wrap


def _compose_async(own: Any) -> Any:
    async def call(request: Any, execute: ExecuteAsync) -> Any:
        watch = _find_watch(request)
        if watch is None:
            return await execute(request)
        return await watch.middleware.awrap_tool_call(request, execute)

    async def wrap(request: Any, execute: ExecuteAsync) -> Any:
        if own is None:
            return await call(request, execute)
        return await own(request, lambda given: call(given, execute))

    return wrap


def _find_watch(request: Any) -> Watch | None:
    """Who has a call judged; None where it has been, or outside of governed calls."""
    watch, judged = _watching.get(), mediated.get()
    if watch is None or (judged is not None and judged.passed is request):
        return None
    return watch


def check_loop() -> None:
    """RuntimeError if the hooks of the run that a thread belongs to could not be waited for."""
    watch = _watching.get()
    if watch is not None and watch.holds_loop:
        raise RuntimeError(HELD_UP)


# Noticing them


@dataclass(frozen=True, slots=True)
class _Chain:
    """Something that was started: a graph, one of its nodes, or another chain."""

    name: str
    parent: UUID | None
    is_node: bool


class Watch(BaseCallbackHandler):
    """Looks for a graph that calls models or tools, and that no middleware of ours governs.

    Its first call decides: until then, a graph may still turn out to have the middleware.
    """

    # Otherwise LangChain logs what a handler raises, and goes on with the agent.
    raise_error = True

    def __init__(self, run: Run, own: Mediated, middleware: Middleware) -> None:
        self.middleware = middleware
        self._run = run
        self._own = own
        self._chains: dict[UUID, _Chain] = {}
        self._taken: set[UUID] = set()
        self._holding: set[UUID] = set()
        """Chains that the tool called synchronously on the loop of the run."""

    @property
    def holds_loop(self) -> bool:
        """Whether the hooks of the run cannot be waited for: the tool holds up their loop.

        Also in the threads that a graph has started then.
        """
        return bool(self._holding) or self._run.home.is_here

    def on_chain_start(
        self,
        serialized: Any,
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        **kwargs: Any,
    ) -> None:
        """Remember which graph a step belongs to."""
        is_node = any(tag.startswith(_STEP) for tag in tags or ())
        name = str(kwargs.get("name") or "")
        self._chains[run_id] = _Chain(name, parent_run_id, is_node)
        if self._run.home.is_here:
            self._holding.add(run_id)

    def _forget(self, run_id: UUID) -> None:
        self._chains.pop(run_id, None)
        self._taken.discard(run_id)
        self._holding.discard(run_id)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Forget it."""
        self._forget(run_id)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Forget it."""
        self._forget(run_id)

    def on_chat_model_start(
        self, serialized: Any, messages: Any, *, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """A model is called."""
        self._judge(parent_run_id)

    def on_llm_start(
        self, serialized: Any, prompts: Any, *, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """A model is called."""
        self._judge(parent_run_id)

    def on_tool_start(
        self, serialized: Any, input_str: str, *, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """A tool is called."""
        # One that came through a tool node of ours has been judged by a call of its own.
        self._judge(parent_run_id, is_tool=True)

    def _judge(self, caller: UUID | None, *, is_tool: bool = False) -> None:
        """Stopped if the graph that calls has no hooks and must not go on without."""
        if mediated.get() is not self._own or self._run.has_ended:
            return
        graph = self._find_graph(caller)
        if graph is None or (self._take(graph) and not is_tool) or is_in_net(graph):
            return
        name = self._chains[graph].name
        agent = UNNAMED if name in ("", _NO_NAME) else name
        why = handle_ungoverned_agent(self._run, agent, CURE)
        if why is not None:
            raise Stopped(why)

    def _take(self, graph: UUID) -> bool:
        """Whether the tool calls of a graph pass the hooks, from now on or already."""
        if graph not in self._taken and not self.holds_loop and take_tool_nodes():
            self._taken.add(graph)
        return graph in self._taken

    def _find_graph(self, caller: UUID | None) -> UUID | None:
        """The graph whose node makes a call; None if a tool makes it by itself."""
        while caller is not None and (chain := self._chains.get(caller)) is not None:
            if chain.is_node:
                return chain.parent if chain.parent in self._chains else None
            caller = chain.parent
        return None


_watching: ContextVar[Watch | None] = ContextVar("amplifier_watch", default=None)
register_configure_hook(_watching, inheritable=True)


@contextlib.contextmanager
def watch_call(run: Run, name: str, request: Any, middleware: Middleware) -> Iterator[None]:
    """The call of this tool has passed the hooks of a run; so will those of agents it starts.

    `request` is what is handed on.
    """
    with mediate(name, request) as own:
        token = _watching.set(Watch(run, own, middleware))
        try:
            yield
        finally:
            _watching.reset(token)
