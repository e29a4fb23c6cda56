"""Requests to a model and its replies, through the hooks of a run."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

from agent_framework import ChatContext, ChatMiddleware, ChatResponse, ResponseStream

from amplifier_core import events
from amplifier_hooks.external.run import Run
from amplifier_hooks.external.verdicts import ReplyVerdict
from amplifier_hooks.frameworks.agent_framework.contents import read_texts
from amplifier_hooks.frameworks.agent_framework.messages import count_request, read_request
from amplifier_hooks.frameworks.agent_framework.replies import (
    change_reply,
    describe_reply,
    is_answer,
    read_contents,
    refuse_reply,
    say_in_chat,
)
from amplifier_hooks.frameworks.agent_framework.streams import hold_stream, stream_response
from amplifier_hooks.frameworks.agent_framework.terminations import call_to_end


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
