"""Questions: people are asked before a call, in every framework."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from amplifier_core import HookResult
from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion
from amplifier_core.utils import describe_error
from amplifier_hooks.frameworks import answer
from tests.adapters.drivers.driver import Driver
from tests.adapters.stage import (
    Stage,
    ask,
    attempt,
    call,
    change_input,
    run_in_thread,
    use,
    wait_for_ever,
)

WIPE = use(call("wipe", path="/tmp/x"))


async def test_a_yes_lets_the_call_run(driver: Driver, stage: Stage) -> None:
    """The person sees exactly what will run, and it runs once."""
    stage.answer("tool:pre", change_input(path="/tmp/y"), tool="wipe", name="changer", priority=-5)
    stage.answer("tool:pre", ask(), tool="wipe")
    stage.ask_person("Allow")
    ran = await driver.run(stage.hooks, WIPE)
    assert ran.calls == [("wipe", {"path": "/tmp/y"})]
    assert [one.tool_input for one in stage.person.questions] == [{"path": "/tmp/y"}]
    assert "wiped /tmp/y" in ran.requests[-1]


async def test_a_no_keeps_it_from_running(driver: Driver, stage: Stage) -> None:
    """The model reads that somebody said no."""
    stage.answer("tool:pre", ask(), tool="wipe")
    stage.ask_person(ApprovalAnswer("Deny", by="ana", comment="use the trash"))
    ran = await driver.run(stage.hooks, WIPE)
    assert ran.calls == []
    assert "use the trash" in ran.requests[-1]


async def test_nobody_answers_in_time(driver: Driver, stage: Stage) -> None:
    """Silence is a no."""
    stage.answer("tool:pre", ask(approval_timeout=0.3), tool="wipe")
    stage.ask_person(wait_for_ever)
    ran = await driver.run(stage.hooks, WIPE)
    assert ran.calls == []
    assert "policy" in ran.requests[-1]


@pytest.mark.parametrize("second", ["Allow", "Deny"])
async def test_two_gates_must_both_open(driver: Driver, stage: Stage, second: str) -> None:
    """Each hook that asks gets an answer; one no is enough."""
    stage.answer("tool:pre", ask("First?"), tool="wipe", name="first")
    stage.answer("tool:pre", ask("Second?"), tool="wipe", name="second")
    stage.ask_person("Allow", second)
    ran = await driver.run(stage.hooks, WIPE)
    assert stage.person.prompts[:2] == ["First?", "Second?"]
    assert len(ran.ran("wipe")) == (1 if second == "Allow" else 0)


async def test_an_edited_input_is_what_runs(driver: Driver, stage: Stage) -> None:
    """A person may change the call before allowing it."""
    stage.answer("tool:pre", ask(), tool="wipe")
    edited = ApprovalAnswer("Allow", edited_input={"path": "/tmp/z"})
    stage.ask_person(edited, "Allow")
    ran = await driver.run(stage.hooks, WIPE)
    assert ran.calls == [("wipe", {"path": "/tmp/z"})]


async def test_a_question_holds_up_nothing_else(driver: Driver, stage: Stage) -> None:
    """While a person thinks about one call, another run goes on to its end."""
    asked, decided = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    async def think(_: ApprovalQuestion) -> str:
        loop.call_soon_threadsafe(asked.set)
        while not decided.is_set():
            await asyncio.sleep(0.01)
        return "Allow"

    stage.answer("tool:pre", ask(), tool="wipe")
    stage.ask_person(think)
    hooks = stage.hooks
    waiting = asyncio.create_task(driver.run(hooks, WIPE))
    await asyncio.wait_for(asked.wait(), 60)
    other = await asyncio.wait_for(driver.run(hooks, use(call("note", text="b"))), 60)
    assert other.ran("note") == [{"text": "b"}]
    assert not waiting.done()
    decided.set()
    assert (await waiting).ran("wipe") == [{"path": "/tmp/x"}]


async def test_a_yes_after_the_run_was_cancelled_runs_nothing(driver: Driver, stage: Stage) -> None:
    """A person who decides too late decides about nothing."""
    asked, decided = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    async def think(_: ApprovalQuestion) -> str:
        loop.call_soon_threadsafe(asked.set)
        while not decided.is_set():
            await asyncio.sleep(0.01)
        return "Allow"

    stage.answer("tool:pre", ask(), tool="wipe")
    stage.listen("tool:post")
    stage.ask_person(think)
    waiting = asyncio.create_task(driver.run(stage.hooks, WIPE))
    await asyncio.wait_for(asked.wait(), 60)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    decided.set()
    await asyncio.sleep(0.3)
    assert not [one for one in stage.of_type("tool_started") if one["body"]["tool"] == "wipe"]
    assert stage.heard.names == []


async def test_a_question_in_the_synchronous_entry_point(driver: Driver, stage: Stage) -> None:
    """A thread waits for the person and then runs the tool itself."""
    stage.answer("tool:pre", ask(), tool="wipe")
    stage.ask_person("Allow")
    ran = await run_in_thread(driver, stage, WIPE)
    assert ran.calls == [("wipe", {"path": "/tmp/x"})]


@pytest.mark.parametrize("option", ["Allow", "Deny"])
async def test_a_question_is_handed_over_to_the_framework(
    driver: Driver, stage: Stage, option: str
) -> None:
    """The framework's own interrupt asks, and its answer counts; other calls run once."""
    shown: list[dict[str, Any]] = []

    def choose(payload: dict[str, Any]) -> dict[str, Any]:
        shown.append(payload)
        return answer(payload, option, by="ana")

    stage.answer("tool:pre", ask(), tool="wipe")
    script = use(call("note", 1, text="a"), call("wipe", 2, path="/tmp/x"))
    ran = await driver.run_interrupted(stage.hooks, script, choose)
    assert [one["tool_input"] for one in shown] == [{"path": "/tmp/x"}]
    assert ran.ran("wipe") == ([{"path": "/tmp/x"}] if option == "Allow" else [])
    assert ran.ran("note") == [{"text": "a"}]
    decided = [one["body"] for one in stage.of_type("approval_decided")]
    assert decided[-1]["by"] == "ana", decided


