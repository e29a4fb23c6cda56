"""Whole sessions on the providers: the loop, a real tool, and a server or a model."""

from __future__ import annotations

import asyncio
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.errors import AmplifierError
from amplifier_core.llm_errors import LLMError
from amplifier_core.models import HookResult
from amplifier_core.session import AmplifierSession
from amplifier_foundation.model_server import ModelServer
from tests.foundation.providers.mounting import MESSAGES, Protocol

LOOK: dict[str, Any] = {
    "thinking": "I had better look.",
    "text": "Let me see.",
    "tool_calls": [{"name": "Bash", "input": {"command": "echo hello-$((40 + 2))"}}],
}


def plan(provider: str, config: dict[str, Any], loop: str = "loop-streaming") -> dict[str, Any]:
    orchestrator = {"module": loop, "config": {"retry_delay": 0.01, "attempts": 3}}
    return {
        "session": {"orchestrator": orchestrator, "context": {"module": "context-simple"}},
        "providers": [{"module": provider, "config": config}],
        "tools": [{"module": "tool-bash"}],
    }


def provider_of(protocol: Protocol) -> str:
    return "provider-anthropic" if protocol is MESSAGES else "provider-openai"


async def heard(session: AmplifierSession, prompt: str) -> tuple[str, Counter[str]]:
    events: Counter[str] = Counter()

    async def listen(event: str, data: dict[str, Any]) -> HookResult:
        events[event] += 1
        return HookResult()

    session.coordinator.hooks.register("*", listen)
    async with session:
        return await session.execute(prompt), events


@pytest.mark.parametrize("loop", ["loop-basic", "loop-streaming"])
async def test_an_agent_works_over_the_wire(protocol, loop):
    """A session with a real SDK: an overloaded server, a retry, a real tool, an answer."""
    script = [{"error": "overloaded", **LOOK}, {"text": "It says 42.", "expect": "hello-42"}]
    async with ModelServer(script) as server:
        config = plan(provider_of(protocol), protocol.config(server), loop)
        answer, events = await heard(AmplifierSession(config), "What does it say?")
    assert answer == "It says 42."
    assert (events["provider:retry"], events["provider:error"]) == (1, 0)
    assert (events["provider:request"], events["provider:response"]) == (2, 2)
    assert events["tool:post"] == 1
    assert bool(events["content_block:delta"]) == (loop == "loop-streaming")


async def test_what_a_hook_injects_reaches_the_model_behind_the_result(protocol):
    """An injection after a tool call stands behind the result, where the server accepts it."""
    script = [LOOK, {"text": "I see.", "expect": "Mind the step."}]
    async with ModelServer(script) as server:
        session = AmplifierSession(plan(provider_of(protocol), protocol.config(server)))

        async def remark(event: str, data: dict[str, Any]) -> HookResult:
            return HookResult(action="inject_context", context_injection="Mind the step.")

        session.coordinator.hooks.register("tool:post", remark)
        answer, _ = await heard(session, "Go")
    assert answer == "I see."
    body = str(server.requests[1].body)
    assert body.index("hello-42") < body.index("Mind the step.")


async def test_a_failure_for_good_is_told_and_raised(protocol):
    """Errors as `provider:error`; what cannot be helped by trying again is not tried again."""
    async with ModelServer([{"error": "authentication"}]) as server:
        session = AmplifierSession(plan(provider_of(protocol), protocol.config(server)))
        errors: list[dict[str, Any]] = []

        async def listen(event: str, data: dict[str, Any]) -> HookResult:
            errors.append(data)
            return HookResult()

        session.coordinator.hooks.register("provider:error", listen)
        async with session:
            with pytest.raises((LLMError, AmplifierError)):
                await session.execute("Go")
    assert len(server.requests) == 1
    assert errors[0]["error"]["type"] == "AuthenticationError"
    assert errors[0]["error"]["status_code"] == 401


async def test_a_cancelled_session_leaves_the_server(protocol):
    """Cancelling a session in the middle of a reply closes its connection, and nothing hangs."""
    async with ModelServer([{"text": "word " * 500, "pause": 0.02}]) as server:
        session = AmplifierSession(plan(provider_of(protocol), protocol.config(server)))
        async with session:
            begun = asyncio.Event()

            async def listen(event: str, data: dict[str, Any]) -> HookResult:
                begun.set()
                return HookResult()

            session.coordinator.hooks.register("content_block:delta", listen)
            turn = asyncio.create_task(session.execute("Tell me everything"))
            await asyncio.wait_for(begun.wait(), 30)
            turn.cancel()
            await asyncio.wait({turn}, timeout=10)
            assert turn.done()
            async with asyncio.timeout(10):
                while not server.disconnects:
                    await asyncio.sleep(0.01)


async def test_a_scripted_session_needs_nothing_else(tmp_path: Path):
    """provider-scripted plays a written conversation in a session, without a network."""
    script = [LOOK, {"text": "It says 42.", "expect": "hello-42"}]
    session = AmplifierSession(plan("provider-scripted", {"script": script}))
    answer, events = await heard(session, "What does it say?")
    assert answer == "It says 42."
    assert events["thinking:final"] == 1


@pytest.mark.slow
async def test_a_session_with_a_real_model_in_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """One journey with a real small model: it calls a real tool, a hook sees it, it answers."""
    pytest.importorskip("xllamacpp", reason="run by `make slow`")
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "-q"], check=True)
    config = plan("provider-local", {"max_output_tokens": 60})
    session = AmplifierSession(config)
    inputs: list[Any] = []

    async def listen(event: str, data: dict[str, Any]) -> HookResult:
        inputs.append(data["tool_input"])
        return HookResult()

    session.coordinator.hooks.register("tool:pre", listen)
    answer, events = await heard(session, "Use Bash to show the git status")
    assert answer.strip()
    assert (events["tool:pre"], events["provider:response"]) == (1, 2)
    assert inputs[0]["command"].startswith("git status")
    print(inputs, repr(answer), dict(events))  # noqa: T201 - the report of a real model
