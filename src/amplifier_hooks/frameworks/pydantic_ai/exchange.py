"""Requests to a model and its replies, through the hooks of a run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from pydantic_ai import ModelRequestContext, RunContext, SkipModelRequest, ToolDefinition
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart

from amplifier_core import events
from amplifier_hooks.external.messages import Plain
from amplifier_hooks.external.verdicts import Reply
from amplifier_hooks.frameworks.pydantic_ai.refusal import RunRefused, ends_with_text
from amplifier_hooks.frameworks.pydantic_ai.streaming import tell_change
from amplifier_hooks.frameworks.pydantic_ai.translation import replies, requests
from amplifier_hooks.frameworks.pydantic_ai.turn import Turn
from amplifier_hooks.guards.policy.unread_tools import OfferedTool, says_read_only


@dataclass(slots=True)
class Exchange:
    """The model's side of a run."""

    turn: Turn
    _reader: requests.Reader = field(default_factory=requests.Reader)
    _asked_at: float = 0.0
    _kept: list[ModelMessage] = field(default_factory=list)
    """What hooks added for good with this request: a second attempt does not have it yet."""

    async def ask(self, ctx: RunContext[Any], asked: ModelRequestContext) -> ModelRequestContext:
        """The request that hooks leave; the model is not called if they refuse it."""
        run = self.turn.use()
        self.turn.check_prompt()
        self.turn.streamed = asked.streaming
        if asked.attempt == 1:
            self._kept = []
        parameters = asked.model_request_parameters
        messages, instructions = [*asked.messages, *self._kept], parameters.instruction_parts
        items = self._reader.list_items(messages, instructions)
        verdict = await run.request(
            [item.plain for item in items],
            provider=asked.model.system,
            model=asked.model.model_name,
            tools=[_describe_tool(tool) for tool in parameters.function_tools],
            keeps=True,
        )
        if not verdict.allowed:
            raise self._refuse(asked, verdict.reason)
        self._asked_at = time.perf_counter()
        self._keep(ctx, verdict.lasting)
        if not verdict.changed and not self._kept:
            return asked
        sent, left = requests.rebuild(messages, instructions, items, verdict.placed)
        return replace(
            asked,
            messages=sent,
            model_request_parameters=replace(parameters, instruction_parts=left),
        )

    def _keep(self, ctx: RunContext[Any], lasting: Sequence[Plain]) -> None:
        """Put what hooks added for good into the history of the run."""
        for plain in lasting:
            message = requests.make_message(plain)
            message.run_id, message.conversation_id = ctx.run_id, ctx.conversation_id
            if isinstance(message, ModelRequest):
                message.timestamp = datetime.now(UTC)
            self._kept.append(message)
            ctx.messages.append(message)

    def _refuse(self, asked: ModelRequestContext, reason: str) -> Exception:
        """The reason as the model's reply, if it may end the run with a text."""
        if not ends_with_text(asked.model_request_parameters):
            return RunRefused(reason)
        return SkipModelRequest(ModelResponse(parts=[TextPart(reason)], finish_reason="stop"))

    async def review(self, asked: ModelRequestContext, response: ModelResponse) -> ModelResponse:
        """The reply that hooks leave."""
        run = self.turn.use()
        if not run.hears(events.PROVIDER_RESPONSE):
            return response
        calls = replies.read_calls(response)
        reply = Reply(
            replies.read_text(response),
            calls,
            model=response.model_name,
            usage=replies.read_usage(response),
            finish_reason=response.finish_reason,
            duration_ms=int((time.perf_counter() - self._asked_at) * 1000),
        )
        verdict = await run.review(reply, provider=asked.model.system)
        if verdict.allowed and not verdict.changed:
            return response
        if verdict.allowed:
            if asked.streaming and verdict.text is not None:
                await tell_change(run, events.PROVIDER_RESPONSE)
            return replies.change(response, verdict.text, verdict.calls)
        was_read = asked.streaming and not calls
        if was_read or not ends_with_text(asked.model_request_parameters):
            raise RunRefused(verdict.reason)
        return replies.say(response, verdict.reason)


def _describe_tool(tool: ToolDefinition) -> OfferedTool:
    only_reads = says_read_only((tool.metadata or {}).get("annotations"))
    return OfferedTool(tool.name, tool.parameters_json_schema, only_reads)
