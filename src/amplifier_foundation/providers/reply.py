"""A reply that grows block by block, and the chunks that tell of it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from amplifier_core.message_models import (
    ChatResponse,
    ContentBlock,
    StreamChunk,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolCallBlock,
    Usage,
)
from amplifier_foundation.providers.calls import read_call, with_distinct_ids

BlockType = Literal["text", "thinking", "tool_call"]


@dataclass(slots=True)
class Growing:
    """A block under way."""

    index: int
    type: BlockType
    pieces: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """What has arrived so far."""
        return "".join(self.pieces)


class Assembly:
    """Collects the blocks of one reply. One block is open at a time; opening the next closes it."""

    def __init__(self) -> None:
        self._blocks: dict[Hashable, Growing] = {}
        self._open: Growing | None = None

    def open(self, key: Hashable, type: BlockType, **facts: Any) -> Iterator[StreamChunk]:
        """Begin a block, unless `key` is known already; `facts` are added in any case."""
        block = self._blocks.get(key)
        if block is None:
            yield from self.close()
            block = self._blocks[key] = Growing(len(self._blocks), type)
            self._open = block
            yield StreamChunk("block_start", block.index, type)
        block.facts.update({name: value for name, value in facts.items() if value is not None})

    def grow(self, key: Hashable, type: BlockType, text: str) -> Iterator[StreamChunk]:
        """Add to a block, and begin it if need be; arguments of tools grow unseen."""
        yield from self.open(key, type)
        block = self._blocks[key]
        if text:
            block.pieces.append(text)
        if text and block.type != "tool_call":
            yield StreamChunk(block.type, block.index, block.type, text)

    def know(self, key: Hashable, **facts: Any) -> None:
        """Add what is known about a block, such as its signature, and show nothing."""
        if key in self._blocks:
            self._blocks[key].facts.update(facts)

    def grown(self, key: Hashable) -> str:
        """The text of a block so far."""
        return self._blocks[key].text if key in self._blocks else ""

    def close(self) -> Iterator[StreamChunk]:
        """End the block that is open."""
        if self._open is not None:
            yield StreamChunk("block_end", self._open.index, self._open.type)
        self._open = None

    def finish(
        self, *, usage: Usage | None, finish_reason: str | None, model: str | None, **facts: Any
    ) -> Iterator[StreamChunk]:
        """End the reply: the last chunk carries all of it."""
        yield from self.close()
        calls = iter(with_distinct_ids(self._calls()))
        content = [_built(block, calls) for block in self._blocks.values()]
        called = [call for _, call in content if call is not None]
        response = ChatResponse(
            content=[block for block, _ in content if block is not None],
            tool_calls=called or None,
            usage=usage,
            # Some servers say "stop" when they mean that the tools are to run.
            finish_reason="tool_calls" if called and finish_reason == "stop" else finish_reason,
            model=model,
            metadata={name: fact for name, fact in facts.items() if fact is not None} or None,
        )
        yield StreamChunk("response", len(self._blocks), response=response)

    def _calls(self) -> Iterator[ToolCall]:
        for block in self._blocks.values():
            if block.type == "tool_call":
                facts = block.facts
                written = facts.get("input") if not block.pieces else block.text
                yield read_call(facts.get("id"), facts.get("name") or "", written)


def _built(
    block: Growing, calls: Iterator[ToolCall]
) -> tuple[ContentBlock | None, ToolCall | None]:
    if block.type == "tool_call":
        call = next(calls)
        return ToolCallBlock(id=call.id, name=call.name, input=call.arguments), call
    if block.type == "thinking":
        return ThinkingBlock(thinking=block.text, **block.facts), None
    return (TextBlock(text=block.text) if block.text else None), None


def response_of(chunks: Iterator[StreamChunk]) -> ChatResponse:
    """The whole reply at the end of its chunks."""
    *_, last = chunks
    if last.response is None:
        raise ValueError("the chunks end without a response")
    return last.response
