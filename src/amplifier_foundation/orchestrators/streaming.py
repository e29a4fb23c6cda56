"""loop-streaming: shows the reply while it arrives.

Tells       content_block:*, thinking:*, and everything that loop-basic tells
Configure   as loop-basic
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from amplifier_core.events import (
    CONTENT_BLOCK_DELTA,
    CONTENT_BLOCK_END,
    CONTENT_BLOCK_START,
    THINKING_DELTA,
    THINKING_FINAL,
)
from amplifier_core.interfaces import Cleanup
from amplifier_core.llm_errors import StreamBrokenError
from amplifier_core.message_models import ChatRequest, ChatResponse, StreamChunk
from amplifier_foundation.modules.options import parse_config
from amplifier_foundation.orchestrators.loop import Loop, LoopConfig, Turn


class StreamingLoop(Loop):
    """Passes on each piece of a reply as an event; a provider that cannot stream replies whole."""

    name = "loop-streaming"

    async def reply(self, turn: Turn, request: ChatRequest) -> ChatResponse:
        """Follow the stream to its end."""
        if not hasattr(turn.provider, "stream"):
            response: ChatResponse = await turn.provider.complete(request)
            return response
        thoughts: dict[int, list[str]] = {}
        chunk: StreamChunk
        async with _closing(turn.provider.stream(request)) as stream:
            async for chunk in stream:
                if chunk.kind == "response" and chunk.response is not None:
                    return chunk.response
                await _tell(turn, chunk, thoughts)
        raise StreamBrokenError("The stream ended without a reply", provider=turn.provider.name)


@asynccontextmanager
async def _closing(stream: AsyncIterator[StreamChunk]) -> AsyncIterator[AsyncIterator[StreamChunk]]:
    """A connection is not left open until somebody collects the garbage."""
    try:
        yield stream
    finally:
        if isinstance(stream, AsyncGenerator):
            await stream.aclose()


async def _tell(turn: Turn, chunk: StreamChunk, thoughts: dict[int, list[str]]) -> None:
    tell = turn.coordinator.notify
    where = {"block_index": chunk.index}
    if chunk.kind == "block_start":
        await tell(CONTENT_BLOCK_START, {**where, "block_type": chunk.block_type})
    elif chunk.kind == "block_end":
        if chunk.index in thoughts:
            whole = "".join(thoughts.pop(chunk.index))
            await tell(THINKING_FINAL, {**where, "thinking": whole})
        await tell(CONTENT_BLOCK_END, {**where, "block_type": chunk.block_type})
    else:
        await _tell_piece(turn, chunk, thoughts)


async def _tell_piece(turn: Turn, chunk: StreamChunk, thoughts: dict[int, list[str]]) -> None:
    """Pieces are many: without a listener they are neither dispatched nor recorded."""
    thinking = chunk.kind == "thinking"
    if thinking:
        thoughts.setdefault(chunk.index, []).append(chunk.text)
    event = THINKING_DELTA if thinking else CONTENT_BLOCK_DELTA
    if turn.coordinator.hooks.hears(event):
        data = {"block_index": chunk.index, "delta": chunk.text}
        await turn.coordinator.notify(event, data)


async def mount(coordinator: Any, config: dict[str, Any] | None = None) -> Cleanup | None:
    """Mount the loop."""
    options = parse_config(LoopConfig, config, "loop-streaming")
    await coordinator.mount("orchestrator", StreamingLoop(options))
    return None
