"""A session, and the questions in it."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("claude_agent_sdk")

from amplifier_core import HookResult
from amplifier_hooks.coverage import CLAUDE_AGENT_SDK
from amplifier_hooks.external.handover import Handed
from amplifier_hooks.frameworks import answer
from amplifier_hooks.frameworks.claude_agent_sdk.client import Connection
from amplifier_hooks.frameworks.claude_agent_sdk.session import Questions, choose
from tests.adapters.stage import Stage
from tests.hooks.frameworks.claude_agent_sdk.program import describe_call, tell

DENY = HookResult(action="deny", reason="against the rules")


def connect(stage: Stage) -> Connection:
    """As options alone do it."""
    return Connection(stage.hooks, choose(60, (), "inline"))


def rewrite(data: dict[str, object]) -> HookResult:
    """Another prompt."""
    return HookResult(action="modify", data={**data, "prompt": "Buy oat milk."})


async def test_a_prompt_is_refused(stage: Stage) -> None:
    """The program keeps it from its model."""
    stage.answer("prompt:submit", DENY)
    said = await tell(connect(stage), "UserPromptSubmit", prompt="Buy milk.")
    assert said["decision"] == "block"
    assert "against the rules" in said["reason"]


async def test_by_options_a_changed_prompt_is_refused(stage: Stage) -> None:
    """The program takes no other one: so it takes none, and says what would do."""
    stage.answer("prompt:submit", rewrite)
    said = await tell(connect(stage), "UserPromptSubmit", prompt="Buy milk.")
    assert said["decision"] == "block"
    assert "amplified_query" in said["reason"]


async def test_a_prompt_is_judged_once(stage: Stage) -> None:
    """One that was judged before it was sent is recognised when the program tells of it."""
    stage.answer("prompt:submit", rewrite)
    stage.listen("prompt:submit")
    connection = Connection(stage.hooks, choose(60, (), "inline"), CLAUDE_AGENT_SDK)
    sent = await connection.open_early().submit("Buy milk.")
    assert sent == "Buy oat milk."
    assert await tell(connection, "UserPromptSubmit", prompt=sent) == {}
    assert stage.heard.names == ["prompt:submit"]
    again = await tell(connection, "UserPromptSubmit", prompt="Buy milk.")
    assert again["decision"] == "block"  # nobody can change this one any more


async def test_what_a_hook_says_at_the_prompt_comes_along(stage: Stage) -> None:
    """As context for the model."""
    said = HookResult(action="inject_context", context_injection="It is Monday.")
    stage.answer("prompt:submit", said)
    answer = await tell(connect(stage), "UserPromptSubmit", prompt="Buy milk.")
    assert answer["hookSpecificOutput"]["additionalContext"] == "It is Monday."


async def test_a_text_waits_for_an_event_that_takes_it(stage: Stage) -> None:
    """The end of a turn would start another one."""
    said = HookResult(action="inject_context", context_injection="Say thanks.")
    stage.answer("prompt:answer", said)
    connection = connect(stage)
    assert await tell(connection, "Stop", last_assistant_message="Done.") == {}
    answer = await tell(connection, "UserPromptSubmit", prompt="Go on.")
    assert "Say thanks." in answer["hookSpecificOutput"]["additionalContext"]


async def test_a_refused_start_refuses_everything(stage: Stage) -> None:
    """It is asked about once."""
    stage.answer("session:start", DENY)
    stage.listen("session:end")
    connection = connect(stage)
    prompt = await tell(connection, "UserPromptSubmit", prompt="Buy milk.")
    assert "against the rules" in prompt["reason"]
    call = await tell(connection, "PreToolUse", **describe_call(command="ls"))
    assert call["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert stage.heard.names == ["session:end"]


async def test_an_answer_is_told_when_the_program_stops(stage: Stage) -> None:
    """By options, somebody has read it by then."""
    stage.listen("prompt:answer", "prompt:complete")
    connection = connect(stage)
    await tell(connection, "UserPromptSubmit", prompt="Buy milk.")
    assert await tell(connection, "Stop", last_assistant_message="Done.") == {}
    assert stage.heard.names == ["prompt:answer", "prompt:complete"]
    data = stage.heard.events[0][1]
    assert (data["response"], data["streamed"]) == ("Done.", True)


async def test_a_compaction_can_be_refused(stage: Stage) -> None:
    """Other events of the program pass the hooks as well."""
    stage.answer("context:pre_compact", DENY)
    said = await tell(connect(stage), "PreCompact", trigger="auto", custom_instructions=None)
    assert said["decision"] == "block"


async def test_a_notice_is_told(stage: Stage) -> None:
    """Nothing can be done about it."""
    stage.listen("user:notification")
    fields = {"message": "Waiting", "notification_type": "idle_prompt"}
    assert await tell(connect(stage), "Notification", **fields) == {}
    assert stage.heard.events[0][1]["message"] == "Waiting"


async def test_a_failed_tool_is_told(stage: Stage) -> None:
    """With what hooks say about it."""
    said = HookResult(action="inject_context", context_injection="Try it slowly.")
    stage.answer("tool:error", said)
    connection = connect(stage)
    call = describe_call(command="ls")
    await tell(connection, "PreToolUse", **call)
    answer = await tell(connection, "PostToolUseFailure", **call, error="boom")
    assert "Try it slowly." in answer["hookSpecificOutput"]["additionalContext"]


def hand(prompt: str, call_id: str = "toolu_1") -> Handed:
    """A question of a hook."""
    return Handed(prompt, ("Allow", "Deny"), "wipe", {"path": "/x"}, call_id, "d" * 64, "policy")


def test_a_question_waits_until_it_is_answered() -> None:
    """Once, however often the call is judged."""
    questions = Questions()
    assert questions.find_answer(hand("May it?")) is None
    assert questions.find_answer(hand("May it?")) is None
    (payload,) = questions.waiting
    given = answer(payload, "Allow", by="ana")
    questions.give(payload, given)
    assert questions.waiting == []
    assert questions.find_answer(hand("May it?")) == given


def test_an_answer_is_about_one_call_and_one_question() -> None:
    """Another call, or another hook's question, waits for its own."""
    questions = Questions()
    questions.find_answer(hand("May it?"))
    payload = questions.waiting[0]
    questions.give(payload, answer(payload, "Allow"))
    assert questions.find_answer(hand("Really?")) is None
    assert questions.find_answer(hand("May it?", "toolu_2")) is None
    assert len(questions.waiting) == 2


def test_another_process_can_go_on() -> None:
    """Payloads and answers are values that JSON can hold."""
    questions = Questions()
    questions.find_answer(hand("May it?"))
    payload = json.loads(json.dumps(questions.waiting[0]))
    later = Questions()
    later.give(payload, json.loads(json.dumps(answer(payload, "Deny"))))
    assert later.find_answer(hand("May it?"))["option"] == "Deny"
