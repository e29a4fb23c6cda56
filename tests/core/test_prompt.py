"""One prompt on its way to its reply: hooks, the loop, stopping, failing."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from amplifier_core.models import HookResult
from amplifier_core.prompt import STOPPED_AT_ONCE
from amplifier_core.session import AmplifierSession
from amplifier_core.testing import EventRecorder, RecordingDisplay, ScriptedApproval
from tests.support.sessions import SessionHarness, plan_for


class Loop:
    """A loop that does what a test says, and leaves the events of a prompt to the session."""

    leaves_prompt_events = True

    def __init__(self, work: Any) -> None:
        self.work = work

    async def execute(self, prompt: str, *_: Any, **__: Any) -> Any:
        return await self.work(prompt)


async def test_a_denied_prompt_reaches_no_loop_and_completes_nothing() -> None:
    """The reply is the reason, and prompt:complete is not told."""
    async with SessionHarness([{"text": "never"}]) as harness:
        heard = harness.listen()
        harness.hooks.register(
            "prompt:submit", EventRecorder(HookResult(action="deny", reason="no")), name="guard"
        )
        assert await harness.session.execute("x") == "Operation denied by guard: no"
        assert harness.session.status == "denied"
    assert not {"provider:request", "prompt:complete"} & set(heard.names)


async def test_a_changed_prompt_is_the_one_that_runs_and_completes() -> None:
    """What the hooks left is what the loop gets and what prompt:complete tells."""
    async with SessionHarness([]) as harness:
        heard = harness.listen()
        changed = HookResult(action="modify", data={"prompt": "better"})
        harness.hooks.register("prompt:submit", EventRecorder(changed))

        async def echo(prompt: str) -> str:
            return prompt.upper()

        await harness.coordinator.mount("orchestrator", Loop(echo))
        assert await harness.session.execute("x") == "BETTER"
        assert harness.session.status == "idle"
    complete = next(data for name, data in heard.events if name == "prompt:complete")
    assert (complete["prompt"], complete["response"]) == ("better", "BETTER")


async def test_a_loop_that_fails_is_told_and_raises() -> None:
    """error:orchestration, a notification for the person, and the error itself."""

    async def fail(_: str) -> str:
        raise RuntimeError("no model")

    async with SessionHarness([]) as harness:
        heard = harness.listen()
        await harness.coordinator.mount("orchestrator", Loop(fail))
        with pytest.raises(RuntimeError, match="no model"):
            await harness.session.execute("x")
        assert harness.session.status == "error"
    told = dict(heard.events)
    assert told["error:orchestration"]["error"] == {"type": "RuntimeError", "message": "no model"}
    assert told["user:notification"]["notification_type"] == "error"
    assert "prompt:complete" not in told


async def test_a_prompt_that_takes_too_long_is_ended() -> None:
    """`session.turn_timeout`, in seconds."""
    async with SessionHarness([], session={"turn_timeout": 0.01}) as harness:

        async def hang(_: str) -> str:
            await asyncio.Event().wait()
            return "never"

        await harness.coordinator.mount("orchestrator", Loop(hang))
        heard = harness.listen()
        why = "The turn took longer than 0.01 s (session.turn_timeout)"
        with pytest.raises(TimeoutError, match=re.escape(why)):
            await harness.session.execute("x")
        assert harness.session.status == "error"
    told = dict(heard.events)
    assert told["error:orchestration"]["error"] == {"type": "TimeoutError", "message": why}


async def test_a_loop_that_fails_in_time_says_why_itself() -> None:
    """A limit that was not reached has nothing to say."""
    async with SessionHarness([], session={"turn_timeout": 60}) as harness:

        async def fail(_: str) -> str:
            raise TimeoutError

        await harness.coordinator.mount("orchestrator", Loop(fail))
        with pytest.raises(TimeoutError) as caught:
            await harness.session.execute("x")
    assert caught.value.args == ()


async def test_an_immediate_stop_ends_the_loop_and_the_session_goes_on() -> None:
    """The reply says so, cancel:completed is told, and the next prompt is processed."""
    async with SessionHarness([]) as harness:
        heard = harness.listen()
        started = asyncio.Event()

        async def wait_first(prompt: str) -> str:
            if prompt == "one":
                started.set()
                await asyncio.Event().wait()
            return "done"

        await harness.coordinator.mount("orchestrator", Loop(wait_first))
        turn = asyncio.ensure_future(harness.session.execute("one"))
        await started.wait()
        await harness.coordinator.request_cancel(immediate=True)
        assert await turn == STOPPED_AT_ONCE
        assert harness.session.status == "interrupted"
        assert await harness.session.execute("two") == "done"
    assert heard.names.count("cancel:completed") == 1


async def test_a_stop_after_the_last_step_ends_this_prompt_and_not_what_comes_after() -> None:
    """A loop that waits for nothing any more cannot be stopped; whoever waits for it is not."""
    async with SessionHarness([]) as harness:

        async def stop(prompt: str) -> str:
            harness.coordinator.cancellation.request_immediate()
            await harness.coordinator.cancellation.trigger_callbacks()
            return "done"

        await harness.coordinator.mount("orchestrator", Loop(stop))
        assert await harness.session.execute("one") == STOPPED_AT_ONCE
        await asyncio.sleep(0)
        assert harness.session.status == "interrupted"


async def test_a_hook_that_leaves_no_prompt_ends_the_turn_with_a_sentence() -> None:
    """A changed prompt that is none is not sent to the model."""
    async with SessionHarness([{"text": "never"}]) as harness:
        heard = harness.listen()
        data = {"prompt": ["not", "a", "text"]}
        wrong = HookResult(action="modify", data=data)
        harness.hooks.register("prompt:submit", EventRecorder(wrong))
        assert await harness.session.execute("x") == "A hook left no usable prompt: list"
        assert harness.session.status == "denied"
    assert "provider:request" not in heard.names


async def test_loops_are_given_what_they_take() -> None:
    """The architecture document's loop takes no hooks; others take hooks, or a coordinator."""
    seen: dict[str, tuple[Any, ...]] = {}

    class Oldest:
        async def execute(self, prompt: str, context: Any, providers: Any, tools: Any) -> str:
            seen["oldest"] = (context, providers, tools)
            return "oldest"

    class Middle:
        async def execute(
            self, prompt: str, context: Any, providers: Any, tools: Any, hooks: Any
        ) -> None:
            seen["middle"] = (hooks,)

    class Counting:
        async def execute(self, prompt: str, coordinator: Any = None, **more: Any) -> int:
            seen["counting"] = (more["hooks"], coordinator)
            return 42

    async with SessionHarness([]) as harness:
        for loop, reply in ((Oldest(), "oldest"), (Middle(), ""), (Counting(), "42")):
            await harness.coordinator.mount("orchestrator", loop)
            assert await harness.session.execute("x") == reply
        assert seen["oldest"][0] is harness.session.context
        assert seen["middle"] == (harness.hooks,)
        assert seen["counting"] == (harness.hooks, harness.coordinator)


