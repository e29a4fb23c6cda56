"""Notices agents without the middleware that a governed tool call starts.

LangChain adds what a context variable holds to the callbacks of everything that is started there
(`register_configure_hook`). A watch is there while a governed tool is called.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tracers.context import register_configure_hook

from amplifier_hooks.external.coverage_gaps import meet_ungoverned
from amplifier_hooks.external.run import Run
from amplifier_hooks.frameworks.langchain.net import Mediated, Stopped, is_in_net, mediate, mediated
from amplifier_hooks.frameworks.langchain.spawning import UNNAMED

CURE = "give it AmplifierMiddleware, or pass config={'callbacks': [middleware.net()]}"
_STEP = "graph:step:"
"""How LangGraph marks a node of a graph."""
_NO_NAME = "LangGraph"


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

    def __init__(self, run: Run, own: Mediated) -> None:
        self._run = run
        self._own = own
        self._chains: dict[UUID, _Chain] = {}

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

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Forget it."""
        self._chains.pop(run_id, None)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Forget it."""
        self._chains.pop(run_id, None)

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
        self._judge(parent_run_id)

    def _judge(self, caller: UUID | None) -> None:
        """Stopped if the graph that calls has no hooks and must not go on without."""
        if mediated.get() is not self._own or self._run.has_ended:
            return
        graph = self._find_graph(caller)
        if graph is None or is_in_net(graph):
            return
        name = self._chains[graph].name
        agent = UNNAMED if name in ("", _NO_NAME) else name
        why = meet_ungoverned(self._run, agent, CURE)
        if why is not None:
            raise Stopped(why)

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
def watch_call(run: Run, name: str) -> Iterator[None]:
    """The call of this tool has passed the hooks of a run; agents that it starts are noticed."""
    with mediate(name) as own:
        token = _watching.set(Watch(run, own))
        try:
            yield
        finally:
            _watching.reset(token)
