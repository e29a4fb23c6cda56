"""Streams: held back until they are judged, followed to their end, or made of one response."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

pytest.importorskip("agent_framework")

from agent_framework import ChatResponse, ChatResponseUpdate, Content, ResponseStream

from amplifier_hooks.frameworks.agent_framework.hooks import (
    follow_stream,
    hold_stream,
    stream_response,
)
from amplifier_hooks.frameworks.agent_framework.messages import say_in_chat


def make_stream(*words: str, seen: list[str] | None = None) -> Any:
    """A stream of words; `seen` gets each one as it is produced."""

    async def produce() -> AsyncIterator[ChatResponseUpdate]:
        try:
            for word in words:
                if seen is not None:
                    seen.append(word)
                yield ChatResponseUpdate(contents=[Content.from_text(word)], role="assistant")
        finally:
            if seen is not None:
                seen.append("closed")

    made: Any = ResponseStream
    return made(produce(), finalizer=ChatResponse.from_updates)


async def keep(response: Any) -> Any:
    """Judge a response without changing it."""
    return response


async def replace(response: Any) -> Any:
    """Judge a response and say something else."""
    return say_in_chat("withheld")


async def test_a_stream_is_held_until_it_is_judged() -> None:
    """The whole of it is produced before the first piece goes out."""
    seen: list[str] = []
    stream = hold_stream(make_stream("a", "b", seen=seen), keep, is_live=False)
    first = await anext(aiter(stream))
    assert first.text == "a"
    assert seen == ["a", "b", "closed"]
    assert [one.text async for one in stream] == ["b"]
    assert (await stream.get_final_response()).text == "ab"


async def test_another_response_is_streamed_instead() -> None:
    """Nothing of the first one goes out."""
    stream = hold_stream(make_stream("a", "b"), replace, is_live=False)
    assert [one.text async for one in stream] == ["withheld"]
    assert (await stream.get_final_response()).text == "withheld"


async def test_a_live_stream_is_not_held() -> None:
    """Its pieces go out as they come, and its end is judged."""
    seen: list[str] = []
    stream = hold_stream(make_stream("a", "b", seen=seen), replace, is_live=True)
    assert (await anext(aiter(stream))).text == "a"
    assert seen == ["a"]
    assert [one.text async for one in stream] == ["b"]
    assert (await stream.get_final_response()).text == "withheld"


@pytest.mark.parametrize("leave", [False, True])
async def test_the_end_of_a_stream_is_told_once(leave: bool) -> None:
    """Read to its end, or closed before."""
    ends: list[Any] = []

    async def end(error: BaseException | None) -> None:
        ends.append(type(error))

    seen: list[str] = []
    async with follow_stream(make_stream("a", "b", seen=seen), keep, end) as stream:
        async for _ in stream:
            if leave:
                break
    assert ends == [GeneratorExit if leave else type(None)]
    assert seen[-1] == "closed"


async def test_a_stream_that_was_left_has_no_response() -> None:
    """Half of one could be taken for the whole."""

    async def end(error: BaseException | None) -> None:
        """Nobody listens."""

    stream = follow_stream(make_stream("a", "b"), keep, end)
    await anext(aiter(stream))
    await stream.close()
    with pytest.raises(RuntimeError, match="closed before its end"):
        await stream.get_final_response()


async def test_a_response_can_be_streamed() -> None:
    """As if a model had said it."""
    stream = stream_response(say_in_chat("no"))
    assert [one.text async for one in stream] == ["no"]
    assert (await stream.get_final_response()).text == "no"
