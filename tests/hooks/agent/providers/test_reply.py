"""A reply is put together block by block, in the order in which its blocks were opened."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.message_models import (
    ChatResponse,
    StreamChunk,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from amplifier_hooks.agent.providers.reply import ReplyBuilder, take_response


def finish(builder: ReplyBuilder, reason: str | None = "stop", **facts: Any) -> ChatResponse:
    return take_response(builder.finish(usage=None, finish_reason=reason, model="m", **facts))


def describe(chunks: list[StreamChunk]) -> list[tuple[str, int, str]]:
    return [(chunk.kind, chunk.index, chunk.text) for chunk in chunks]


def test_opening_a_block_closes_the_one_before() -> None:
    """One block is open at a time, and its pieces are passed on as they come."""
    builder = ReplyBuilder()
    chunks = [
        *builder.add_text("t", "thinking", "Hm"),
        *builder.add_text("t", "thinking", "."),
        *builder.add_text("x", "text", "Yes"),
    ]
    assert describe(chunks) == [
        ("block_start", 0, ""),
        ("thinking", 0, "Hm"),
        ("thinking", 0, "."),
        ("block_end", 0, ""),
        ("block_start", 1, ""),
        ("text", 1, "Yes"),
    ]
    *end, last = builder.finish(usage=None, finish_reason="stop", model="m")
    assert describe(end) == [("block_end", 1, "")]
    assert last.response is not None
    assert last.response.content == [ThinkingBlock(thinking="Hm."), TextBlock(text="Yes")]


def test_arguments_are_collected_and_not_passed_on() -> None:
    """Half an argument is of no use to a listener."""
    builder = ReplyBuilder()
    list(builder.open_block(0, "tool_call", id="a", name="Bash"))
    assert list(builder.add_text(0, "tool_call", '{"n":')) == []
    assert list(builder.add_text(0, "tool_call", " 1}")) == []
    reply = finish(builder)
    assert reply.content == [ToolCallBlock(id="a", name="Bash", input={"n": 1})]
    assert reply.tool_calls is not None
    assert reply.tool_calls[0].arguments == {"n": 1}


def test_streamed_arguments_go_before_those_that_were_known() -> None:
    """The whole input, which comes with some protocols, serves when nothing was streamed."""
    for streamed, expected in (("", {"known": 1}), ('{"streamed": 2}', {"streamed": 2})):
        builder = ReplyBuilder()
        list(builder.open_block(0, "tool_call", id="a", name="Bash"))
        builder.add_facts(0, input={"known": 1})
        list(builder.add_text(0, "tool_call", streamed))
        assert [call.arguments for call in finish(builder).tool_calls or []] == [expected]


def test_facts_are_kept_with_their_block() -> None:
    """A signature comes after the thought that it signs; facts of unknown blocks are dropped."""
    builder = ReplyBuilder()
    list(builder.open_block(0, "thinking", item_id="rs_1", signature=None))
    builder.add_facts(0, signature="s")
    builder.add_facts(9, signature="nobody's")
    (block,) = finish(builder).content
    assert isinstance(block, ThinkingBlock)
    assert (block.signature, block.model_extra) == ("s", {"item_id": "rs_1"})


@pytest.mark.parametrize(
    ("said", "meant"), [("stop", "tool_calls"), ("length", "length"), (None, None)]
)
def test_a_reply_that_calls_tools_ends_with_them(said: str | None, meant: str | None) -> None:
    """Some servers say "stop" when they mean that the tools are to run."""
    builder = ReplyBuilder()
    list(builder.open_block(0, "tool_call", name="Bash"))
    assert finish(builder, said).finish_reason == meant


def test_what_is_known_of_the_reply_is_in_its_metadata() -> None:
    """Without anything there is none."""
    assert finish(ReplyBuilder(), id="r1", region=None).metadata == {"id": "r1"}
    assert finish(ReplyBuilder()).metadata is None
    assert finish(ReplyBuilder()).content == []


STEPS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["text", "thinking", "tool_call"]), st.text()),
    max_size=12,
)


@given(STEPS)
def test_blocks_never_overlap_and_no_text_is_lost(steps: list[tuple[int, Any, str]]) -> None:
    """However pieces are interleaved: every block opens and closes once, and has all its text."""
    builder = ReplyBuilder()
    chunks = [c for key, kind, text in steps for c in builder.add_text((key, kind), kind, text)]
    chunks += builder.finish(usage=None, finish_reason=None, model=None)
    opened = [chunk.index for chunk in chunks if chunk.kind == "block_start"]
    closed = [chunk.index for chunk in chunks if chunk.kind == "block_end"]
    assert opened == closed == list(range(len({(key, kind) for key, kind, _ in steps})))
    for kind in ("text", "thinking"):
        told = sorted("".join(chunk.text for chunk in chunks if chunk.kind == kind))
        assert told == sorted("".join(text for _, one, text in steps if one == kind))


def test_chunks_without_a_reply_at_their_end_are_a_mistake() -> None:
    """Nobody takes the last piece for the whole."""
    with pytest.raises(ValueError, match="end without a response"):
        take_response(iter([StreamChunk("text", 0, "text", "x")]))
