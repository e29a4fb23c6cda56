"""The streaming loop."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.llm_errors import StreamBrokenError
from amplifier_core.message_models import ChatRequest, ChatResponse, StreamChunk, TextBlock
from amplifier_core.testing import EventRecorder, MockContextManager
from amplifier_foundation.orchestrators.loop import LoopConfig
from amplifier_foundation.orchestrators.streaming import StreamingLoop
from tests.support.sessions import SessionHarness


class Iterating:
    """An asynchronous iterator that is no generator and cannot be closed."""

    def __init__(self, source: Any) -> None:
        self.source = source

    def __aiter__(self) -> Any:
        return self

    async def __anext__(self) -> Any:
        return await anext(self.source)


async def test_a_stream_is_closed_where_the_reply_ends() -> None:
    """No connection is left open until the garbage is collected."""
    closed: list[bool] = []

    class Streaming:
        name = "streaming"

        async def stream(self, request: ChatRequest, **_: Any) -> Any:
            from amplifier_core.message_models import StreamChunk

            try:
                yield StreamChunk("response", response=ChatResponse(content=[TextBlock(text="x")]))
                yield StreamChunk("text", text="nobody reads this")
            finally:
                closed.append(True)

    async with SessionHarness([]) as harness:
        await harness.coordinator.mount("orchestrator", StreamingLoop())
        harness.coordinator.mount_points["providers"].clear()
        await harness.coordinator.mount("providers", Streaming())
        assert await harness.session.execute("x") == "x"
        assert closed == [True]


class Streaming:
    """A provider whose stream is what it is told to be."""

    name = "streaming"

    def __init__(self, *chunks: StreamChunk, plain: bool = False) -> None:
        self.chunks = chunks
        self.plain = plain

    def stream(self, request: ChatRequest) -> Any:
        made = self._generated()
        return Iterating(made) if self.plain else made

    async def _generated(self) -> Any:
        for chunk in self.chunks:
            yield chunk


async def streamed(provider: Streaming) -> tuple[str, EventRecorder]:
    hooks, heard = SessionCoordinator().hooks, EventRecorder()
    hooks.register("*", heard)
    loop = StreamingLoop(LoopConfig(attempts=1))
    return await loop.execute("x", MockContextManager(), {"s": provider}, {}, hooks), heard


async def test_a_stream_without_a_reply_is_a_broken_one() -> None:
    """The stream ended before the reply did."""
    with pytest.raises(StreamBrokenError, match="ended without a reply"):
        await streamed(Streaming(StreamChunk("text", text="half")))


async def test_thoughts_and_text_are_told_piece_by_piece() -> None:
    """Content and thinking deltas as events, and the whole thought at its end."""
    reply = ChatResponse(content=[TextBlock(text="yes")])
    chunks = [
        StreamChunk("block_start", 0, "thinking"),
        StreamChunk("thinking", 0, text="hm"),
        StreamChunk("thinking", 0, text="m"),
        StreamChunk("block_end", 0, "thinking"),
        StreamChunk("block_start", 1),
        StreamChunk("text", 1, text="yes"),
        StreamChunk("block_end", 1),
        StreamChunk("response", response=reply),
    ]
    said, heard = await streamed(Streaming(*chunks, plain=True))
    assert said == "yes"
    ((_, thought),) = heard.get_events("thinking:final")
    assert thought["thinking"] == "hmm"
    assert [d["delta"] for _, d in heard.get_events("content_block:delta")] == ["yes"]
