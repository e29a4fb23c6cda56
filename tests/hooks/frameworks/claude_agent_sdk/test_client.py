"""The entry points with the caller's side governed, on the real SDK and its program."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

pytest.importorskip("claude_agent_sdk")

from claude_agent_sdk import ResultMessage

from amplifier_core import HookResult
from amplifier_hooks.frameworks.claude_agent_sdk import AmplifiedClient, amplified_query
from tests.adapters.drivers.claude_agent_sdk import ClaudeDriver
from tests.adapters.drivers.driver import Ran
from tests.adapters.stage import DONE, Stage

DENY = HookResult(action="deny", reason="against the rules")


def rewrite(data: dict[str, Any]) -> HookResult:
    """Another prompt."""
    return HookResult(action="modify", data={**data, "prompt": data["prompt"] + " Please."})


async def test_a_client_is_one_session_with_changed_prompts(stage: Stage) -> None:
    """From `connect` to `disconnect`."""
    stage.answer("prompt:submit", rewrite)
    stage.listen("session:start", "prompt:answer", "session:end")
    driver, ran = ClaudeDriver(), Ran()
    async with (
        driver.serve([DONE, DONE], ran) as url,
        AmplifiedClient(stage.hooks, driver.build_options(url, ran)) as client,
    ):
        for prompt in ("Buy milk.", "Buy bread."):
            await client.query(prompt)
            async for _ in client.receive_response():
                pass
    assert "Buy milk. Please." in ran.requests[0]
    assert "Buy bread. Please." in ran.requests[-1]
    answers = ["prompt:answer", "prompt:answer"]
    assert stage.heard.names == ["session:start", *answers, "session:end"]


async def test_a_refused_prompt_of_a_client_ends_its_turn(stage: Stage) -> None:
    """The next one goes on."""
    stage.answer("prompt:submit", lambda data: DENY if "milk" in data["prompt"] else HookResult())
    driver, ran = ClaudeDriver(), Ran()
    results: list[str | None] = []
    async with (
        driver.serve([DONE], ran) as url,
        AmplifiedClient(stage.hooks, driver.build_options(url, ran)) as client,
    ):
        for prompt in ("Buy milk.", "Buy bread."):
            await client.query(prompt)
            async for one in client.receive_response():
                results += [one.result] if isinstance(one, ResultMessage) else []
    assert len(ran.requests) == 1
    assert "Buy milk." not in ran.requests[0]
    assert results[-1] == DONE


async def test_prompts_of_a_stream_are_changed(stage: Stage) -> None:
    """Each as it is sent."""

    async def prompts() -> AsyncIterator[dict[str, Any]]:
        yield {"type": "user", "message": {"role": "user", "content": "Buy milk."}}

    stage.answer("prompt:submit", rewrite)
    driver, ran = ClaudeDriver(), Ran()
    async with driver.serve([DONE], ran) as url:
        options = driver.build_options(url, ran)
        async for _ in amplified_query(stage.hooks, prompt=prompts(), options=options):
            pass
    assert "Buy milk. Please." in ran.requests[0]


async def test_who_stops_reading_ends_the_session(stage: Stage) -> None:
    """With the reason that the caller left."""
    stage.listen("session:end")
    driver, ran = ClaudeDriver(), Ran()
    async with driver.serve([DONE], ran) as url:
        messages: Any = amplified_query(
            stage.hooks, prompt="Do it.", options=driver.build_options(url, ran)
        )
        await anext(messages)
        await messages.aclose()
    assert [data["reason"] for _, data in stage.heard.events] == ["user_exit"]


async def test_options_of_the_program_stay_as_they_are(stage: Stage) -> None:
    """They may be used again, without hooks."""
    driver, ran = ClaudeDriver(), Ran()
    async with driver.serve([DONE], ran) as url:
        options = driver.build_options(url, ran)
        async for _ in amplified_query(stage.hooks, prompt="Do it.", options=options):
            pass
        assert options.hooks is None
