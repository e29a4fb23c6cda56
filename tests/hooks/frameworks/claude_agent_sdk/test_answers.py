"""Messages on their way to the caller: the answer waits until it is judged."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

pytest.importorskip("claude_agent_sdk")

from claude_agent_sdk import (
    AssistantMessage,
    Message,
    ResultMessage,
    SystemMessage,
    TextBlock,
    ToolUseBlock,
)
from claude_agent_sdk.types import StreamEvent

from amplifier_core import HookResult
from amplifier_hooks.coverage import CLAUDE_AGENT_SDK
from amplifier_hooks.frameworks.claude_agent_sdk.client import Connection, judge_answers
from amplifier_hooks.frameworks.claude_agent_sdk.session import choose
from tests.adapters.stage import Stage

DENY = HookResult(action="deny", reason="against the rules")
CALL = ToolUseBlock(id="toolu_1", name="Bash", input={})
NOTICE = SystemMessage(subtype="status", data={})


def say(*blocks: Any, parent: str | None = None) -> AssistantMessage:
    """A message of the agent."""
    content = [TextBlock(text=one) if isinstance(one, str) else one for one in blocks]
    return AssistantMessage(content=content, model="m", parent_tool_use_id=parent)


def finish(text: str | None, **more: Any) -> ResultMessage:
    """The result of a turn."""
    given: dict[str, Any] = {"subtype": "success", "is_error": False, "num_turns": 1} | more
    return ResultMessage(duration_ms=1, duration_api_ms=1, session_id="s1", result=text, **given)


async def pass_on(stage: Stage, *messages: Message) -> list[Message]:
    """What the caller gets of these messages."""

    async def send() -> AsyncIterator[Message]:
        for one in messages:
            yield one

    connection = Connection(stage.hooks, choose(60, (), "inline"), CLAUDE_AGENT_SDK)
    return [one async for one in judge_answers(send(), connection)]


async def test_what_hooks_leave_alone_is_the_same_object(stage: Stage) -> None:
    """In the same order."""
    sent = (NOTICE, say("I look.", CALL), say("Looking."), say(CALL), say("Done."), finish("Done."))
    got = await pass_on(stage, *sent)
    assert all(one is other for one, other in zip(got, sent, strict=True))


async def test_a_denied_answer_is_nowhere_in_the_messages(stage: Stage) -> None:
    """Neither in the agent's words nor in the result, in whichever form."""
    stage.answer("prompt:answer", DENY)
    secret = finish("The PIN is 4711.", structured_output={"pin": 4711})
    got = await pass_on(stage, say("The PIN"), NOTICE, say("is 4711."), secret)
    assert "4711" not in str(got)
    assert [type(one).__name__ for one in got] == [
        "AssistantMessage",
        "SystemMessage",
        "ResultMessage",
    ]
    assert "against the rules" in str(got[0])
    assert "against the rules" in str(got[-1])


async def test_a_changed_answer_is_what_the_caller_gets(stage: Stage) -> None:
    """In both places."""

    def change(data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, "response": "Nearly."})

    stage.answer("prompt:answer", change)
    words, result = await pass_on(stage, say("Done."), finish("Done."))
    assert isinstance(words, AssistantMessage)
    assert words.content == [TextBlock(text="Nearly.")]
    assert isinstance(result, ResultMessage)
    assert result.result == "Nearly."


async def test_text_before_a_call_is_not_held_back(stage: Stage) -> None:
    """Nor are the words of a sub-agent: neither is the answer."""
    stage.answer("prompt:answer", DENY)
    got = await pass_on(
        stage, say("I look."), say(CALL), say("Inner.", parent="t"), finish("Done.")
    )
    assert "I look." in str(got)
    assert "Inner." in str(got)


async def test_text_that_streamed_was_read(stage: Stage) -> None:
    """Hooks are told so, and the result is still theirs."""
    stage.answer("prompt:answer", DENY)
    stage.registry.register("prompt:answer", stage.heard, priority=-5, name="recorder")
    event = StreamEvent(uuid="u", session_id="s1", event={"delta": {"text": "Done."}})
    got = await pass_on(stage, event, say("Done."), finish("Done."))
    assert stage.heard.events[0][1]["streamed"] is True
    assert "against the rules" in str(got[-1])


@pytest.mark.parametrize(
    "result", [finish(None), finish("error", is_error=True), finish("blocked", num_turns=0)]
)
async def test_no_answer_is_judged_where_there_is_none(stage: Stage, result: Any) -> None:
    """A failed turn, or a prompt that was refused."""
    stage.listen("prompt:answer")
    assert await pass_on(stage, result) == [result]
    assert stage.heard.names == []


async def test_messages_without_a_result_arrive(stage: Stage) -> None:
    """The program has died; nothing is kept back for ever."""
    assert await pass_on(stage, say("Almost")) == [say("Almost")]
