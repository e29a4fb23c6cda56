"""Calls of a framework that tells before and after them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError
from typing import Any

import pytest

from amplifier_core import HookResult
from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion
from amplifier_hooks.coverage import ALL, Coverage
from amplifier_hooks.external.half_calls import HalfCalls
from amplifier_hooks.external.handover import Handed
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.session import NOTHING_RUNS
from amplifier_hooks.external.verdicts import UNCHANGED
from amplifier_hooks.frameworks import Governor, answer
from tests.adapters.stage import Stage, ask, change_input, change_output

COVERAGE = Coverage(
    name="halves",
    framework="Halves",
    package="halves",
    module="halves",
    attach="halves",
    events={"tool:pre": ALL, "tool:post": ALL},
    unseen=(),
)
DENY = HookResult(action="deny", reason="not on my machine")
RESULT = {"success": True, "output": "wiped", "error": None}


@pytest.fixture
def stage() -> Iterator[Stage]:
    """Hooks, people, a screen and a trail."""
    made = Stage()
    yield made
    made.close()


def tell(event: str = "tool:pre", path: str = "/x", **more: Any) -> Incoming:
    """What the framework tells of a call."""
    data = {"tool_name": "wipe", "tool_input": {"path": path}, "tool_call_id": "c1", **more}
    return Incoming(event, data, event, "", cwd="/elsewhere", call_id="c1")


async def begin(hooks: Governor) -> HalfCalls:
    """The calls of a run."""
    return HalfCalls(await hooks.open(COVERAGE))


async def test_both_halves_are_one_call(stage: Stage) -> None:
    """Told before and after under one id, started and finished in the trail."""
    stage.listen("tool:pre", "tool:post")
    calls = await begin(stage.hooks)
    verdict = await calls.before(tell())
    assert verdict.decision is None
    assert verdict.tool_input is None
    done = await calls.after(tell("tool:post", tool_result=RESULT))
    assert done.output is UNCHANGED
    assert [data["tool_call_id"] for _, data in stage.heard.events] == ["c1", "c1"]
    assert [one["body"]["id"] for one in stage.of_type("tool_started")] == ["c1"]
    assert [one["body"]["outcome"] for one in stage.of_type("tool_finished")] == ["returned"]


async def test_a_denied_call_is_not_started(stage: Stage) -> None:
    """The verdict has the reason, and who gave it."""
    stage.answer("tool:pre", DENY)
    verdict = await (await begin(stage.hooks)).before(tell())
    assert verdict.decision == "deny"
    assert verdict.reason == "Operation denied by policy: not on my machine"
    assert stage.of_type("tool_started") == []


async def test_input_and_output_are_changed(stage: Stage) -> None:
    """Each half takes what hooks left."""
    stage.answer("tool:pre", change_input(path="/y"))
    stage.answer("tool:post", change_output("gone"))
    calls = await begin(stage.hooks)
    assert (await calls.before(tell())).tool_input == {"path": "/y"}
    done = await calls.after(tell("tool:post", "/y", tool_result=RESULT))
    assert done.output == "gone"
    assert stage.of_type("digest_mismatch") == []


async def test_another_input_than_the_judged_one_is_recorded(stage: Stage) -> None:
    """What something behind the hooks made of a call is on the screen and in the trail."""
    calls = await begin(stage.hooks)
    await calls.before(tell())
    await calls.after(tell("tool:post", "/etc", tool_result=RESULT))
    assert [one["body"]["id"] for one in stage.of_type("digest_mismatch")] == ["c1"]
    assert any("another input" in text for text, _, _ in stage.display.messages)


async def test_a_failed_call_is_told(stage: Stage) -> None:
    """As a tool that raised."""
    stage.listen("tool:error", "tool:post")
    calls = await begin(stage.hooks)
    await calls.before(tell())
    await calls.fail(tell("tool:error", error={"type": "ToolError", "message": "boom"}))
    assert stage.heard.names == ["tool:error"]
    assert [one["body"]["outcome"] for one in stage.of_type("tool_finished")] == ["raised"]


async def test_an_allowed_call_can_be_given_up(stage: Stage) -> None:
    """The trail has its end, and nobody is told of a result."""
    stage.listen("tool:post", "tool:error")
    calls = await begin(stage.hooks)
    await calls.before(tell())
    calls.give_up(tell())
    calls.give_up(tell())
    assert [one["body"]["outcome"] for one in stage.of_type("tool_finished")] == ["cancelled"]
    assert stage.heard.names == []


async def test_injections_are_taken_once(stage: Stage) -> None:
    """For the answer to the framework, whether they are for good or for one request."""
    for number, ephemeral in enumerate((True, False)):
        said = HookResult(
            action="inject_context", context_injection=f"text {number}", ephemeral=ephemeral
        )
        stage.answer("tool:pre", said, name=f"hook {number}")
    calls = await begin(stage.hooks)
    await calls.before(tell())
    assert sorted(calls.take_texts()) == ["text 0", "text 1"]
    assert calls.take_texts() == ()


async def test_what_the_person_said_comes_along(stage: Stage) -> None:
    """The framework puts it where the model reads it."""
    stage.answer("tool:pre", ask())
    stage.ask_person(ApprovalAnswer("Allow", comment="only this once"))
    verdict = await (await begin(stage.hooks)).before(tell())
    assert verdict.decision == "allow"
    assert "only this once" in verdict.context[0]


async def test_calls_are_counted(stage: Stage) -> None:
    """For the figures at the end of the session."""
    stage.listen("session:end")
    calls = await begin(stage.hooks)
    await calls.before(tell())
    await calls.run.end()
    assert stage.heard.events[0][1]["stats"]["tool_invocations"] == 1


async def test_nothing_starts_after_the_end(stage: Stage) -> None:
    """A run that is over has no more calls."""
    calls = await begin(stage.hooks)
    await calls.run.end()
    verdict = await calls.before(tell())
    assert (verdict.decision, verdict.reason) == ("deny", NOTHING_RUNS)


async def test_a_thread_has_the_same_halves(stage: Stage) -> None:
    """Without a loop: judged, finished, failed."""
    stage.answer("tool:pre", change_input(path="/y"))

    def work() -> list[Any]:
        calls = HalfCalls(stage.hooks.open_sync(COVERAGE))
        first = calls.before_sync(tell())
        calls.after_sync(tell("tool:post", "/y", tool_result=RESULT))
        calls.before_sync(tell())
        calls.fail_sync(tell("tool:error", "/y", error={"type": "E", "message": "boom"}))
        return [first.tool_input]

    assert await asyncio.to_thread(work) == [{"path": "/y"}]
    outcomes = [one["body"]["outcome"] for one in stage.of_type("tool_finished")]
    assert outcomes == ["returned", "raised"]


async def test_a_call_that_nobody_waits_for_is_not_started(stage: Stage) -> None:
    """Whoever gives up a run takes its questions back."""
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def think(_: ApprovalQuestion) -> str:
        loop.call_soon_threadsafe(asked.set)
        await asyncio.Event().wait()
        return "Allow"

    stage.answer("tool:pre", ask())
    stage.ask_person(think)
    hooks = stage.hooks
    calls = await asyncio.to_thread(lambda: HalfCalls(hooks.open_sync(COVERAGE)))
    waiting = asyncio.create_task(asyncio.to_thread(calls.before_sync, tell()))
    await asyncio.wait_for(asked.wait(), 60)
    calls.abandon()
    with pytest.raises((CancelledError, asyncio.CancelledError)):
        await waiting
    assert stage.of_type("tool_started") == []


async def test_a_call_that_is_just_beginning_is_given_up_too(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Abandoned between the start of a call and the wait for it, a run leaves nobody waiting."""
    asked = threading.Event()

    async def think(_: ApprovalQuestion) -> str:
        asked.set()
        await asyncio.Event().wait()
        return "Allow"

    stage.answer("tool:pre", ask())
    stage.ask_person(think)
    calls = await asyncio.to_thread(lambda hooks: HalfCalls(hooks.open_sync(COVERAGE)), stage.hooks)
    start = asyncio.run_coroutine_threadsafe
    giving_up: list[threading.Thread] = []

    def start_late(work: Any, loop: Any) -> Any:
        begun = start(work, loop)
        if work.__name__ == "_before":
            assert asked.wait(30)
            giving_up.append(threading.Thread(target=calls.abandon))
            giving_up[0].start()
            giving_up[0].join(0.2)
        return begun

    monkeypatch.setattr(asyncio, "run_coroutine_threadsafe", start_late)
    with pytest.raises((CancelledError, asyncio.CancelledError)):
        await asyncio.wait_for(asyncio.to_thread(calls.before_sync, tell()), 30)
    giving_up[0].join(30)
    assert calls.before_sync(tell()).decision == "deny"
    assert stage.of_type("tool_started") == []


