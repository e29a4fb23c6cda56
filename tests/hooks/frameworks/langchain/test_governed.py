"""How a run ends, and that it does not end while something is under way."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("langchain")

from amplifier_core import HookResult
from amplifier_hooks.frameworks.langchain.runs import OVER, Governed, GraphRun, read_reason
from tests.adapters.stage import Stage


def make(stage: Stage) -> Governed:
    """A run of a graph that nobody executes."""
    config: dict[str, Any] = {"configurable": {}, "metadata": {"lc_agent_name": "bob"}}
    return Governed(stage.hooks, GraphRun(config, object()))


@pytest.mark.parametrize(
    ("error", "has_answered", "reason"),
    [
        (None, True, "complete"),
        (None, False, "error"),
        (ValueError(), False, "error"),
        (TimeoutError(), False, "timeout"),
        (asyncio.CancelledError(), False, "user_exit"),
        (GeneratorExit(), False, "user_exit"),
        (KeyboardInterrupt(), True, "user_exit"),
    ],
)
def test_how_a_run_ended(error: Any, has_answered: bool, reason: str) -> None:
    """In our words."""
    assert read_reason(error, has_answered=has_answered) == reason


async def test_a_run_does_not_end_while_something_is_under_way(stage: Stage) -> None:
    """The last one to finish ends it."""
    stage.listen("session:end")
    governed = make(stage)
    await governed.begin("hi")
    async with governed.work():
        async with governed.work():
            assert governed.stop(TimeoutError()) is None
        assert stage.heard.names == []
    assert [data["reason"] for _, data in stage.heard.events] == ["timeout"]


def test_a_run_in_a_thread_does_not_end_while_something_is_under_way(stage: Stage) -> None:
    """The same without a loop."""
    stage.listen("session:end")
    governed = make(stage)
    governed.begin_sync("hi")
    with governed.work_sync() as run:
        assert run is not None
        assert governed.stop(None) is None
    assert [data["reason"] for _, data in stage.heard.events] == ["error"]


async def test_nothing_begins_in_a_run_that_has_ended(stage: Stage) -> None:
    """Whoever comes late reads that."""
    governed = make(stage)
    await governed.begin("hi")
    reason = governed.stop(None)
    assert reason == "error"
    await governed.end(reason)
    async with governed.work() as run:
        assert run is None
    assert governed.refusal == OVER
    assert not governed.is_open


async def test_parallel_calls_open_one_run(stage: Stage) -> None:
    """As after a resumption, when no prompt was submitted here."""
    stage.listen("session:start", "prompt:submit")
    governed = make(stage)
    runs = await asyncio.gather(*(governed.find_run() for _ in range(8)))
    assert len({id(run) for run in runs}) == 1
    assert stage.heard.names == ["session:start"]
    await governed.end("complete")


async def test_a_refused_session_is_not_asked_for_again(stage: Stage) -> None:
    """Every call of the run reads the same reason."""
    stage.answer("session:start", HookResult(action="deny", reason="not today"))
    governed = make(stage)
    assert await governed.find_run() is None
    assert await asyncio.to_thread(governed.find_run_sync) is None
    assert "not today" in governed.refusal
    assert len(stage.of_type("session_started")) == 1
