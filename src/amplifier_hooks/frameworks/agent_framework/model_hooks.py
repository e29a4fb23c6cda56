"""Requests to a model and its replies, through the hooks of a run."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, cast

from agent_framework import (
    AgentResponse,
    ChatContext,
    ChatMiddleware,
    ChatResponse,
    MiddlewareTermination,
    ResponseStream,
)

from amplifier_core import events
from amplifier_hooks.external.run import Run
from amplifier_hooks.external.verdicts import ReplyVerdict
from amplifier_hooks.frameworks.agent_framework.messages import (
    change_reply,
    count_request,
    describe_calls,
    describe_reply,
    is_answer,
    read_contents,
    read_request,
    read_texts,
    refuse_reply,
    say_in_chat,
)

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


async def call_to_end(call_next: Callable[[], Awaitable[None]]) -> MiddlewareTermination | None:
    """Call what is behind us; returns by what it was ended, to be raised again afterwards."""
    try:
        await call_next()
    except MiddlewareTermination as ended:
        return ended
    return None


class ModelHooks(ChatMiddleware):
    """Judges what a model is sent and what it says, in one run."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.has_answered = False
        """Whether hooks have judged the answer of the turn."""

    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Send what hooks left of the request, and hand on what they left of the reply."""
        if not await self._ask(context):
            return
        started = time.monotonic()
        ended = await call_to_end(call_next)
        result = context.result

        async def judge(response: ChatResponse[Any]) -> ChatResponse[Any]:
            spent = int((time.monotonic() - started) * 1000)
            return await self._judge(context, response, spent)

        if isinstance(result, ResponseStream):
            context.result = hold_stream(result, judge, is_live=not self._is_judged())
        elif isinstance(result, ChatResponse):
            context.result = await judge(result)
        if ended is not None:
            raise ended

    def _is_judged(self) -> bool:
        """Whether a hook listens to replies or answers, and so could change them."""
        hooks = self.run.coordinator.hooks
        judged = (events.PROVIDER_RESPONSE, events.PROMPT_ANSWER)
        return any(hooks.has_listeners(event) for event in judged)

    async def _ask(self, context: ChatContext) -> bool:
        """Take the request through the hooks; false if the model is not called."""
        is_seen = self.run.hears(events.PROVIDER_REQUEST)
        request = read_request(context) if is_seen else count_request(context)
        verdict = await self.run.request(
            request.plain,
            provider=name_provider(context.client),
            model=find_model(context),
            tools=list_tools(context) if is_seen else (),
        )
        if not verdict.allowed:
            refusal = say_in_chat(verdict.reason)
            context.result = stream_response(refusal) if context.stream else refusal
        elif verdict.changed:
            request.place(context, verdict.placed)
        return verdict.allowed

    async def _judge(
        self, context: ChatContext, response: ChatResponse[Any], spent: int
    ) -> ChatResponse[Any]:
        wanted = (context.options or {}).get("response_format")
        verdict = ReplyVerdict(True)
        if self.run.hears(events.PROVIDER_RESPONSE):
            reply = describe_reply(response, spent)
            verdict = await self.run.review(reply, provider=name_provider(context.client))
        if not verdict.allowed:
            response = refuse_reply(response, verdict.reason)
        elif verdict.changed:
            response = change_reply(response, verdict, wanted)
        if not is_answer(response):
            return response
        text = read_texts(read_contents(response.messages))
        self.has_answered = True
        answer = await self.run.answer(text, streamed=context.stream and not self._is_judged())
        if answer.text == text:
            return response
        if not answer.allowed:
            return refuse_reply(response, answer.text)
        return change_reply(response, ReplyVerdict(True, text=answer.text), wanted)


def name_provider(client: Any) -> str:
    """The provider behind a client, as it names itself."""
    named = getattr(client, "OTEL_PROVIDER_NAME", None)
    return named if isinstance(named, str) and named != "unknown" else type(client).__name__


def find_model(context: ChatContext) -> str | None:
    """The model that a request is for."""
    named = (context.options or {}).get("model") or getattr(context.client, "model", None)
    return named if isinstance(named, str) else None


def list_tools(context: ChatContext) -> list[str]:
    """The names of the tools that a model may use."""
    tools = (context.options or {}).get("tools") or ()
    tools = tools if isinstance(tools, list | tuple) else [tools]
    named = [one.get("name") if isinstance(one, dict) else _name(one) for one in tools]
    return [one for one in named if isinstance(one, str)]


def _name(tool: Any) -> Any:
    return getattr(tool, "name", None) or getattr(tool, "__name__", None)
