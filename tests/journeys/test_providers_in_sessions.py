"""Whole sessions on the real SDKs, against the local model server, when things go wrong.

Anthropic Messages, OpenAI Chat Completions and OpenAI Responses; whole replies and streams.
"""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.llm_errors import LLMError
from amplifier_core.models import HookResult
from amplifier_core.session import AmplifierSession
from amplifier_core.testing import EventRecorder, MockTool
from amplifier_hooks.agent.model_server import ModelServer
from amplifier_hooks.agent.session.open_calls import complete_state
from tests.support.hooks import injects
from tests.support.models import PROTOCOLS, Protocol
from tests.support.sessions import SessionHarness
from tests.support.waiting import wait_until

ASK: dict[str, Any] = {
    "text": "Let me see.",
    "tool_calls": [{"name": "Echo", "input": {"word": "hello"}}],
}
ANSWER: dict[str, Any] = {"text": "It said hello.", "expect": "you said hello"}


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> Protocol:
    return PROTOCOLS[request.param]


@pytest.fixture(params=["loop-basic", "loop-streaming"])
def loop(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


class Journey(SessionHarness):
    """One session over the wire, with everything it told."""

    def __init__(self, protocol: Protocol, loop: str, server: ModelServer) -> None:
        self.server = server
        self.tool = MockTool("Echo", lambda given: f"you said {given.get('word')}")
        super().__init__(
            tools=[self.tool],
            loop=loop,
            loop_config={"retry_delay": 0.01, "attempts": 3},
            providers=[{"module": protocol.provider, "config": protocol.config(server)}],
        )

    def count(self, event: str) -> int:
        return self.heard.names.count(event)


@asynccontextmanager
async def journey(
    protocol: Protocol, loop: str, script: list[dict[str, Any]]
) -> AsyncIterator[Journey]:
    async with ModelServer(script) as server, Journey(protocol, loop, server) as made:
        made.listen()
        yield made


async def test_a_turn_with_a_tool_call_tells_every_event_and_counts_its_tokens(
    protocol: Protocol, loop: str
) -> None:
    """The whole path over the wire: streaming, tool calls, usage."""
    async with journey(protocol, loop, [ASK, ANSWER]) as trip:
        assert await trip.session.execute("Say it") == "It said hello."
        assert trip.tool.calls == [{"word": "hello"}]
        assert trip.session.stats["total_tokens"] > 0
        assert (trip.count("provider:request"), trip.count("provider:response")) == (2, 2)
        assert bool(trip.count("content_block:delta")) is (loop == "loop-streaming")
        assert (trip.count("tool:pre"), trip.count("tool:post")) == (1, 1)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ({"type": "rate_limit", "retry_after": 0.02}, 429),
        ("overloaded", 529),
        ("server_error", 500),
    ],
    ids=["429", "529", "500"],
)
async def test_a_busy_server_is_asked_again_and_the_turn_goes_on(
    protocol: Protocol, loop: str, error: Any, status: int
) -> None:
    """Each retry is announced, and the wait is the one the server asks for."""
    async with journey(protocol, loop, [{"error": error, **ASK}, ANSWER]) as trip:
        assert await trip.session.execute("Say it") == "It said hello."
        ((_, told),) = trip.heard.get_events("provider:retry")
        assert (told["attempt"], told["max_attempts"]) == (1, 3)
        assert told["error"]["status_code"] == status
        if status == 429:
            assert told["delay_ms"] == 20
        assert trip.count("provider:error") == 0
        assert len(trip.tool.calls) == 1


@pytest.mark.parametrize("error", ["rate_limit", "overloaded"])
async def test_a_server_that_stays_busy_ends_the_turn_with_its_reason(
    protocol: Protocol, loop: str, error: str
) -> None:
    """The caller and the person learn of the error, and the session lives on."""
    script = [{"error": error}] * 3 + [{"text": "Back again."}]
    async with journey(protocol, loop, script) as trip:
        with pytest.raises(LLMError) as raised:
            await trip.session.execute("Say it")
        assert raised.value.retryable
        assert (trip.count("provider:retry"), trip.count("provider:error")) == (2, 1)
        kinds = [d["notification_type"] for _, d in trip.heard.get_events("user:notification")]
        assert kinds == ["error"]
        ((_, done),) = trip.heard.get_events("orchestrator:complete")
        assert done["status"] == "error"
        assert await trip.session.execute("Still there?") == "Back again."


@pytest.mark.parametrize("events", [1, 4])
async def test_a_stream_that_breaks_off_runs_nothing_and_is_asked_again(
    protocol: Protocol, loop: str, events: int
) -> None:
    """No half tool call runs; the request is repeated."""
    async with journey(protocol, loop, [{**ASK, "break_after": events}, ASK, ANSWER]) as trip:
        assert await trip.session.execute("Say it") == "It said hello."
        assert trip.count("provider:retry") == 1
        assert trip.tool.calls == [{"word": "hello"}]
        roles = [one["role"] for one in trip.messages]
        assert roles == ["user", "assistant", "tool", "assistant"]


async def test_malformed_arguments_are_told_to_the_model_and_run_nothing(
    protocol: Protocol, loop: str
) -> None:
    """The model reads what was wrong and tries again."""
    broken = {"tool_calls": [{"name": "Echo", "arguments": '{"word": "hel'}]}
    async with journey(protocol, loop, [broken, ASK, ANSWER]) as trip:
        assert await trip.session.execute("Say it") == "It said hello."
        assert trip.tool.calls == [{"word": "hello"}]
        assert trip.count("tool:error") == 1
        first, second = trip.texts("tool")
        assert second == "you said hello"
        assert "JSON" in first or "arguments" in first


