"""One prompt on its way to its reply: hooks, the loop, stopping, failing."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from amplifier_core.models import HookResult
from amplifier_core.prompt import STOPPED_AT_ONCE
from amplifier_core.testing import EventRecorder
from tests.support.sessions import SessionHarness


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