async def test_a_loop_whose_signature_is_a_secret_gets_everything() -> None:
    """What cannot be looked at is called as the protocol says."""

    async def run(*given: Any, **more: Any) -> str:
        return f"{len(given)} {sorted(more)}"

    class Secret:
        __signature__ = "nonsense"

        async def __call__(self, *given: Any, **more: Any) -> str:
            return await run(*given, **more)

    class Loop:
        execute = Secret()

    async with SessionHarness([]) as harness:
        await harness.coordinator.mount("orchestrator", Loop())
        assert (
            await harness.session.execute("x")
            == "0 ['context', 'coordinator', 'hooks', 'prompt', 'providers', 'tools']"
        )


SECRET = "the key is sk-1234"


async def test_a_denied_answer_reaches_nobody_and_stays_nowhere() -> None:
    """The reply is the denial, and so is what the state and the next request hold of it."""
    async with SessionHarness([{"text": SECRET}, {"text": "fine"}]) as harness:
        heard = harness.listen()
        guard = EventRecorder(HookResult(action="deny", reason="a key"))
        remove = harness.hooks.register("prompt:answer", guard, name="guard")
        denial = "Operation denied by guard: a key"
        assert await harness.session.execute("x") == denial
        assert str(harness.session.status) == "denied"
        assert harness.texts("assistant") == [denial]
        assert SECRET not in str(await harness.session.state())
        remove()
        assert await harness.session.execute("y") == "fine"
        assert harness.session.status == "idle"
    assert guard.events[0][1]["response"] == SECRET
    requests = [data for name, data in heard.events if name == "provider:request"]
    assert SECRET not in str(requests[1])
    completed = [data["response"] for name, data in heard.events if name == "prompt:complete"]
    assert completed == [denial, "fine"]