async def test_an_unknown_tool_is_named_with_those_there_are(protocol: Protocol, loop: str) -> None:
    """The model reads which tools exist and tries again."""
    wrong = {"tool_calls": [{"name": "Ehco", "input": {"word": "x"}}]}
    async with journey(protocol, loop, [wrong, ASK, ANSWER]) as trip:
        assert await trip.session.execute("Say it") == "It said hello."
        assert trip.texts("tool")[0] == "Unknown tool 'Ehco'; have Echo"


async def test_an_empty_reply_ends_the_turn_and_not_the_session(
    protocol: Protocol, loop: str
) -> None:
    """Nothing is said, and the next request is one that the server accepts."""
    async with journey(protocol, loop, [{}, {"text": "Awake."}]) as trip:
        assert await trip.session.execute("Say it") == ""
        assert await trip.session.execute("Hello?") == "Awake."
        assert len(trip.server.requests) == 2


async def test_parallel_calls_are_each_mediated_and_answered_in_order(
    protocol: Protocol, loop: str
) -> None:
    """Results keep the model's order, one denied among them, and the server accepts them."""
    words = ["one", "two", "three"]
    ask = {"tool_calls": [{"name": "Echo", "input": {"word": word}} for word in words]}

    async def guard(event: str, data: dict[str, Any]) -> HookResult:
        if data["tool_input"]["word"] == "two":
            return HookResult(action="deny", reason="not this one")
        return HookResult(action="inject_context", context_injection="a remark")

    async with journey(protocol, loop, [ask, {"text": "Done."}]) as trip:
        trip.hooks.register("tool:pre", guard, name="guard")
        assert await trip.session.execute("Say it") == "Done."
        assert trip.texts("tool") == [
            "you said one",
            "Operation denied by guard: not this one",
            "you said three",
        ]
        assert sorted(one["word"] for one in trip.tool.calls) == ["one", "three"]


async def test_a_conversation_that_is_too_long_is_not_tried_again(
    protocol: Protocol, loop: str
) -> None:
    """What cannot be helped by trying again is not tried again."""
    async with journey(protocol, loop, [{"error": "context_length"}]) as trip:
        with pytest.raises(LLMError, match=r"(?i)context|token|long"):
            await trip.session.execute("Say it")
        assert (trip.count("provider:retry"), trip.count("provider:error")) == (0, 1)
        assert len(trip.server.requests) == 1


async def test_a_resumed_conversation_is_accepted_by_the_server(
    protocol: Protocol, loop: str
) -> None:
    """State saved after a tool call goes on over the wire, results of unknown calls included."""
    async with journey(protocol, loop, [ASK, ANSWER]) as trip:
        await trip.session.execute("Say it")
        state = await trip.session.state()
    state["messages"] = state["messages"][:2]  # the process died while the tool ran
    async with ModelServer([{"text": "I shall look first.", "expect": "outcome"}]) as server:
        plan = {
            "session": {"orchestrator": loop, "context": "context-simple"},
            "providers": [{"module": protocol.provider, "config": protocol.config(server)}],
        }
        async with AmplifierSession(plan, state=complete_state(state)) as again:
            await again.execute("What was the outcome?")
        assert "is unknown" in str(server.requests[0].body)


async def test_what_a_hook_injects_reaches_the_model_behind_the_result(
    protocol: Protocol, loop: str
) -> None:
    """An injection after a tool call stands behind the result, where the server accepts it."""
    script = [ASK, {"text": "I see.", "expect": "Mind the step."}]
    async with journey(protocol, loop, script) as trip:
        trip.hooks.register("tool:post", injects("Mind the step."))
        assert await trip.session.execute("Say it") == "I see."
        body = str(trip.server.requests[1].body)
    assert body.index("you said hello") < body.index("Mind the step.")


async def test_a_cancelled_session_leaves_the_server(protocol: Protocol) -> None:
    """Cancelling a session in the middle of a reply closes its connection, and nothing hangs."""
    script = [{"text": "word " * 500, "pause": 0.02}]
    async with journey(protocol, "loop-streaming", script) as trip:
        turn = asyncio.create_task(trip.session.execute("Tell me everything"))
        await wait_until(lambda: trip.count("content_block:delta") > 0, 30)
        turn.cancel()
        await asyncio.wait({turn}, timeout=10)
        assert turn.done()
        await wait_until(lambda: trip.server.disconnects > 0, 10)


@pytest.mark.slow
async def test_a_session_with_a_real_model_in_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real small model calls a real tool, a hook sees it, and it answers."""
    pytest.importorskip("xllamacpp", reason="run by `make slow`")
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "-q"], check=True)
    model = {"module": "provider-local", "config": {"max_output_tokens": 60}}
    async with SessionHarness(
        providers=[model], loop="loop-streaming", tool_modules=[{"module": "tool-bash"}]
    ) as harness:
        heard = EventRecorder()
        for event in ("tool:pre", "provider:response"):
            harness.hooks.register(event, heard)
        answer = await harness.session.execute("Use Bash to show the git status")
    assert answer.strip()
    assert heard.names == ["provider:response", "tool:pre", "provider:response"]
    assert heard.events[1][1]["tool_input"]["command"].startswith("git status")
