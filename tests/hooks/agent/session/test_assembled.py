"""A session that goes on while hooks want it to, and closes what was opened for it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError, SessionStateError
from amplifier_core.models import HookResult
from amplifier_core.testing import EventRecorder, RecordingDisplay
from amplifier_hooks.agent.session.assembled import MOST_CONTINUATIONS, AssembledSession
from tests.support.hooks import says
from tests.support.project import Project, messages_of, script
from tests.support.sessions import plan_for

STOP = """#!/usr/bin/env bash
cat > stdin.json
test -f tested || { touch tested; echo "run the tests first" >&2; exit 2; }
"""


async def test_a_stop_hook_keeps_the_agent_working(project: Project) -> None:
    """A hook that refuses the stop gives the reason as the next prompt."""
    project.write("stop.sh", STOP)
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": "bash stop.sh"}]}]}
    replies = script("I am done.", {"expect": "run the tests first", "text": "Tests pass."})
    hook = {"module": "hooks-shell", "config": {"hooks": hooks}}
    async with project.session(project.bundle(hooks=[hook], providers=replies)) as session:
        assert await session.execute("fix it") == "Tests pass."
    assert json.loads((project.folder / "stdin.json").read_text())["stop_hook_active"] is True


async def test_stop_hooks_cannot_keep_it_working_for_ever(project: Project) -> None:
    """After eight refusals in a row the agent may stop."""
    stubborn = [{"hooks": [{"command": "echo again >&2; exit 2"}]}]
    hook = {"module": "hooks-shell", "config": {"hooks": {"Stop": stubborn}}}
    replies = script("done", when_done="repeat")
    async with project.session(project.bundle(hooks=[hook], providers=replies)) as session:
        await session.execute("fix it")
        prompts = [m["content"] for m in session.context.get_messages() if m["role"] == "user"]
    assert prompts == ["fix it", *["again"] * 8]


@pytest.mark.parametrize("loop", ["loop-basic", "loop-streaming"])
async def test_a_hook_that_denies_the_end_has_the_agent_go_on(loop: str) -> None:
    """Its reason is the next prompt, at most eight times; then it is said that the agent stops."""
    screen = RecordingDisplay()
    replies = [{"text": "done"}] * (MOST_CONTINUATIONS + 1)
    session = AssembledSession(plan_for(replies, loop=loop), display_system=screen)
    coordinator = session.coordinator
    coordinator.register_capability("session.keep_working", session.keep_working)
    coordinator.hooks.register(
        "orchestrator:complete", says("deny", reason="the tests fail"), name="strict"
    )
    async with session:
        await session.execute("go")
        assert messages_of(session, "user") == ["go", *["the tests fail"] * MOST_CONTINUATIONS]
        assert coordinator.hooks.count()["strict"].ignored == {"deny": 1}
    (shown,) = [text for text, _, source in screen.messages if source == "hook:strict"]
    assert shown.endswith("hooks kept the agent working 8 times in a row; it stops now")


async def test_a_sub_agent_of_ours_is_not_the_agent() -> None:
    """What is denied at its end does not keep the agent itself working."""
    session = AssembledSession(plan_for([{"text": "one"}]))
    assert session.keep_working("go on", "agent:complete") is not None


async def test_several_reasons_to_go_on_are_one_prompt() -> None:
    """Whatever hooks want done before the end is done together, in the order they said it."""
    session = AssembledSession(plan_for([{"text": "one"}, {"text": "two"}]))

    def want_more(event: str, data: dict[str, Any]) -> None:
        if data["prompt"] == "go":
            session.keep_working("run the tests")
            session.keep_working("update the docs")

    session.coordinator.hooks.register("prompt:complete", want_more)
    async with session:
        assert await session.execute("go") == "two"
        assert messages_of(session, "user") == ["go", "run the tests\n\nupdate the docs"]


async def test_a_wish_from_outside_a_turn_does_not_start_one() -> None:
    """A reason that was given before the prompt belongs to no turn."""
    session = AssembledSession(plan_for([{"text": "one"}], loop="loop-streaming"))
    async with session:
        session.keep_working("too early")
        await session.execute("go")
        assert messages_of(session, "user") == ["go"]


async def test_an_interrupted_turn_is_not_continued() -> None:
    """Whoever stops the agent has the last word, not a hook."""
    session = AssembledSession(plan_for([{"text": "one"}, {"text": "two"}]))

    async def stop(event: str, data: dict[str, Any]) -> None:
        session.keep_working("go on")
        await session.coordinator.request_cancel()

    session.coordinator.hooks.register("provider:response", stop)
    async with session:
        await session.execute("go")
        assert session.status == "interrupted"
        assert messages_of(session, "user") == ["go"]


async def test_what_was_opened_for_it_is_closed_after_its_end_and_once() -> None:
    """The trail is closed last, so that the end itself is on record."""
    order: list[str] = []

    async def close() -> None:
        order.append("closed")

    session = AssembledSession(plan_for([]), owned=[close])
    session.coordinator.hooks.register("session:end", lambda event, data: order.append("end"))
    async with session:
        assert order == []
    await session.cleanup()
    assert order == ["end", "closed"]


async def test_failures_are_the_modules_that_were_left_out() -> None:
    """Each with its reason; those that work are not among them."""
    session = AssembledSession(
        plan_for([], tool_modules=["tool-nonsense"], hooks=["hooks-datetime"])
    )
    async with session:
        [failure] = session.failures
    assert failure.startswith("Unknown module 'tool-nonsense'; have context-simple, ")


@pytest.mark.parametrize("required", [True, None])
async def test_a_hook_that_may_be_a_guard_is_not_left_out(required: bool | None) -> None:
    """Nobody knows what it would have done, unless its entry says that it may be missing."""
    entry = {"module": "hooks-nonsense", "required": required}
    with pytest.raises(ModuleLoadError, match="hooks-nonsense"):
        await AssembledSession(plan_for([], hooks=[entry])).initialize()


async def test_a_guard_that_a_hook_adds_to_the_plan_must_load_too() -> None:
    """At session:start the plan may be changed; what is added there has the same rule."""
    session = AssembledSession(plan_for([]))

    async def add(event: str, data: dict[str, Any]) -> HookResult:
        plan = {**data["mount_plan"], "hooks": ["hooks-nonsense"]}
        return HookResult(action="modify", data={**data, "mount_plan": plan})

    session.coordinator.hooks.register("session:start", add)
    with pytest.raises(ModuleLoadError, match="hooks-nonsense"):
        await session.start()


async def test_the_state_leaves_the_session_scrubbed() -> None:
    """What is saved has passed the scrubbers; the conversation itself goes on unchanged."""
    session = AssembledSession(plan_for([{"text": "done"}]))
    async with session:
        session.coordinator.register_scrubber(lambda text: text.replace("hunter2", "***"))
        await session.execute("it is hunter2")
        session.coordinator.session_state["note"] = {"deep": ["hunter2"]}
        state = await session.state()
    assert "hunter2" not in json.dumps(state)
    assert state["session_state"] == {"note": {"deep": ["***"]}}
    assert state["messages"][0]["content"] == "it is ***"


async def test_an_error_leaves_the_session_scrubbed() -> None:
    """Its own text and that of its causes: applications print them."""

    class Broken:
        name = "broken"

        async def complete(self, request: Any, **more: Any) -> Any:
            try:
                int("hunter2")
            except ValueError as cause:
                raise RuntimeError("the key hunter2 is wrong", 7) from cause

    session = AssembledSession(plan_for([]))
    async with session:
        session.coordinator.register_scrubber(lambda text: text.replace("hunter2", "***"))
        await session.coordinator.unmount("providers", "scripted")
        await session.coordinator.mount("providers", Broken())
        with pytest.raises(RuntimeError) as raised:
            await session.execute("go")
    assert raised.value.args == ("the key *** is wrong", 7)
    assert "hunter2" not in str(raised.value.__cause__)


async def test_a_conversation_can_be_compacted_on_request(project: Project) -> None:
    """context:pre_compact with trigger "manual"; a hook may still deny it."""
    project.plan["session"]["context"] = {"module": "context-simple", "config": {"keep_last": 1}}
    heard = EventRecorder()
    async with project.session(
        project.bundle(providers=script("one", "two", "three", "four"))
    ) as session:
        session.coordinator.hooks.register("context:pre_compact", heard)
        assert await session.compact() is False
        for prompt in ("first", "second", "third"):
            await session.execute(prompt)
        assert await session.compact() is True
        session.coordinator.hooks.register("context:pre_compact", says("deny"))
        assert await session.compact() is False
        assert await session.execute("and on") == "four"
    assert {data["trigger"] for _, data in heard.events} == {"manual"}


async def test_no_turn_compacts_its_own_conversation(project: Project) -> None:
    """A hook that asks for it inside a turn gets an error, not a deadlock."""
    async with project.session(project.bundle(providers=script("one"))) as session:
        refused: list[str] = []

        async def try_it(event: str, data: dict[str, Any]) -> None:
            try:
                await session.compact()
            except SessionStateError as error:
                refused.append(str(error))

        session.coordinator.hooks.register("provider:request", try_it)
        await session.execute("go")
    assert refused == ["A turn is under way; the context makes room by itself"]
