"""Injections: what hooks add to the conversation of a framework."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core import HookResult
from tests.adapters.drivers.driver import Call, Driver, Step
from tests.adapters.stage import DONE, Stage, call, use

THREE: list[Step] = [[call("note", 1, text="a")], [call("note", 2, text="b")], DONE]


def inject(text: str, **more: Any) -> HookResult:
    """A hook's answer: a text for the agent."""
    return HookResult(action="inject_context", context_injection=text, **more)


def once(result: HookResult) -> Any:
    """A hook that gives an answer the first time only."""
    left = [result]
    return lambda data: left.pop() if left else HookResult()


async def test_an_injection_for_one_request(driver: Driver, stage: Stage) -> None:
    """An ephemeral injection is in the next request and in no other."""
    stage.answer("tool:post", once(inject("Lint: line 3", ephemeral=True)))
    ran = await driver.run(stage.hooks, list(THREE))
    assert ["Lint: line 3" in request for request in ran.requests] == [False, True, False]


@pytest.mark.parametrize("trail", [True, False], ids=["recorded", "unrecorded"])
async def test_an_injection_behind_the_last_result(
    driver: Driver, stage: Stage, trail: bool
) -> None:
    """It is put behind what the tool returned, which stays; also where nobody reads requests."""
    if not trail:
        stage.audit = None
    behind = inject("Lint: line 3", ephemeral=True, append_to_last_tool_result=True)
    stage.answer("tool:post", once(behind))
    ran = await driver.run(stage.hooks, list(THREE))
    assert ["Lint: line 3" in request for request in ran.requests] == [False, True, False]
    assert "noted a" in ran.requests[1]


async def test_an_injection_for_good(driver: Driver, stage: Stage) -> None:
    """Any other injection is in all later requests, once in each."""
    stage.answer("tool:post", once(inject("Lint: line 3")))
    ran = await driver.run(stage.hooks, list(THREE))
    assert [request.count("Lint: line 3") for request in ran.requests] == [0, 1, 1]


async def test_an_injection_for_good_stays_in_the_thread(driver: Driver, stage: Stage) -> None:
    """Where the framework keeps a thread, the next run has it, once; one for a request has gone."""
    stage.answer("tool:post", once(inject("Lint: line 3")), name="lint")
    stage.answer("tool:post", once(inject("It is late.", ephemeral=True)), name="clock")
    if type(driver).run_turns is Driver.run_turns:
        pytest.skip(f"its runs share no thread: a text stays {driver.coverage.injections_stay}")
    ran = await driver.run_turns(stage.hooks, [use(call("note", text="a")), [DONE]])
    assert [one.count("It is late.") for one in ran.requests] == [0, 1, 0]
    stays = 1 if driver.coverage.injections_stay == "in the thread" else 0
    assert [one.count("Lint: line 3") for one in ran.requests] == [0, 1, stays]


async def test_an_injection_at_the_prompt(driver: Driver, stage: Stage) -> None:
    """What a hook adds at the prompt is in the first request."""
    stage.answer("prompt:submit", inject("It is Monday."))
    ran = await driver.run(stage.hooks, [DONE])
    assert "It is Monday." in ran.requests[0]


async def test_an_injection_at_the_request(driver: Driver, stage: Stage) -> None:
    """What a hook adds at the request is part of it."""
    stage.answer("provider:request", inject("Only two files left.", ephemeral=True))
    ran = await driver.run(stage.hooks, [DONE])
    assert ran.requests[0].count("Only two files left.") == 1


async def test_an_injection_of_one_of_parallel_calls(driver: Driver, stage: Stage) -> None:
    """Every result is in its place, and the injection behind them."""
    stage.answer("tool:post", once(inject("Lint: line 3")))
    script = use(call("note", 1, text="a"), call("note", 2, text="b"))
    ran = await driver.run(stage.hooks, script)
    assert sorted(one["text"] for one in ran.ran("note")) == ["a", "b"]
    last = ran.requests[-1]
    assert last.count("Lint: line 3") == 1
    assert {"noted a", "noted b"} == {one for one in ("noted a", "noted b") if one in last}


async def test_injections_have_a_budget(driver: Driver, stage: Stage) -> None:
    """What is over the limit of one injection is dropped, and somebody is told."""
    stage.answer("tool:post", inject("x" * 200_000), name="chatty")
    ran = await driver.run(stage.hooks, use(Call("note", {"text": "a"})))
    assert "xxxx" not in ran.requests[-1]
    assert [one["hook"] for one in stage.of_type("injection_dropped")] == ["chatty"]
    assert any("chatty" in source for _, _, source in stage.display.messages)
