"""Attaching by options, on the real SDK and its program."""

from __future__ import annotations

import asyncio
import gc
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("claude_agent_sdk")

from claude_agent_sdk import ClaudeSDKClient, HookMatcher, ResultMessage, query

from amplifier_core import HookResult
from amplifier_core.testing import wait_for
from amplifier_hooks.frameworks.claude_agent_sdk import amplifier_hooks, amplifier_options
from tests.adapters.drivers.claude_agent_sdk import SERVER, ClaudeDriver
from tests.adapters.drivers.driver import Ran, Step
from tests.adapters.stage import DONE, Stage, call, use

DENY = HookResult(action="deny", reason="against the rules")


async def run_by_options(stage: Stage, script: list[Step], **more: Any) -> Ran:
    """The SDK's own `query`, with nothing of ours but options."""
    driver, ran = ClaudeDriver(), Ran()
    given = more.pop("given", None) or amplifier_options(stage.hooks, plain_servers=[SERVER])
    async with driver.serve(script, ran) as url:
        options = replace(driver.build_options(url, ran, **given), **more)
        async for message in query(prompt="Do it.", options=options):
            if isinstance(message, ResultMessage):
                ran.answer = message.result or ""
    return ran


async def test_options_are_enough_for_tool_calls(stage: Stage) -> None:
    """Denied and allowed, and the answer is told."""
    stage.answer("tool:pre", DENY, tool="wipe")
    stage.listen("prompt:answer")
    script = use(call("note", 1, text="a"), call("wipe", 2, path="/"))
    ran = await run_by_options(stage, script)
    assert ran.calls == [("note", {"text": "a"})]
    assert "against the rules" in ran.requests[-1]
    assert stage.heard.names == ["prompt:answer"]


async def test_a_session_ends_with_its_connection(stage: Stage) -> None:
    """Nobody tells of the end, but nobody holds the callbacks any more."""
    await run_by_options(stage, [DONE])
    gc.collect()
    await wait_for(lambda: bool(stage.of_type("session_ended")))
    assert len(stage.of_type("session_started")) == 1


async def test_a_session_ends_although_the_program_stops_at_once(stage: Stage) -> None:
    """Its loop is gone by then."""
    await asyncio.to_thread(lambda: asyncio.run(run_by_options(stage, [DONE])))
    await wait_for(lambda: bool(stage.of_type("session_ended")))
    assert [one["body"]["reason"] for one in stage.of_type("session_ended")] == ["complete"]


async def test_a_client_has_one_session_for_all_its_turns(stage: Stage) -> None:
    """Two prompts, one session."""
    stage.listen("session:start", "prompt:submit")
    driver, ran = ClaudeDriver(), Ran()
    async with driver.serve([DONE, DONE], ran) as url:
        given = amplifier_options(stage.hooks)
        async with ClaudeSDKClient(driver.build_options(url, ran, **given)) as client:
            for prompt in ("One.", "Two."):
                await client.query(prompt)
                async for _ in client.receive_response():
                    pass
    assert stage.heard.names == ["session:start", "prompt:submit", "prompt:submit"]


async def test_the_rules_of_the_person_stay_in_force(stage: Stage) -> None:
    """Hooks that say continue allow nothing that the program would have refused."""
    stage.answer("tool:pre", HookResult())
    ran = await run_by_options(stage, use(call("wipe", path="/")), allowed_tools=[])
    assert ran.calls == []


async def test_another_hook_that_changes_the_call_is_noticed(stage: Stage) -> None:
    """The program runs all hooks at once, so this can only be recorded."""

    async def change(*_: Any) -> Any:
        changed = {"hookEventName": "PreToolUse", "updatedInput": {"text": "other"}}
        return {"hookSpecificOutput": changed}

    also: Any = {"PreToolUse": [HookMatcher(hooks=[change])]}
    given = amplifier_options(stage.hooks, also=also, plain_servers=[SERVER])
    ran = await run_by_options(stage, use(call("note", text="mine")), given=given)
    assert ran.calls == [("note", {"text": "other"})]
    assert len(stage.of_type("digest_mismatch")) == 1


async def test_output_of_a_tool_of_the_program_is_changed(stage: Stage) -> None:
    """What its shell prints is in the shape that it takes."""

    def hide(data: dict[str, Any]) -> HookResult:
        shown = data["tool_result"]["output"]
        result = {**data["tool_result"], "output": {**shown, "stdout": "[hidden]"}}
        return HookResult(action="modify", data={**data, "tool_result": result})

    stage.answer("tool:post", hide, tool="Bash")
    script = use(call("Bash", command="echo 4711", description="print"))
    ran = await run_by_options(stage, script, allowed_tools=["Bash"])
    assert "[hidden]" in ran.requests[-1]
    assert '"content": "4711' not in ran.requests[-1]


def test_each_connection_gets_its_own_callbacks(stage: Stage) -> None:
    """As the SDK reads the options once for each; who copies them shares one set."""
    made = amplifier_hooks(stage.hooks)
    first, second = dict(made.items()), dict(made.items())
    assert first["PreToolUse"][0].hooks != second["PreToolUse"][0].hooks
    copied = {**made}
    assert copied["PreToolUse"][0].hooks == made["PreToolUse"][0].hooks


def test_every_callback_blocks_when_it_fails(stage: Stage) -> None:
    """And has the time that was chosen."""
    for matchers in amplifier_hooks(stage.hooks, timeout=30).values():
        assert [(one.matcher, one.on_failure, one.timeout) for one in matchers] == [
            (None, "block", 30)
        ]
