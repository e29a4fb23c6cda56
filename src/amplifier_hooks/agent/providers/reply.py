"""Building a reply block by block, and the chunks that announce its parts."""

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
from amplifier_hooks.agent.providers.calls import read_call
from amplifier_hooks.modules.call_ids import ensure_distinct_ids

BlockType = Literal["text", "thinking", "tool_call"]


@dataclass(slots=True)
class _OpenBlock:
    """An unfinished block: its text so far, and what else is known about it."""

    index: int
    type: BlockType
    pieces: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class ReplyBuilder:
    """Collects the blocks of one reply. One block is open at a time; opening the next closes it."""

    def __init__(self) -> None:
        self._blocks: dict[Hashable, _OpenBlock] = {}
        self._open: _OpenBlock | None = None

    def open_block(self, key: Hashable, type: BlockType, **facts: Any) -> Iterator[StreamChunk]:
        """Begin a block, unless there is one under `key`; `facts` are added in any case."""
        block = self._blocks.get(key)
        if block is None:
            yield from self.close_block()
            block = self._blocks[key] = _OpenBlock(len(self._blocks), type)
            self._open = block
            yield StreamChunk("block_start", block.index, type)
        block.facts.update(_drop_none(facts))

    def add_text(self, key: Hashable, type: BlockType, text: str) -> Iterator[StreamChunk]:
        """Add to a block, and begin it if need be; arguments of tools are not passed on."""
        yield from self.open_block(key, type)
        block = self._blocks[key]
        if text:
            block.pieces.append(text)
        if text and block.type != "tool_call":
            yield StreamChunk(block.type, block.index, block.type, text)

    def add_facts(self, key: Hashable, **facts: Any) -> None:
        """Add what is known about a block, such as its signature; there is no chunk for it."""
        if key in self._blocks:
            self._blocks[key].facts.update(facts)

    def get_text(self, key: Hashable) -> str:
        """The text of a block so far."""
        return self._blocks[key].text if key in self._blocks else ""

    def close_block(self) -> Iterator[StreamChunk]:
        """End the block that is open."""
        if self._open is not None:
            yield StreamChunk("block_end", self._open.index, self._open.type)
        self._open = None

    def finish(
        self, *, usage: Usage | None, finish_reason: str | None, model: str | None, **facts: Any
    ) -> Iterator[StreamChunk]:
        """End the reply: the last chunk carries all of it."""
        yield from self.close_block()
        calls = self._read_calls()
        content = (_build_block(block, calls.get(key)) for key, block in self._blocks.items())
        response = ChatResponse(
            content=[block for block in content if block is not None],
            tool_calls=list(calls.values()) or None,
            usage=usage,
            # Some servers say "stop" when they mean that the tools are to run.
            finish_reason="tool_calls" if calls and finish_reason == "stop" else finish_reason,
            model=model,
            metadata=_drop_none(facts) or None,
        )
        yield StreamChunk("response", len(self._blocks), response=response)

    def _read_calls(self) -> dict[Hashable, ToolCall]:
        """The calls by the keys of their blocks; streamed arguments win over whole ones."""
        blocks = {key: one for key, one in self._blocks.items() if one.type == "tool_call"}
        calls = [
            read_call(
                one.facts.get("id"),
                one.facts.get("name") or "",
                one.text if one.pieces else one.facts.get("input"),
            )
            for one in blocks.values()
        ]
        return dict(zip(blocks, ensure_distinct_ids(calls), strict=True))


def _build_block(block: _OpenBlock, call: ToolCall | None) -> ContentBlock | None:
    if call is not None:
        return ToolCallBlock(id=call.id, name=call.name, input=call.arguments)
    if block.type == "thinking":
        return ThinkingBlock(thinking=block.text, **block.facts)
    return TextBlock(text=block.text) if block.text else None


def _drop_none(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: fact for name, fact in facts.items() if fact is not None}


def take_response(chunks: Iterator[StreamChunk]) -> ChatResponse:
    """The whole reply at the end of its chunks."""
    *_, last = chunks
    if last.response is None:
        raise ValueError("the chunks end without a response")
    return last.response