async def test_a_question_is_handed_over(stage: Stage) -> None:
    """Without an answer the call is deferred; with one, each gate is asked once."""
    stage.answer("tool:pre", ask("First?"), name="first")
    stage.answer("tool:pre", ask("Second?"), name="second")
    known: dict[str, Any] = {}
    shown: list[Handed] = []

    def find(handed: Handed) -> Any:
        if handed.prompt not in known:
            shown.append(handed)
        return known.get(handed.prompt)

    calls = await begin(stage.hooks)
    for _ in range(2):
        verdict = await calls.before(tell(), find)
        assert verdict.decision == "defer"
        known[shown[-1].prompt] = answer(shown[-1].to_payload(), "Allow", by="ana")
    assert (await calls.before(tell(), find)).decision == "allow"
    assert [one.prompt for one in shown] == ["First?", "Second?"]


async def test_an_answer_to_something_else_denies(stage: Stage) -> None:
    """It is bound to what was shown."""
    stage.answer("tool:pre", ask())
    calls = await begin(stage.hooks)

    def find(handed: Handed) -> Any:
        return {**answer(handed.to_payload(), "Allow"), "digest": "0" * 64}

    verdict = await calls.before(tell(), find)
    assert verdict.decision == "deny"
    assert "something else" in str(verdict.reason)


async def test_a_yes_after_the_end_starts_nothing(stage: Stage) -> None:
    """Whoever ends a run while a person thinks has decided."""
    asked, allowed = asyncio.Event(), asyncio.Event()

    async def think(_: ApprovalQuestion) -> str:
        asked.set()
        await allowed.wait()
        return "Allow"

    stage.answer("tool:pre", ask())
    stage.ask_person(think)
    calls = await begin(stage.hooks)
    waiting = asyncio.create_task(calls.before(tell()))
    await asked.wait()
    await calls.run.end()
    allowed.set()
    assert (await waiting).decision == "deny"
