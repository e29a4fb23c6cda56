"""loop-streaming: shows the reply while it arrives.

Emits       content_block:*, thinking:*, and everything that loop-basic emits
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
from amplifier_core.events.payloads import (
    ContentBlockDeltaData,
    ContentBlockEndData,
    ContentBlockStartData,
    ThinkingDeltaData,
    ThinkingFinalData,
)
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.llm_errors import StreamBrokenError
from amplifier_core.message_models import ChatRequest, ChatResponse, StreamChunk
from amplifier_foundation.modules.options import parse_known
from amplifier_foundation.orchestrators.loop import Loop
from amplifier_foundation.orchestrators.turn import SYNONYMS, LoopConfig, Turn


class StreamingLoop(Loop):
    """Passes on each piece of a reply as an event; a provider that cannot stream replies whole."""

    name = "loop-streaming"

    async def fetch_reply(self, turn: Turn, request: ChatRequest) -> ChatResponse:
        """Follow the stream to its end."""
        stream_reply = getattr(turn.provider, "stream", None)
        if stream_reply is None:
            return await turn.provider.complete(request)
        reporter = _Reporter(turn.coordinator)
        async with _close_at_the_end(stream_reply(request)) as stream:
            async for chunk in stream:
                if chunk.kind == "response" and chunk.response is not None:
                    return chunk.response
                await reporter.report(chunk)
        raise StreamBrokenError("The stream ended without a reply", provider=turn.provider.name)


@asynccontextmanager
async def _close_at_the_end(
    stream: AsyncIterator[StreamChunk],
) -> AsyncIterator[AsyncIterator[StreamChunk]]:
    """Close the stream, rather than leave its connection to the garbage collector."""
    try:
        yield stream
    finally:
        if isinstance(stream, AsyncGenerator):
            await stream.aclose()


class _Reporter:
    """Emits the chunks of one reply as events."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._thoughts: dict[int, list[str]] = {}

    async def report(self, chunk: StreamChunk) -> None:
        if chunk.kind == "block_start":
            await self._report_start(chunk)
        elif chunk.kind == "block_end":
            await self._report_end(chunk)
        elif chunk.kind == "thinking":
            await self._report_thought(chunk)
        else:
            await self._report_text(chunk)

    async def _report_start(self, chunk: StreamChunk) -> None:
        data = ContentBlockStartData(block_index=chunk.index, block_type=chunk.block_type)
        await self._host.notify(CONTENT_BLOCK_START, data)

    async def _report_end(self, chunk: StreamChunk) -> None:
        if chunk.index in self._thoughts:
            whole = "".join(self._thoughts.pop(chunk.index))
            thought = ThinkingFinalData(block_index=chunk.index, thinking=whole)
            await self._host.notify(THINKING_FINAL, thought)
        data = ContentBlockEndData(block_index=chunk.index, block_type=chunk.block_type)
        await self._host.notify(CONTENT_BLOCK_END, data)

    # Deltas are many: without a listener they are neither dispatched nor recorded.

    async def _report_thought(self, chunk: StreamChunk) -> None:
        self._thoughts.setdefault(chunk.index, []).append(chunk.text)
        if self._host.hooks.hears(THINKING_DELTA):
            data = ThinkingDeltaData(block_index=chunk.index, delta=chunk.text)
            await self._host.notify(THINKING_DELTA, data)

    async def _report_text(self, chunk: StreamChunk) -> None:
        if self._host.hooks.hears(CONTENT_BLOCK_DELTA):
            data = ContentBlockDeltaData(block_index=chunk.index, delta=chunk.text)
            await self._host.notify(CONTENT_BLOCK_DELTA, data)


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup | None:
    """Mount the loop."""
    options = await parse_known(coordinator, LoopConfig, config, "loop-streaming", SYNONYMS)
    await coordinator.mount("orchestrator", StreamingLoop(options))
    return None
