"""Requests to a model and its replies, through the hooks."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable
from typing import Any

from strands.middleware import InvokeModelContext, ModelStopReason

from amplifier_core import events
from amplifier_hooks.coverage import STRANDS
from amplifier_hooks.external.run import Run
from amplifier_hooks.frameworks.strands.contents import read_text
from amplifier_hooks.frameworks.strands.replies import (
    change_answer,
    change_reply,
    is_answer,
    read_reply,
    write_refusal,
)
from amplifier_hooks.frameworks.strands.requests import (
    change_request,
    read_model_name,
    read_request,
    read_tools,
)
from amplifier_hooks.frameworks.strands.turns import Turns

PROVIDER = STRANDS.name
NO_RUN = "no hooks stand behind this request, so it was not sent"
Next = Callable[[InvokeModelContext], AsyncGenerator[Any, None]]


class ModelStage:
    """What an agent does around each call of its model."""

    def __init__(self, turns: Turns, *, holds: bool) -> None:
        self._turns = turns
        self._holds = holds

    async def run(self, context: InvokeModelContext, next_fn: Next) -> AsyncGenerator[Any, None]:
        """Take the request through the hooks, and then the reply."""
        run = self._turns.find(context.agent, context.invocation_state)
        if run is None:
            yield write_refusal(NO_RUN)
            return
        allowed = await _judge_request(run, context)
        if isinstance(allowed, ModelStopReason):
            yield allowed
            return
        held: list[Any] = []
        stop: ModelStopReason | None = None
        started = time.perf_counter()
        async for event in next_fn(allowed):
            if isinstance(event, ModelStopReason):
                stop = event
            elif self._holds:
                held.append(event)
            else:
                yield event
        if stop is not None:
            spent = int((time.perf_counter() - started) * 1000)
            judged = await self._judge_reply(run, stop, read_model_name(context), spent)
            for event in [*held, judged] if judged is stop else [judged]:
                yield event

    async def _judge_reply(
        self, run: Run, stop: ModelStopReason, model: str | None, spent: int
    ) -> ModelStopReason:
        """The reply as hooks left it; one that wants no tool is the agent's answer."""
        left = stop
        if run.hears(events.PROVIDER_RESPONSE):
            verdict = await run.review(read_reply(stop, model, spent), provider=PROVIDER)
            if not verdict.allowed:
                return write_refusal(verdict.reason, stop)
            left = change_reply(stop, verdict) if verdict.changed else stop
        if not is_answer(left):
            return left
        text = read_text(left.message["content"])
        answer = await run.answer(text, streamed=bool(text) and not self._holds)
        if answer.allowed and not answer.changed:
            return left
        return change_answer(left, answer.text)


async def _judge_request(
    run: Run, context: InvokeModelContext
) -> InvokeModelContext | ModelStopReason:
    """The request as hooks left it, or the reply that stands for a refused one."""
    pieces = read_request(context, in_full=run.hears(events.PROVIDER_REQUEST))
    verdict = await run.request(
        [piece.message for piece in pieces],
        provider=PROVIDER,
        model=read_model_name(context),
        tools=read_tools(context),
    )
    if not verdict.allowed:
        return write_refusal(verdict.reason)
    return change_request(context, pieces, verdict.placed) if verdict.changed else context
