"""The call of the model: retried when that may help, and under the eyes of the hooks."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.llm_errors import AuthenticationError, LLMError, ProviderUnavailableError
from amplifier_core.message_models import ChatResponse, TextBlock
from amplifier_core.models import HookResult
from amplifier_core.testing import EventRecorder, MockTool
from tests.support.hooks import injects, says
from tests.support.sessions import SessionHarness, calls

LOOPS = pytest.mark.parametrize("loop", ["loop-basic", "loop-streaming"])
OVERLOADED = {"error": {"type": "overloaded"}}


@LOOPS
async def test_an_error_that_may_pass_is_tried_again_and_announced(loop: str) -> None:
    """Each retry says which attempt failed, why, and how long the wait is."""
    script: list[dict[str, Any]] = [
        OVERLOADED,
        {"error": {"type": "rate_limit", "retry_after": 0.001}},
        {"text": "ok"},
    ]
    async with SessionHarness(script, loop=loop) as harness:
        heard = harness.listen()
        assert await harness.session.execute("x") == "ok"
    retries = [data for _, data in heard.get_events("provider:retry")]
    assert [(d["attempt"], d["error"]["status_code"]) for d in retries] == [(1, 529), (2, 429)]
    assert [d["delay_ms"] for d in retries] == [0, 1]
    assert [d["error"]["retryable"] for d in retries] == [True, True]
    assert [d["max_attempts"] for d in retries] == [4, 4]
    assert "provider:error" not in heard.names


async def test_the_wait_doubles_up_to_its_limit() -> None:
    """`retry_delay` doubles with each attempt and never exceeds `max_retry_delay`."""
    config = {"retry_delay": 0.002, "max_retry_delay": 0.005, "attempts": 5}
    async with SessionHarness([*[OVERLOADED] * 4, {"text": "ok"}], loop_config=config) as harness:
        heard = harness.listen()
        await harness.session.execute("x")
    assert [d["delay_ms"] for _, d in heard.get_events("provider:retry")] == [2, 4, 5, 5]


async def test_after_the_last_attempt_the_error_is_announced_and_raised() -> None:
    """A request that failed for good ends the turn with its error, said once."""
    config = {"attempts": 2, "retry_delay": 0.0}
    async with SessionHarness([OVERLOADED] * 3, loop_config=config) as harness:
        heard = harness.listen()
        with pytest.raises(ProviderUnavailableError):
            await harness.session.execute("x")
        assert harness.session.status == "error"
    assert [d["status"] for _, d in heard.get_events("orchestrator:complete")] == ["error"]
    ((_, failed),) = heard.get_events("provider:error")
    assert failed["error"]["type"] == "ProviderUnavailableError"


async def test_an_error_that_will_not_go_away_is_not_tried_again() -> None:
    """A refused key is not retried, and the session can go on."""
    async with SessionHarness(
        [{"error": {"type": "authentication"}}, {"text": "later"}]
    ) as harness:
        heard = harness.listen()
        with pytest.raises(AuthenticationError):
            await harness.session.execute("x")
        assert await harness.session.execute("again") == "later"
    assert "provider:retry" not in heard.names


class Crashing:
    """A provider that fails in its own way."""

    name = "crashing"

    def __init__(self, outcome: Any) -> None:
        self.outcome = outcome

    async def complete(self, request: Any, **kwargs: Any) -> Any:
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome


@LOOPS
@pytest.mark.parametrize(
    "error",
    [ZeroDivisionError("a mistake"), RuntimeError("gone"), ConnectionError("refused"), OSError()],
    ids=lambda error: type(error).__name__,
)
async def test_whatever_a_provider_raises_is_a_failed_call(loop: str, error: Exception) -> None:
    """error:provider: "Provider (LLM) call fails". Only what says that it may pass is retried."""
    async with SessionHarness([], loop=loop) as harness:
        await harness.coordinator.unmount("providers", "scripted")
        await harness.coordinator.mount("providers", Crashing(error))
        heard = harness.listen()
        with pytest.raises(type(error)):
            await harness.session.execute("x")
    ((_, failed),) = heard.get_events("provider:error")
    assert failed["provider"] == "crashing"
    assert failed["error"]["type"] == type(error).__name__
    assert "provider:retry" not in heard.names


@LOOPS
@pytest.mark.parametrize("nonsense", [None, "hello", {"content": []}, []], ids=repr)
async def test_a_reply_that_is_none_is_a_failed_call(loop: str, nonsense: Any) -> None:
    """A provider that hands back something else has failed, and the turn says so."""
    async with SessionHarness([], loop=loop) as harness:
        await harness.coordinator.unmount("providers", "scripted")
        await harness.coordinator.mount("providers", Crashing(nonsense))
        heard = harness.listen()
        kind = type(nonsense).__name__
        with pytest.raises(LLMError, match=f"'crashing' returned {kind}, not a ChatResponse"):
            await harness.session.execute("x")
        assert harness.session.status == "error"
    assert heard.names.count("provider:error") == 1


# Hooks


async def test_a_hook_can_deny_a_request_before_it_is_sent() -> None:
    """The model is not asked; the reason is the reply."""
    async with SessionHarness([{"text": "never said"}]) as harness:
        heard = harness.listen()
        harness.hooks.register("provider:request", says("deny", reason="too late"), name="clock")
        assert await harness.session.execute("x") == "Operation denied by clock: too late"
    assert "provider:response" not in heard.names
    assert [d["status"] for _, d in heard.get_events("orchestrator:complete")] == ["interrupted"]


async def test_a_hook_can_withhold_a_reply() -> None:
    """A denied reply reaches neither the conversation nor the user."""
    async with SessionHarness([{"text": "a secret"}]) as harness:
        harness.hooks.register("provider:response", says("deny", reason="private"), name="guard")
        assert await harness.session.execute("x") == "Operation denied by guard: private"
        assert harness.texts("assistant") == []


async def test_a_hook_can_change_a_reply() -> None:
    """What the hooks left of the reply is stored and returned."""

    async def redact(event: str, data: dict[str, Any]) -> HookResult:
        changed = {**data["response"], "content": [{"type": "text", "text": "[redacted]"}]}
        return HookResult(action="modify", data={**data, "response": changed})

    async with SessionHarness([{"text": "a secret"}]) as harness:
        harness.hooks.register("provider:response", redact)
        assert await harness.session.execute("x") == "[redacted]"
        assert harness.texts("assistant") == ["[redacted]"]


async def test_what_a_hook_injects_into_the_request_is_sent_with_it() -> None:
    """An injection on provider:request is part of that very request."""
    async with SessionHarness([{"text": "ok", "expect": "mind the gap"}]) as harness:
        harness.hooks.register("provider:request", injects("mind the gap"))
        assert await harness.session.execute("x") == "ok"


async def test_a_request_says_what_is_asked_of_whom() -> None:
    """Provider, model, tools and the count of requests are in the event."""
    async with SessionHarness([{"text": "ok"}]) as harness:
        heard = EventRecorder()
        harness.hooks.register("provider:request", heard)
        await harness.session.execute("hello")
    ((_, data),) = heard.events
    assert (data["provider"], data["model"], data["iteration"]) == ("scripted", "scripted", 1)
    assert data["tools"] == []
    assert [message["content"] for message in data["messages"]] == ["hello"]


async def test_a_request_names_the_tools_that_the_model_is_told_of() -> None:
    """One that is mounted while the turn runs is not among them before the next turn."""

    class Mounts(MockTool):
        async def execute(self, arguments: dict[str, Any]) -> Any:
            await harness.coordinator.mount("tools", MockTool("Late"))
            return await super().execute(arguments)

    script = [calls("Early"), {"text": "ok"}, {"text": "again"}]
    async with SessionHarness(script, tools=[Mounts("Early")]) as harness:
        heard = EventRecorder()
        harness.hooks.register("provider:request", heard)
        await harness.session.execute("x")
        await harness.session.execute("y")
    told = [data["tools"] for _, data in heard.events]
    assert told == [["Early"], ["Early"], ["Early", "Late"]]


async def test_a_reply_that_nobody_hears_is_recorded_with_what_the_model_said() -> None:
    """So that the session can be judged again without its model."""
    usage = {"input_tokens": 7, "output_tokens": 3}
    async with SessionHarness([{"text": "hello", "usage": usage}]) as harness:
        await harness.session.execute("x")
        bodies = [r["body"] for r in harness.trail.records if r["event"] == "provider:response"]
        assert harness.session.stats["total_tokens"] == 10
    assert bodies[0]["data"]["usage"]["input_tokens"] == 7
    assert bodies[0]["data"]["response"]["content"] == [{"type": "text", "text": "hello"}]


async def test_a_reply_without_usage_counts_nothing() -> None:
    """Some servers do not say how many tokens they used."""
    silent = ChatResponse(content=[TextBlock(text="ok")])
    async with SessionHarness([]) as harness:
        await harness.coordinator.unmount("providers", "scripted")
        await harness.coordinator.mount("providers", Crashing(silent))
        assert await harness.session.execute("x") == "ok"
        assert harness.session.stats["total_tokens"] == 0


@LOOPS
async def test_a_reply_that_was_cut_off_before_it_began_is_a_failure(loop: str) -> None:
    """A model that spent its whole limit on thinking has not answered."""
    script = [{"text": " ", "finish_reason": "length"}]
    async with SessionHarness(script, loop=loop) as harness:
        heard = harness.listen()
        with pytest.raises(LLMError, match=r"is empty: it reached the limit .*max_output_tokens"):
            await harness.session.execute("x")
    assert len(heard.get_events("provider:error")) == 1


@LOOPS
@pytest.mark.parametrize("text", ["And so", ""])
async def test_what_was_said_until_then_counts(loop: str, text: str) -> None:
    """Words, or calls of tools."""
    calls = [] if text else [{"name": "Nothing", "input": {}}]
    cut = {"text": text, "tool_calls": calls, "finish_reason": "length"}
    async with SessionHarness([cut, {"text": "ok"}], loop=loop) as harness:
        assert await harness.session.execute("x") == (text or "ok")