@pytest.mark.parametrize("yes", [True, False], ids=["yes", "no"])
async def test_the_frameworks_own_answer_counts(driver: Driver, stage: Stage, yes: bool) -> None:
    """Who answers as the framework has it, and knows nothing of us, has answered what was shown."""
    asked: list[str] = []

    def choose(payload: dict[str, Any]) -> Any:
        asked.append(payload["prompt"])
        return driver.own_answers[yes]

    stage.answer("tool:pre", ask(), tool="wipe")
    ran = await driver.run_interrupted(stage.hooks, WIPE, choose)
    assert asked == ["May it?"]
    assert ran.calls == ([("wipe", {"path": "/tmp/x"})] if yes else [])
    decided = [one["body"]["allowed"] for one in stage.of_type("approval_decided")]
    assert decided == [yes] or (not yes and not decided)  # some keep a no to themselves


async def test_the_frameworks_own_yes_is_bound_to_what_was_shown(
    driver: Driver, stage: Stage
) -> None:
    """It has no digest: what a hook makes of the call afterwards was not shown."""
    first = iter(["/tmp/1"])
    shown: list[dict[str, Any]] = []

    def choose(payload: dict[str, Any]) -> Any:
        shown.append(payload["tool_input"])
        return driver.own_answers[len(shown) == 1]

    def change(data: dict[str, Any]) -> HookResult:
        return change_input(path=next(first, "/tmp/2"))(data)

    stage.answer("tool:pre", change, tool="wipe", name="changer", priority=-5)
    stage.answer("tool:pre", ask(), tool="wipe", name="gate")
    ran, _ = await attempt(driver.run_interrupted(stage.hooks, WIPE, choose))
    assert shown[0] == {"path": "/tmp/1"}
    assert ran.ran("wipe") in ([], shown[:1])


async def test_an_answer_to_something_else_runs_nothing(driver: Driver, stage: Stage) -> None:
    """The answer to an interrupt is bound to the digest of what was shown."""

    def choose(payload: dict[str, Any]) -> dict[str, Any]:
        return {**answer(payload, "Allow", by="ana"), "digest": "0" * 64}

    stage.answer("tool:pre", ask(), tool="wipe")
    ran, error = await attempt(driver.run_interrupted(stage.hooks, WIPE, choose))
    assert ran.calls == [], "" if error is None else describe_error(error)
    assert not [one for one in stage.of_type("tool_started") if one["body"]["tool"] == "wipe"]
