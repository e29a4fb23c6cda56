"""Callbacks of a connection: read, judged in time, answered in the protocol of the program."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("claude_agent_sdk")

from amplifier_core import HookResult
from amplifier_hooks.coding_agents.dialects.dialect import Reply
from amplifier_hooks.external.verdicts import Verdict
from amplifier_hooks.frameworks.claude_agent_sdk.client import (
    Connection,
    defer,
    end_soon,
    read_answer,
    refuse,
    wait_for_ends,
)
from amplifier_hooks.frameworks.claude_agent_sdk.session import choose
from tests.adapters.stage import Stage, ask, change_input, change_output
from tests.hooks.frameworks.claude_agent_sdk.program import BASE, NO_CONTEXT, describe_call, tell

DENY = HookResult(action="deny", reason="against the rules")
SECRET = describe_call(command="cat .env") | {"tool_response": {"stdout": "KEY=1", "stderr": ""}}


def connect(stage: Stage, timeout: float = 60.0, **more: Any) -> Connection:
    """A connection behind these hooks."""
    return Connection(stage.hooks, choose(timeout, more.get("plain_servers", ()), "inline"))


async def test_continue_is_no_opinion(stage: Stage) -> None:
    """`allow` would run what the person's own rules refuse, so it is never said for a hook."""
    stage.answer("tool:pre", HookResult())
    assert await tell(connect(stage), "PreToolUse", **describe_call(command="ls")) == {}


async def test_deny_says_who_and_why(stage: Stage) -> None:
    """In the fields that the program reads."""
    stage.answer("tool:pre", DENY)
    said = await tell(connect(stage), "PreToolUse", **describe_call(command="rm -r /"))
    inner = said["hookSpecificOutput"]
    assert inner["permissionDecision"] == "deny"
    assert inner["permissionDecisionReason"] == "Operation denied by policy: against the rules"


async def test_a_changed_input_leaves_the_decision_open(stage: Stage) -> None:
    """The person's own rules judge what hooks made of the call."""
    stage.answer("tool:pre", change_input(command="ls -l"))
    said = await tell(connect(stage), "PreToolUse", **describe_call(command="ls"))
    inner = said["hookSpecificOutput"]
    assert inner == {"hookEventName": "PreToolUse", "updatedInput": {"command": "ls -l"}}


async def test_a_yes_of_a_person_allows(stage: Stage) -> None:
    """Nobody is asked a second time by the program."""
    stage.answer("tool:pre", ask())
    stage.ask_person("Allow")
    said = await tell(connect(stage), "PreToolUse", **describe_call(command="ls"))
    assert said["hookSpecificOutput"]["permissionDecision"] == "allow"


async def test_an_output_keeps_the_shape_of_its_tool(stage: Stage) -> None:
    """The program ignores one of any other shape, and would show the secret."""
    stage.answer("tool:post", change_output("KEY=[hidden]"))
    said = await tell(connect(stage), "PostToolUse", **SECRET)
    assert said["hookSpecificOutput"]["updatedToolOutput"]["stdout"] == "KEY=[hidden]"


