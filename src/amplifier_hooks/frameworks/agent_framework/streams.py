"""Streams: held back until they are judged, followed to their end, or made of one response."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, cast

from agent_framework import AgentResponse, ChatResponse, ResponseStream

from amplifier_hooks.frameworks.agent_framework.contents import describe_calls
from amplifier_hooks.frameworks.agent_framework.replies import read_contents

Finish = Callable[[Any], Awaitable[Any]]
"""Gets the whole response of a stream; returns the one that counts."""

End = Callable[[BaseException | None], Awaitable[None]]


def hold_stream(
    stream: ResponseStream[Any, Any], judge: Finish, *, is_live: bool
) -> ResponseStream[Any, Any]:
    """A stream that releases nothing before the whole response is judged.

    A live one releases everything at once, for nobody would change it.
    """
    final: list[Any] = []

    async def release() -> AsyncIterator[Any]:
        updates: list[Any] = []
        async with stream:
            async for update in stream:
                if is_live:
                    yield update
                updates.append(update)
            response = await stream.get_final_response()
        judged = await judge(response)
        final.append(judged)
        if not is_live:
            for update in _find_updates(response, judged, updates):
                yield update

    return _make_stream(release(), final)


def _find_updates(response: Any, judged: Any, updates: list[Any]) -> list[Any]:
    """What to release of a reply.

    The framework marks the tool calls in what it receives and looks for the marks in the whole
    response, so both must have the same objects.
    """
    if judged is response and not describe_calls(read_contents(response.messages)):
        return updates
    return list(judged.to_updates())


def follow_stream(
    stream: ResponseStream[Any, Any], finish: Finish, end: End
) -> ResponseStream[Any, Any]:
    """The same stream, with its end told however it comes."""
    final: list[Any] = []

    async def follow() -> AsyncIterator[Any]:
        error: BaseException | None = None
        try:
            async with stream:
                async for update in stream:
                    yield update
                final.append(await finish(await stream.get_final_response()))
        except BaseException as raised:
            error = raised
            raise
        finally:
            await end(error)

    return _make_stream(follow(), final)


def stream_response(
    response: AgentResponse[Any] | ChatResponse[Any],
) -> ResponseStream[Any, Any]:
    """A stream of one response."""

    async def give() -> AsyncIterator[Any]:
        for update in response.to_updates():
            yield update

    return _make_stream(give(), [response])


def _make_stream(updates: AsyncIterator[Any], final: list[Any]) -> ResponseStream[Any, Any]:
    def find(_: Any) -> Any:
        if not final:
            raise RuntimeError("the stream was closed before its end, so it has no response")
        return final[-1]

    made: Any = ResponseStream(updates, finalizer=find)
    return cast("ResponseStream[Any, Any]", made)