async def test_a_changed_answer_is_the_one_that_goes_out_and_is_kept() -> None:
    """Also where the conversation keeps the answer with the scrubbers' masks."""
    async with SessionHarness([{"text": SECRET}]) as harness:
        harness.coordinator.register_scrubber(lambda text: text.replace("sk-1234", "***"))

        async def shorten(_: str, data: dict[str, Any]) -> HookResult:
            return HookResult(action="modify", data={**data, "response": "the key is gone"})

        harness.hooks.register("prompt:answer", shorten)
        assert await harness.session.execute("x") == "the key is gone"
        assert harness.session.status == "idle"
        assert harness.texts("assistant") == ["the key is gone"]


@pytest.mark.parametrize(("data", "kind"), [({"response": 7}, "int"), ({}, "NoneType")])
async def test_an_answer_that_is_no_text_is_refused(data: dict[str, Any], kind: str) -> None:
    """A hook that leaves something else leaves nothing that could be handed over."""
    async with SessionHarness([{"text": SECRET}]) as harness:
        harness.hooks.register(
            "prompt:answer", EventRecorder(HookResult(action="modify", data=data))
        )
        refusal = f"A hook left no usable response: {kind}"
        assert await harness.session.execute("x") == refusal
        assert harness.session.status == "denied"
        assert harness.texts("assistant") == [refusal]


async def test_what_is_injected_at_the_answer_is_read_in_the_next_turn() -> None:
    """It stands behind the answer."""
    async with SessionHarness([{"text": "one"}, {"text": "two"}]) as harness:
        advice = HookResult(action="inject_context", context_injection="be brief")
        harness.hooks.register("prompt:answer", EventRecorder(advice), name="advice")
        assert await harness.session.execute("x") == "one"
        roles = [one["role"] for one in harness.messages]
        assert roles[-2:] == ["assistant", "system"]
        assert harness.messages[-1]["content"] == "be brief"


@pytest.mark.parametrize(
    ("option", "reply"),
    [("Allow once", "one"), ("Deny", "Operation denied by gate: User denied: May it go out?")],
)
async def test_a_person_may_decide_whether_an_answer_goes_out(option: str, reply: str) -> None:
    """`ask_user` works here as at every gate."""
    person = ScriptedApproval(option)
    async with SessionHarness([{"text": "one"}], approval=person) as harness:
        question = HookResult(action="ask_user", approval_prompt="May it go out?")
        harness.hooks.register("prompt:answer", EventRecorder(question), name="gate")
        assert await harness.session.execute("x") == reply
        assert harness.texts("assistant") == [reply]
    assert person.prompts == ["May it go out?"]


async def test_the_answer_of_a_loop_that_tells_of_prompts_itself_is_judged_too() -> None:
    """Loops of the ecosystem know nothing of the event, so the session judges for them."""

    class Stranger:
        async def execute(self, prompt: str, **_: Any) -> str:
            return SECRET

    async with SessionHarness([]) as harness:
        guard = EventRecorder(HookResult(action="deny", reason="a key"))
        harness.hooks.register("prompt:answer", guard, name="guard")
        await harness.coordinator.mount("orchestrator", Stranger())
        assert await harness.session.execute("x") == "Operation denied by guard: a key"
    assert guard.events[0][1]["streamed"] is False


