"""loop-streaming: run a turn; replies are shown as they arrive.

Emits       content_block:*, thinking:*, and everything that loop-basic emits
Configure   as loop-basic
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any, Protocol

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.events import (
    CONTENT_BLOCK_DELTA,
    CONTENT_BLOCK_END,
    CONTENT_BLOCK_START,
    THINKING_DELTA,
    THINKING_FINAL,
)
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.llm_errors import StreamBrokenError
from amplifier_core.message_models import ChatRequest, ChatResponse, StreamChunk
from amplifier_core.payloads import (
    ContentBlockDeltaData,
    ContentBlockEndData,
    ContentBlockStartData,
    ThinkingDeltaData,
    ThinkingFinalData,
)
from amplifier_hooks.agent.loops.loop import Loop
from amplifier_hooks.agent.loops.model_call import SYNONYMS, LoopConfig, Turn
from amplifier_hooks.modules.options import parse_known


class TextStream(Protocol):
    """What a scrubber opens that can look over the edges of pieces (`open_stream`)."""

    def feed(self, piece: str) -> str: ...
    def flush(self) -> str: ...


class HeldText:
    """Takes the pieces of one block through every scrubber that can look over their edges.

    Scrubbers that cannot see each piece by itself, when it is shown or recorded.
    """

    def __init__(self, scrubbers: Iterable[Any]) -> None:
        opened = (getattr(one, "open_stream", None) for one in scrubbers)
        self._streams: list[TextStream] = [open_stream() for open_stream in opened if open_stream]

    def feed(self, piece: str) -> str:
        """Take a piece; returns what may be shown now, which may be nothing."""
        for stream in self._streams:
            piece = stream.feed(piece)
        return piece

    def flush(self) -> str:
        """What was held back, now that the block is complete."""
        rest = ""
        for stream in self._streams:
            rest = stream.feed(rest) + stream.flush()
        return rest


class StreamingLoop(Loop):
    """Passes on each piece of a reply as an event; a provider that cannot stream replies whole."""

    name = "loop-streaming"

    async def fetch_reply(self, turn: Turn, request: ChatRequest) -> ChatResponse:
        """Follow the stream to its end."""
        stream_reply = getattr(turn.provider, "stream", None)
        if stream_reply is None:
            turn.streamed = False
            return await turn.provider.complete(request)
        reporter = _Reporter(turn.coordinator)
        turn.streamed = turn.coordinator.hooks.has_listeners(CONTENT_BLOCK_DELTA)
        try:
            async with _close_at_the_end(stream_reply(request)) as stream:
                async for chunk in stream:
                    if chunk.kind == "response" and chunk.response is not None:
                        await reporter.finish()
                        return chunk.response
                    await reporter.report(chunk)
        except asyncio.CancelledError:
            turn.unfinished = reporter.read_text()
            raise
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

    def __init__(self, coordinator: SessionCoordinator) -> None:
        self._host = coordinator
        self._texts: list[str] = []
        self._thoughts: dict[int, list[str]] = {}
        self._held: dict[tuple[int, bool], HeldText] = {}
        """The pieces that wait, by block; True is for those of a thought."""

    async def report(self, chunk: StreamChunk) -> None:
        if chunk.kind == "block_start":
            await self._report_start(chunk)
        elif chunk.kind == "block_end":
            await self._report_end(chunk)
        elif chunk.kind == "thinking":
            self._thoughts.setdefault(chunk.index, []).append(chunk.text)
            await self._report_piece(chunk.index, True, chunk.text)
        else:
            self._texts.append(chunk.text)
            await self._report_piece(chunk.index, False, chunk.text)

    def read_text(self) -> str:
        """The text so far, without an end that may be the beginning of a secret."""
        return HeldText(self._host.trail.scrubbers).feed("".join(self._texts))

    async def finish(self) -> None:
        """Pass on what still waits: the reply is complete, whether its blocks were ended or not."""
        for index, is_thought in list(self._held):
            await self._report_rest(index, is_thought)

    async def _report_start(self, chunk: StreamChunk) -> None:
        data = ContentBlockStartData(block_index=chunk.index, block_type=chunk.block_type)
        await self._host.notify(CONTENT_BLOCK_START, data)

    async def _report_end(self, chunk: StreamChunk) -> None:
        await self._report_rest(chunk.index, True)
        await self._report_rest(chunk.index, False)
        if chunk.index in self._thoughts:
            whole = "".join(self._thoughts.pop(chunk.index))
            thought = ThinkingFinalData(block_index=chunk.index, thinking=whole)
            await self._host.notify(THINKING_FINAL, thought)
        data = ContentBlockEndData(block_index=chunk.index, block_type=chunk.block_type)
        await self._host.notify(CONTENT_BLOCK_END, data)

    async def _report_piece(self, index: int, is_thought: bool, text: str) -> None:
        # Deltas are many: without a listener they are neither dispatched nor recorded.
        event = THINKING_DELTA if is_thought else CONTENT_BLOCK_DELTA
        if not self._host.hooks.has_listeners(event):
            return
        if (index, is_thought) not in self._held:
            self._held[index, is_thought] = HeldText(self._host.trail.scrubbers)
        await self._emit_piece(index, is_thought, self._held[index, is_thought].feed(text))

    async def _report_rest(self, index: int, is_thought: bool) -> None:
        held = self._held.pop((index, is_thought), None)
        if held is not None:
            await self._emit_piece(index, is_thought, held.flush())

    async def _emit_piece(self, index: int, is_thought: bool, text: str) -> None:
        if not text:
            return
        if is_thought:
            thought = ThinkingDeltaData(block_index=index, delta=text)
            await self._host.notify(THINKING_DELTA, thought)
        else:
            data = ContentBlockDeltaData(block_index=index, delta=text)
            await self._host.notify(CONTENT_BLOCK_DELTA, data)


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup | None:
    """Mount the loop."""
    options = await parse_known(coordinator, LoopConfig, config, "loop-streaming", SYNONYMS)
    await coordinator.mount("orchestrator", StreamingLoop(options))
    return None
