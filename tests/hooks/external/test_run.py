"""A run of a framework's agent: its events through our hooks, with the answers carried out."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_core import HookRegistry, HookResult
from amplifier_core.models import ToolResult
from amplifier_core.testing import EventRecorder, MemoryAudit, ScriptedApproval
from amplifier_hooks.coverage import ALL, Coverage
from amplifier_hooks.external.calling import Wanted
from amplifier_hooks.external.handover import Handed, Handover, asked_by_framework
from amplifier_hooks.external.run import enter, inside
from amplifier_hooks.external.verdicts import Reply
from amplifier_hooks.frameworks import Governor, answer, govern

RUN: Any = SimpleNamespace()


async def test_a_question_inside_is_not_one_about_the_call() -> None:
    """The framework asks about its own call; a sub-agent in it has people of its own to ask."""

    async def look(given: dict[str, Any]) -> Any:
        return asked_by_framework.get()

    token = asked_by_framework.set(Handover("X"))
    try:
        assert await enter(RUN, look)({}) is None
        assert asked_by_framework.get() is not None
    finally:
        asked_by_framework.reset(token)


EVENTS = ("prompt:submit", "prompt:answer", "provider:request", "provider:response", "tool:pre")
FULL = Coverage("x", "X", "x", "x", "x", dict.fromkeys(EVENTS, ALL), ())
BARE = Coverage("y", "Y", "y", "y", "y", {}, ())


def want(name: str = "note", handler: Any = lambda given: given) -> Wanted:
    return Wanted(name, {"text": "a"}, "", handler, lambda value: ToolResult(output=value))


class World:
    """Hooks that answer as told, and everything they heard."""

    def __init__(self, *answers: Any) -> None:
        self.registry, self.audit = HookRegistry(), MemoryAudit()
        self.person = ScriptedApproval(*answers)
        self.hooks: Governor = govern(self.registry, approval=self.person, audit=self.audit)

    def answer(self, event: str, result: HookResult) -> EventRecorder:
        heard = EventRecorder(result)
        self.registry.register(event, heard, name="policy")
        return heard


async def test_an_answer_is_judged_and_then_complete() -> None:
    """With the prompt as hooks left it."""
    world = World()
    world.answer("prompt:submit", HookResult(action="modify", data={"prompt": "changed"}))
    complete = world.answer("prompt:complete", HookResult())
    run, _ = await world.hooks.begin(FULL, "hi")
    assert run is not None
    assert (await run.answer("done")).text == "done"
    await run.end()
    assert complete.events[0][1]["prompt"] == "changed"


def test_a_thread_has_every_operation() -> None:
    """Without a loop of its own."""
    world = World()
    told = world.answer("tool:error", HookResult())
    run, verdict = world.hooks.begin_sync(FULL, "hi")
    assert run is not None
    assert verdict.text == "hi"
    assert run.request_sync([{"role": "user", "content": "hi"}], provider="p").allowed
    assert run.review_sync(Reply("said"), provider="p").allowed
    assert run.call_sync(want()).value == {"text": "a"}
    assert run.answer_sync("done", streamed=True).text == "done"
    run.tell_sync("tool:error", {"tool_name": "a", "error": {}})
    run.end_sync()
    assert told.names == ["tool:error"]
    assert [one["body"]["reason"] for one in world.audit.of_type("session_ended")] == ["complete"]


async def test_other_events_are_asked_and_told() -> None:
    """Such as the start of a sub-agent."""
    world = World()
    world.answer("agent:spawn", HookResult(action="deny", reason="alone"))
    run = await world.hooks.open(FULL)
    spawn = {"parent_session_id": "a", "agent_name": "b", "task": "c", "config_override": {}}
    assert not (await run.ask("agent:spawn", spawn)).allowed
    await run.tell("user:notification", {"message": "x"})
    await run.end()


@pytest.mark.parametrize("option", ["Allow", "Deny"])
async def test_the_framework_asks_and_its_answer_counts(option: str) -> None:
    """Each question once; the person named elsewhere is not asked."""
    world, asked = World("Allow"), []
    world.answer("tool:pre", HookResult(action="ask_user", approval_prompt="May it?"))
    run = await world.hooks.open(FULL)

    async def hand_over(handed: Any) -> Any:
        asked.append(handed.prompt)
        return answer(handed.to_payload(), option, by="ana")

    called = await run.call(want(), hand_over)
    assert called.ran is (option == "Allow")
    assert asked == ["May it?"]
    assert world.person.questions == []
    wrong = await run.call(want(), lambda handed: {"option": "Allow", "digest": "no"})
    assert not wrong.ran
    await run.end()


def test_the_framework_asks_in_a_thread() -> None:
    """The same, without a loop."""
    world = World()
    world.answer("tool:pre", HookResult(action="ask_user", approval_prompt="May it?"))
    run = world.hooks.open_sync(FULL)
    called = run.call_sync(want(), lambda handed: answer(handed.to_payload(), "Allow"))
    assert called.ran
    assert not run.call_sync(want(), lambda handed: "Allow").ran
    run.end_sync()


async def test_two_gates_are_handed_over_once_each() -> None:
    """The framework asks two questions, not the first one again after the second."""
    world = World()
    for name in ("first", "second"):
        asking = HookResult(action="ask_user", approval_prompt="May it?")
        world.registry.register("tool:pre", EventRecorder(asking), name=name)
    asked: list[str] = []
    run = await world.hooks.open(FULL)

    def choose(handed: Handed) -> Any:
        asked.append(handed.hook)
        return answer(handed.to_payload(), "Allow")

    assert (await run.call(want(), choose)).ran
    assert asked == ["first", "second"]
    await run.end()


async def test_a_cancelled_call_is_recorded_and_over() -> None:
    """The handler is stopped with it."""
    world, started = World(), asyncio.Event()
    run = await world.hooks.open(FULL)

    async def hang(given: Any) -> None:
        started.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(run.call(want(handler=hang)))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert world.audit.of_type("tool_finished")[0]["body"]["outcome"] == "cancelled"
    await run.end("user_exit")


async def test_a_run_that_has_ended_lets_nothing_out() -> None:
    """Its hooks are gone, so a request, a reply, an answer and a prompt are all refused."""
    world = World()
    run = await world.hooks.open(FULL)
    await run.end()
    await run.end()
    called = await run.call(want())
    assert not called.ran
    assert "has ended" in called.text
    recorded = len(world.audit.records)
    assert not (await run.request([{"role": "user", "content": "hi"}], provider="p")).allowed
    assert not (await run.review(Reply("said"), provider="p")).allowed
    refused = await run.answer("done")
    assert not refused.allowed
    assert "the run has ended" in refused.text
    assert not (await run.submit("more")).allowed
    spawn = {"parent_session_id": "a", "agent_name": "b", "task": "c", "config_override": {}}
    assert not (await run.ask("agent:spawn", spawn)).allowed
    await run.tell("user:notification", {"message": "x"})
    assert len(world.audit.records) == recorded


async def test_a_yes_after_the_end_runs_nothing() -> None:
    """Whoever ends a run while a person thinks has decided."""
    asked, allowed = asyncio.Event(), asyncio.Event()

    async def think(_: Any) -> str:
        asked.set()
        await allowed.wait()
        return "Allow"

    world = World(think)
    ran: list[Any] = []
    world.answer("tool:pre", HookResult(action="ask_user", approval_prompt="May it?"))
    run = await world.hooks.open(FULL)
    task = asyncio.create_task(run.call(want(handler=ran.append)))
    await asked.wait()
    await world.hooks.close()
    allowed.set()
    called = await task
    assert not called.ran
    assert ran == []


async def test_a_question_about_a_result_is_not_handed_over() -> None:
    """The framework would run the tool again to get there; the person named is asked instead."""
    world, ran = World("Allow"), EventRecorder()
    world.answer("tool:post", HookResult(action="ask_user", approval_prompt="Show it?"))
    run = await world.hooks.open(FULL)

    def hand_over(handed: Handed) -> Any:
        raise AssertionError(handed.prompt)

    called = await run.call(want(handler=lambda given: ran("ran", given)), hand_over)
    assert called.untouched
    assert ran.names == ["ran"]
    assert world.person.prompts == ["Show it?"]
    await run.end()


async def test_who_is_cancelled_does_not_stop_the_end() -> None:
    """The end is told and recorded, and the cancellation goes on after it."""
    world, telling, told = World(), asyncio.Event(), asyncio.Event()

    async def wait(event: str, data: Any) -> HookResult:
        telling.set()
        await told.wait()
        return HookResult()

    world.registry.register("session:end", wait)
    run = await world.hooks.open(FULL)
    task = asyncio.create_task(run.end())
    await telling.wait()
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    told.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(world.audit.of_type("session_ended")) == 1


async def test_calls_that_wait_for_one_another_all_run() -> None:
    """A framework decides how many of its calls run at once."""
    run = await World().hooks.open(FULL)
    everybody = asyncio.Barrier(20)

    async def meet(given: Any) -> str:
        await everybody.wait()
        return "met"

    async with asyncio.timeout(30):
        every = await asyncio.gather(*(run.call(want(handler=meet)) for _ in range(20)))
    assert {one.value for one in every} == {"met"}
    await run.end()


async def test_a_handler_is_inside_its_run_until_it_ends() -> None:
    """Not only until it is first waited for; what comes after it is outside again."""

    async def look(given: dict[str, Any]) -> Any:
        return inside.get()

    assert enter(RUN, lambda given: inside.get())({}) is RUN
    assert await enter(RUN, look)({}) is RUN
    assert inside.get() is None


@pytest.mark.parametrize(
    ("coverage", "prompt", "why"),
    [(FULL, 7, "left no text: int"), (BARE, "other", "Y offers no place for it")],
)
async def test_a_prompt_that_cannot_be_sent_as_changed_is_denied(
    coverage: Coverage, prompt: Any, why: str
) -> None:
    """Only a text is a prompt, and not every framework has a place for another."""
    world = World()
    world.answer("prompt:submit", HookResult(action="modify", data={"prompt": prompt}))
    run, verdict = await world.hooks.begin(coverage, "hi")
    assert run is None
    assert why in verdict.text


def test_a_call_from_a_thread_does_not_wait_for_its_own_loop() -> None:
    """It would wait for ever, and says what to do instead; a loop that was closed is no matter."""
    world = World()

    async def begin() -> Any:
        run = await world.hooks.open(FULL)
        with pytest.raises(RuntimeError, match="asynchronous entry point"):
            run.call_sync(want())
        return run

    run = asyncio.run(begin())
    assert run.call_sync(want()).ran
    run.end_sync()
