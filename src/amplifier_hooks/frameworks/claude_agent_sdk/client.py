"""The entry points of the SDK with the caller's side governed as well: prompts and answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, cast

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    Message,
    ResultMessage,
    TextBlock,
    Transport,
    UserMessage,
    query,
)
from claude_agent_sdk.types import StreamEvent

from amplifier_core.payloads import EndReason
from amplifier_hooks.coverage import CLAUDE_AGENT_SDK
from amplifier_hooks.external.verdicts import TextVerdict
from amplifier_hooks.frameworks.claude_agent_sdk.connection import Connection
from amplifier_hooks.frameworks.claude_agent_sdk.options import match_events
from amplifier_hooks.frameworks.claude_agent_sdk.session import LONGEST, Asks, choose
from amplifier_hooks.frameworks.governing import Governable, govern


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


Prompt = str | AsyncIterable[dict[str, Any]]


async def amplified_query(
    hooks: Governable | None = None,
    *,
    prompt: Prompt,
    options: ClaudeAgentOptions | None = None,
    transport: Transport | None = None,
    timeout: float = LONGEST,
    plain_servers: Sequence[str] = (),
    asks: Asks = "inline",
) -> AsyncIterator[Message]:
    """The SDK's `query`, with hooks; the last three parameters are those of `amplifier_hooks`."""
    connection = Connection(govern(hooks), choose(timeout, plain_servers, asks), CLAUDE_AGENT_SDK)
    governed = _add_hooks(options or ClaudeAgentOptions(), connection, timeout)
    reason: EndReason = "complete"
    try:
        sent = await _judge_prompt(prompt, connection)
        messages = query(prompt=sent, options=governed, transport=transport)
        async with aclosing(cast(Any, judge_answers(messages, connection))) as judged:
            async for message in judged:
                yield message
    except (asyncio.CancelledError, GeneratorExit):
        reason = "user_exit"
        raise
    except BaseException:
        reason = "error"
        raise
    finally:
        await connection.end(reason)


class AmplifiedClient(ClaudeSDKClient):
    """The SDK's client, with hooks: one session of ours from `connect` to `disconnect`."""

    def __init__(
        self,
        hooks: Governable | None = None,
        options: ClaudeAgentOptions | None = None,
        transport: Transport | None = None,
        *,
        timeout: float = LONGEST,
        plain_servers: Sequence[str] = (),
        asks: Asks = "inline",
    ) -> None:
        self._plain_options = options or ClaudeAgentOptions()
        super().__init__(self._plain_options, transport)
        self._governor = govern(hooks)
        self._settings = choose(timeout, plain_servers, asks)
        self._connection = self._open()

    def _open(self) -> Connection:
        made = Connection(self._governor, self._settings, CLAUDE_AGENT_SDK)
        self.options = _add_hooks(self._plain_options, made, self._settings.timeout)
        return made

    async def connect(self, prompt: Prompt | None = None) -> None:
        """Connect to the program; the session begins."""
        self._connection = self._open()
        await super().connect(prompt and await _judge_prompt(prompt, self._connection))

    async def query(self, prompt: Prompt, session_id: str = "default") -> None:
        """Send a prompt as hooks leave it; the program is told to refuse one they refuse."""
        await super().query(await _judge_prompt(prompt, self._connection), session_id)

    async def receive_messages(self) -> AsyncIterator[Message]:
        """All messages; an answer after hooks have judged it."""
        async for message in judge_answers(super().receive_messages(), self._connection):
            yield message

    async def disconnect(self) -> None:
        """Disconnect from the program; the session ends."""
        try:
            await super().disconnect()
        finally:
            await self._connection.end("complete")


def _add_hooks(
    options: ClaudeAgentOptions, connection: Connection, timeout: float
) -> ClaudeAgentOptions:
    return replace(options, hooks=match_events(connection, timeout, options.hooks or {}))


async def _judge_prompt(prompt: Prompt, connection: Connection) -> Prompt:
    if isinstance(prompt, str):
        return await connection.open_early().submit(prompt)
    return _judge_each(prompt, connection)


async def _judge_each(
    prompts: AsyncIterable[dict[str, Any]], connection: Connection
) -> AsyncIterator[dict[str, Any]]:
    """Prompts of blocks, such as pictures, are judged when the program tells of them."""
    async for message in prompts:
        inner = message.get("message")
        if isinstance(inner, dict) and isinstance(inner.get("content"), str):
            text = await connection.open_early().submit(inner["content"])
            yield {**message, "message": {**inner, "content": text}}
        else:
            yield message