async def test_an_answer_that_was_not_judged_to_the_end_is_withheld() -> None:
    """Whoever stops the run while a hook still looks at the answer does not get it."""
    async with SessionHarness([{"text": SECRET}]) as harness:
        started = asyncio.Event()

        async def look_for_ever(_: str, __: dict[str, Any]) -> None:
            started.set()
            await asyncio.Event().wait()

        harness.hooks.register("prompt:answer", look_for_ever)
        turn = asyncio.ensure_future(harness.session.execute("x"))
        await started.wait()
        await harness.coordinator.request_cancel(immediate=True)
        assert await turn == STOPPED_AT_ONCE
        assert harness.session.status == "interrupted"
        assert harness.texts("assistant") == [STOPPED_AT_ONCE]


async def test_after_an_error_there_is_no_answer_to_judge() -> None:
    """A turn that failed hands nothing over."""

    async def fail(_: str) -> str:
        raise RuntimeError("no model")

    async with SessionHarness([]) as harness:
        heard = harness.listen()
        await harness.coordinator.mount("orchestrator", Loop(fail))
        with pytest.raises(RuntimeError, match="no model"):
            await harness.session.execute("x")
    assert "prompt:answer" not in heard.names


async def test_a_context_that_cannot_replace_an_answer_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What it still holds is named, on the screen and on record."""

    def refuse(_: Any) -> None:
        raise RuntimeError("read-only")

    async with SessionHarness([{"text": SECRET}]) as harness:
        monkeypatch.setattr(harness.session.context, "set_messages", refuse)
        harness.hooks.register(
            "prompt:answer", EventRecorder(HookResult(action="deny", reason="a key")), name="guard"
        )
        assert await harness.session.execute("x") == "Operation denied by guard: a key"
    why = "The conversation still holds an answer that a hook took back: RuntimeError: read-only"
    assert (why, "error", "session") in harness.screen.messages
    assert {"what": "context", "error": why} in [
        one["body"] for one in harness.trail.of_type("error")
    ]


async def test_without_a_listener_the_answer_goes_straight_out() -> None:
    """Neither a hook nor a trail: nothing is told."""
    session = AmplifierSession(plan_for([{"text": "one"}]))
    async with session:
        assert await session.execute("x") == "one"


async def test_a_person_is_told_what_came_up_in_a_turn_that_nobody_hears_of() -> None:
    """Without hooks and without a trail, too: a hook that will never be called is worth a word."""
    screen = RecordingDisplay()
    session = AmplifierSession(plan_for([]), display_system=screen)

    async def echo(prompt: str) -> str:
        return prompt

    async with session:
        await session.start()
        await session.coordinator.mount("orchestrator", Loop(echo))
        session.coordinator.hooks.register("tool:per", EventRecorder(), name="misspelled")
        assert await session.execute("x") == "x"
        assert any("did you mean" in str(one) for one in screen.messages)


async def test_a_trail_that_fails_at_the_end_of_a_turn_is_told_of_in_that_turn() -> None:
    """The next one may never come."""
    async with SessionHarness([{"text": "one"}]) as harness:
        append = harness.trail.append

        def fail_at_the_end(type: str, body: Any, **source: Any) -> int:
            if source.get("event") == "user:notification":
                raise OSError("disk full")
            return append(type, body, **source)

        harness.trail.append = fail_at_the_end  # type: ignore[method-assign]
        assert await harness.session.execute("x") == "one"
        assert any("disk full" in str(one) for one in harness.screen.messages)


@pytest.mark.parametrize("moment", ["prompt:complete", "user:notification"])
async def test_the_end_of_a_turn_is_told_to_who_listens_to_either_event(moment: str) -> None:
    """Each of the two that a turn ends with, without the other."""
    session, heard = AmplifierSession(plan_for([{"text": "done"}] * 2)), EventRecorder()
    session.coordinator.hooks.register(moment, heard)
    async with session:
        await session.execute("one")
        await session.execute("two")
    assert heard.names == [moment, moment]