async def test_what_the_adapter_cannot_do_is_refused(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error of our own blocks the call, keeps the prompt back and withholds the result."""
    connection = connect(stage)

    def break_down(_: str) -> Any:
        raise OSError("no space left")

    monkeypatch.setattr(connection, "find_session", break_down)
    call = await tell(connection, "PreToolUse", **describe_call(command="ls"))
    assert call["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert "no space left" in call["hookSpecificOutput"]["permissionDecisionReason"]
    assert (await tell(connection, "UserPromptSubmit", prompt="Hi"))["decision"] == "block"
    shown = await tell(connection, "PostToolUse", **SECRET)
    assert "KEY=1" not in str(shown)
    assert "no space left" in shown["hookSpecificOutput"]["updatedToolOutput"]["stdout"]
    assert await tell(connection, "Stop") == {}


@pytest.mark.parametrize("payload", [None, [], {}, {"session_id": "s"}, {**BASE, "tool_name": 1}])
async def test_a_call_that_cannot_be_read_is_refused(stage: Stage, payload: Any) -> None:
    """Nothing runs because we did not understand it."""
    said = dict(await connect(stage).listen("PreToolUse")(payload, None, NO_CONTEXT))
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_without_asyncio_calls_are_refused(stage: Stage) -> None:
    """The SDK runs on trio as well, and our hooks do not."""
    payload: Any = {**BASE, **describe_call(command="ls"), "hook_event_name": "PreToolUse"}
    answering: Any = connect(stage).listen("PreToolUse")(payload, None, NO_CONTEXT)
    with pytest.raises(StopIteration) as done:
        answering.send(None)
    assert done.value.value["hookSpecificOutput"]["permissionDecision"] == "deny"


async def test_what_is_not_judged_in_time_is_denied(stage: Stage) -> None:
    """Before the program gives up by itself, and the trail says so."""

    async def hang(event: str, data: object) -> HookResult:
        await asyncio.Event().wait()
        return HookResult()

    stage.registry.register("tool:pre", hang, name="slow", timeout=None)
    said = await tell(connect(stage, 0.3), "PreToolUse", **describe_call(command="ls"))
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert "0.3 seconds" in said["hookSpecificOutput"]["permissionDecisionReason"]
    assert stage.of_type("tool_started") == []
    assert any("0.3 seconds" in str(one) for one in stage.audit.records)


async def test_tools_of_a_server_have_plain_names_if_asked_for(stage: Stage) -> None:
    """Of that server only; the program's own tools keep theirs."""
    stage.listen("tool:pre")
    connection = connect(stage, plain_servers=["mine"])
    for number, name in enumerate(("mcp__mine__note", "mcp__other__note", "Bash")):
        await tell(connection, "PreToolUse", **describe_call(name, number, text="a"))
    assert [data["tool_name"] for _, data in stage.heard.events] == [
        "note",
        "mcp__other__note",
        "Bash",
    ]


async def test_each_session_of_the_program_is_one_of_ours(stage: Stage) -> None:
    """Two ids, two sessions; one that was opened early gets the first id."""
    connection = connect(stage)
    early = connection.open_early()
    await tell(connection, "UserPromptSubmit", prompt="One")
    await tell(connection, "UserPromptSubmit", prompt="Two")
    await tell(connection, "UserPromptSubmit", prompt="Three", session_id="s2")
    assert connection.find_session("s1") is early
    assert len(stage.of_type("session_started")) == 2
    await connection.end("complete")
    assert len(stage.of_type("session_ended")) == 2


async def test_sessions_end_when_nobody_holds_the_connection(stage: Stage) -> None:
    """Whichever thread noticed it, with those of sub-agents first; a program that exits waits."""
    connection = connect(stage)
    await tell(connection, "UserPromptSubmit", prompt="One")
    await tell(connection, "SubagentStart", agent_id="a1", agent_type="tester")
    await asyncio.to_thread(end_soon, connection.sessions)
    await asyncio.to_thread(wait_for_ends)
    ended = stage.of_type("session_ended")
    assert [one["body"]["reason"] for one in ended] == ["complete", "complete"]


def test_an_exit_code_is_a_refusal() -> None:
    """What cannot be written as an answer blocks."""
    said = read_answer("PreToolUse", Reply(code=2, stderr="not JSON"))
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert read_answer("PreToolUse", Reply()) == {}


def test_a_notice_needs_no_refusal() -> None:
    """There is nothing to block."""
    assert refuse("Notification", {}, "why") == {}


def test_a_deferred_call_says_what_is_asked() -> None:
    """In the program's own way to interrupt a run."""
    said = defer("PreToolUse", Verdict(decision="defer", reason="Delete it?"))
    assert said["hookSpecificOutput"]["permissionDecision"] == "defer"
    assert said["hookSpecificOutput"]["permissionDecisionReason"] == "Delete it?"
