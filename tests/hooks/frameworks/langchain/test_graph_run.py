"""A run of a graph: which one it is, and when it ends."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("langchain")

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph

from amplifier_hooks.frameworks.langchain.runs import GraphRun, read_graph_run

SAY: Any = {"messages": "Do it."}


class Watch:
    """Nodes that look at the run that they are in."""

    def __init__(self, error: Exception | None = None) -> None:
        self.seen: list[GraphRun] = []
        self.executors: list[Any] = []
        self.ended: list[BaseException | None] = []
        self._error = error

    def look(self, state: Any) -> None:
        """Look, and ask to be told of the end the first time."""
        graph = read_graph_run()
        if not self.seen:
            graph.tell_end(self.ended.append, self.end)
        self.seen.append(graph)
        self.executors.append(graph.executor)

    async def look_async(self, state: Any) -> None:
        """The same on a loop."""
        self.look(state)

    def fail(self, state: Any) -> None:
        """End in an error, if there is one."""
        self.look(state)
        if self._error is not None:
            raise self._error

    async def end(self, error: BaseException | None) -> None:
        """Keep how it ended."""
        self.ended.append(error)

    def build(self, **options: Any) -> Any:
        """A graph of two nodes."""
        graph: Any = StateGraph(MessagesState)
        graph.add_node("one", self.look).add_node("two", self.fail)
        graph.add_edge(START, "one").add_edge("one", "two").add_edge("two", END)
        return graph.compile(**options)


def test_all_nodes_of_a_run_find_the_same_executor() -> None:
    """Those of another run find another one."""
    watch = Watch()
    graph = watch.build()
    graph.invoke(SAY)
    graph.invoke(SAY)
    first, second, third, fourth = watch.executors
    assert first is second
    assert third is fourth
    assert first is not third


def test_the_name_tells_runs_apart_too() -> None:
    """Where LangGraph hides its executor."""
    watch = Watch()
    watch.build().invoke(SAY)
    assert watch.seen[0].name == watch.seen[1].name


@pytest.mark.parametrize("error", [None, ValueError("no")])
def test_the_end_is_told(error: Exception | None) -> None:
    """Once, with the error if there was one."""
    watch = Watch(error)
    if error is None:
        watch.build().invoke(SAY)
    else:
        with pytest.raises(ValueError, match="no"):
            watch.build().invoke(SAY)
    assert watch.ended == [error]


@pytest.mark.parametrize("error", [None, ValueError("no")])
async def test_the_end_is_told_on_a_loop(error: Exception | None) -> None:
    """The same for the asynchronous entry point."""
    watch = Watch(error)
    if error is None:
        await watch.build().ainvoke(SAY)
    else:
        with pytest.raises(ValueError, match="no"):
            await watch.build().ainvoke(SAY)
    assert watch.ended == [error]


def test_a_checkpoint_is_known_where_a_run_can_be_resumed() -> None:
    """Without a checkpointer there is none."""
    found: list[str | None] = []

    def look(state: Any) -> None:
        found.append(read_graph_run().checkpoint)

    for saver in (None, InMemorySaver()):
        graph: Any = StateGraph(MessagesState)
        graph.add_node("one", look).add_edge(START, "one").add_edge("one", END)
        graph.compile(checkpointer=saver).invoke(SAY, {"configurable": {"thread_id": "1"}})
    assert found[0] is None
    assert found[1]


def test_a_stream_is_told_from_a_call() -> None:
    """Who streams reads what nodes write as they do it."""
    found: list[bool] = []

    def look(state: Any) -> None:
        found.append(read_graph_run().is_streaming)

    graph: Any = StateGraph(MessagesState)
    graph.add_node("one", look).add_edge(START, "one").add_edge("one", END)
    compiled = graph.compile()
    compiled.invoke(SAY)
    list(compiled.stream(SAY, stream_mode="messages"))
    list(compiled.stream(SAY, stream_mode="updates"))
    asyncio.run(compiled.ainvoke(SAY))
    assert found == [False, True, True, False]


def test_there_is_no_run_outside_of_one() -> None:
    """The error says where the middleware belongs."""
    with pytest.raises(RuntimeError, match=r"create_agent\(\.\.\., middleware="):
        read_graph_run()
