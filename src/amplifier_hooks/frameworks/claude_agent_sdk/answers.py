"""The messages of a connection on their way to the caller: the answer waits until it is judged."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from claude_agent_sdk import AssistantMessage, Message, ResultMessage, TextBlock, UserMessage
from claude_agent_sdk.types import StreamEvent

from amplifier_hooks.external.verdicts import TextVerdict
from amplifier_hooks.frameworks.claude_agent_sdk.connection import Connection


async def judge_answers(
    messages: AsyncIterator[Message], connection: Connection
) -> AsyncIterator[Message]:
    """Pass everything on; what may be the answer is held back until the result says so."""
    held: list[Message] = []
    streamed = False
    async for message in messages:
        streamed = streamed or isinstance(message, StreamEvent)
        if isinstance(message, ResultMessage):
            held = await _judge(held, message, connection, streamed=streamed)
            streamed = False
        elif not streamed and _may_be_answer(message, held):
            held.append(message)
            continue
        else:
            held.append(message)
        for one in held:
            yield one
        held = []
    for one in held:
        yield one


def _may_be_answer(message: Message, held: Sequence[Message]) -> bool:
    """Whether the result may follow next: text of the agent itself, or what comes after it."""
    if isinstance(message, AssistantMessage):
        own = message.parent_tool_use_id is None
        return own and all(isinstance(one, TextBlock) for one in message.content)
    return bool(held) and not isinstance(message, UserMessage)


async def _judge(
    held: list[Message], result: ResultMessage, connection: Connection, *, streamed: bool
) -> list[Message]:
    if not result.result or result.is_error or result.num_turns == 0:
        return [*held, result]
    session = connection.find_session(result.session_id)
    verdict = await session.answer(result.result, streamed=streamed)
    if verdict.allowed and not verdict.changed:
        return [*held, result]
    return [*_replace_text(held, verdict.text), _replace_result(result, verdict)]


def _replace_text(held: Sequence[Message], text: str) -> list[Message]:
    """The same messages with this text once, and with nothing of what it replaces."""
    kept: list[Message] = []
    said = False
    for message in held:
        if not isinstance(message, AssistantMessage):
            kept.append(message)
        elif not said:
            said = True
            kept.append(replace(message, content=[TextBlock(text=text)]))
    return kept


def _replace_result(result: ResultMessage, verdict: TextVerdict) -> ResultMessage:
    """What a hook has refused is in no other form there, either."""
    structured = result.structured_output if verdict.allowed else None
    return replace(result, result=verdict.text, structured_output=structured)
