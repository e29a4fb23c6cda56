"""Which invocations are under way, and when they are over."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("google.adk")

from google.adk.runners import InMemoryRunner

from amplifier_hooks.coverage import GOOGLE_ADK
from amplifier_hooks.external.run import Run
from amplifier_hooks.frameworks.google_adk import AmplifierPlugin
from amplifier_hooks.frameworks.google_adk.plugin import Invocations
from tests.adapters.drivers.driver import Ran
from tests.adapters.drivers.google_adk import _Agent, _ask
from tests.adapters.stage import Stage, call, use


class Context:
    """Stands for the context of an invocation."""

    def __init__(self) -> None:
        self.invocation_id = "i1"
        self.is_aborted = False


async def begin(stage: Stage) -> tuple[Invocations, Any, Run]:
    """An invocation with a run behind it."""
    run = await stage.hooks.open(GOOGLE_ADK)
    invocations, context = Invocations(), Context()
    invocations.add(context, run, "")  # type: ignore[arg-type]
    return invocations, context, run


async def test_an_invocation_is_found_until_it_ends(stage: Stage) -> None:
    """And its run ends once."""
    stage.listen("session:end")
    invocations, context, run = await begin(stage)
    assert invocations.find("i1") is not None
    await invocations.end(context.invocation_id, "complete")
    await invocations.end(context.invocation_id, "complete")
    assert invocations.find("i1") is None
    assert run.has_ended
    assert len(stage.heard.events) == 1


async def test_all_are_ended_with_the_runner(stage: Stage) -> None:
    """A runner that is closed leaves no session open."""
    invocations, _, run = await begin(stage)
    await invocations.end_all("error")
    assert run.has_ended


async def test_an_invocation_that_nobody_holds_is_ended(stage: Stage) -> None:
    """Somebody stopped reading its events and went on."""
    ended = asyncio.Event()
    stage.registry.register("session:end", lambda event, data: ended.set(), name="ears")
    invocations, context, run = await begin(stage)
    del context
    await asyncio.wait_for(ended.wait(), 60)
    assert run.has_ended
    assert invocations.find("i1") is None


async def test_an_invocation_ends_with_its_task(stage: Stage) -> None:
    """A cancelled runner tells nobody."""
    kept: list[Any] = []

    async def work() -> None:
        kept.append(await begin(stage))
        await asyncio.Event().wait()

    ended = asyncio.Event()
    stage.registry.register("session:end", lambda event, data: ended.set(), name="ears")
    task = asyncio.create_task(work())
    while not kept:
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait_for(ended.wait(), 60)
    assert kept[0][2].has_ended


async def test_an_aborted_invocation_waits_for_nothing(stage: Stage) -> None:
    """A yes from then on runs nothing."""
    invocations, context, _ = await begin(stage)
    invocation = invocations.find("i1")
    assert invocation is not None
    assert invocation.is_alive()
    context.is_aborted = True
    assert not invocation.is_alive()


async def test_the_time_of_a_request_is_that_of_its_agent(stage: Stage) -> None:
    """Agents side by side do not share a clock; what was not started took no time."""
    invocations, _context, _ = await begin(stage)
    invocation = invocations.find("i1")
    assert invocation is not None
    invocation.start_request("left")
    assert invocation.measure_request("left") >= 0
    assert invocation.measure_request("right") == 0


async def test_a_stream_that_nobody_reads_to_its_end_was_stopped(stage: Stage) -> None:
    """ADK calls that a clean completion; the trail says what happened."""
    ran = Ran()
    agent = _Agent(ran, use(call("wipe", path="/tmp/x")))
    runner = InMemoryRunner(agent=agent.made, plugins=[AmplifierPlugin(stage.hooks)])
    session = await runner.session_service.create_session(app_name=runner.app_name, user_id="u")
    events = runner.run_async(user_id="u", session_id=session.id, new_message=_ask("Do it."))
    await anext(events)
    await events.aclose()
    assert [one["body"]["reason"] for one in stage.of_type("session_ended")] == ["user_exit"]
    assert ran.calls == []
