"""The capability that puts hooks in front of an agent."""

from __future__ import annotations

import asyncio
import copy
import time
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Self

from pydantic_ai import (
    Agent,
    AgentRunResult,
    DeferredToolRequests,
    ModelRequestContext,
    RunContext,
    SkipModelRequest,
    ToolDefinition,
    UserPromptNode,
)
from pydantic_ai.capabilities import (
    AbstractCapability,
    AgentNode,
    CapabilityOrdering,
    ValidatedToolArgs,
    WrapRunHandler,
    WrapToolExecuteHandler,
)
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.tools import AgentDepsT
from pydantic_ai.toolsets import AbstractToolset

from amplifier_core import events
from amplifier_core.payloads import EndReason
from amplifier_hooks.coverage import PYDANTIC_AI, Asking
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.external.inner_agents import govern_inner_agents
from amplifier_hooks.external.messages import Plain
from amplifier_hooks.external.verdicts import Reply
from amplifier_hooks.frameworks.governing import Governable, govern
from amplifier_hooks.frameworks.pydantic_ai.messages import (
    Reader,
    change_reply,
    make_message,
    read_calls,
    read_reply_text,
    read_usage,
    rebuild_request,
    write_reply,
)
from amplifier_hooks.frameworks.pydantic_ai.tools import (
    Gate,
    GovernedToolset,
    keep_questions,
    leads_to,
    read_approvals,
)
from amplifier_hooks.frameworks.pydantic_ai.turn import (
    RunRefused,
    Turn,
    ends_with_text,
    read_cancellation,
    refuse,
    tell_change,
)
from amplifier_hooks.guards.policy.unread_tools import OfferedTool, says_read_only


@dataclass(slots=True)
class Exchange:
    """The model's side of a run."""

    turn: Turn
    _reader: Reader = field(default_factory=Reader)
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
        messages = [*asked.messages, *self._kept]
        instructions = parameters.instruction_parts
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
        sent, left = rebuild_request(messages, instructions, items, verdict.placed)
        return replace(
            asked,
            messages=sent,
            model_request_parameters=replace(parameters, instruction_parts=left),
        )

    def _keep(self, ctx: RunContext[Any], lasting: Sequence[Plain]) -> None:
        """Put what hooks added for good into the history of the run."""
        for plain in lasting:
            message = make_message(plain)
            message.run_id = ctx.run_id
            message.conversation_id = ctx.conversation_id
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
        calls = read_calls(response)
        reply = Reply(
            read_reply_text(response),
            calls,
            model=response.model_name,
            usage=read_usage(response),
            finish_reason=response.finish_reason,
            duration_ms=int((time.perf_counter() - self._asked_at) * 1000),
        )
        verdict = await run.review(reply, provider=asked.model.system)
        if verdict.allowed and not verdict.changed:
            return response
        if verdict.allowed:
            if asked.streaming and verdict.text is not None:
                await tell_change(run, events.PROVIDER_RESPONSE)
            return change_reply(response, verdict.text, verdict.calls)
        was_read = asked.streaming and not calls
        if was_read or not ends_with_text(asked.model_request_parameters):
            raise RunRefused(verdict.reason)
        return write_reply(response, verdict.reason)


def _describe_tool(tool: ToolDefinition) -> OfferedTool:
    only_reads = says_read_only((tool.metadata or {}).get("annotations"))
    return OfferedTool(tool.name, tool.parameters_json_schema, only_reads)


_governed: ContextVar[frozenset[tuple[str | None, int]]] = ContextVar(
    "amplifier_governed", default=frozenset()
)
"""Runs and their governors: one that an agent and its caller both named judges once."""


@dataclass(init=False, repr=False, eq=False)  # without which it could not be named in a file
class AmplifierHooks(AbstractCapability[AgentDepsT]):
    """Puts hooks in front of an agent, or of one of its runs.

    `hooks` is the path of a bundle, a Bundle, a HookRegistry, a coordinator, a session, or what
    `amplifier_hooks.frameworks.govern` made of one. `asks` says where people are asked: "inline",
    as the bundle says and while the call waits, or "interrupt", by whoever gets the run's
    DeferredToolRequests (see `resume`).
    """

    def __init__(self, hooks: Governable | None = None, *, asks: Asking = "inline") -> None:
        if asks not in PYDANTIC_AI.asking:
            raise ValueError(f"asks is {' or '.join(map(repr, PYDANTIC_AI.asking))}, not {asks!r}")
        self.governor: Governor = govern(hooks)
        self.asks: Asking = asks
        self._start()
        # Pydantic AI has no switch for all agents.
        govern_inner_agents(Agent, ("iter",), PYDANTIC_AI, _add_to_inner)

    def _start(self) -> None:
        self._turn = Turn(self.governor)
        self._gate = Gate(self._turn, self.asks)
        self._exchange = Exchange(self._turn)

    def get_ordering(self) -> CapabilityOrdering:
        """Innermost: hooks see what other capabilities made of it."""
        return CapabilityOrdering(position="innermost")

    async def for_run(self, ctx: RunContext[AgentDepsT]) -> Self:
        """An instance for this run alone."""
        made = copy.copy(self)
        made._start()
        return made

    # The run

    async def wrap_run(
        self, ctx: RunContext[AgentDepsT], *, handler: WrapRunHandler
    ) -> AgentRunResult[Any]:
        """From session:start to session:end."""
        key = (ctx.run_id, id(self.governor))
        self._turn.is_covered = key in _governed.get()
        if self._turn.is_covered:
            return await handler()
        _governed.set(_governed.get() | {key})
        reason: EndReason = "error"
        try:
            refusal = await self._turn.begin(ctx)
            if refusal is not None:
                reason = "complete"
                return refuse(ctx, refusal)
            result = await self._turn.answer(await handler())
            if isinstance(result.output, DeferredToolRequests):
                keep_questions(result.output, result.all_messages())
            reason = "complete"
        except asyncio.CancelledError:
            reason = read_cancellation(ctx)
            raise
        finally:
            await self._turn.end(reason)
        return result

    async def before_node_run(
        self, ctx: RunContext[AgentDepsT], *, node: AgentNode[AgentDepsT]
    ) -> AgentNode[AgentDepsT]:
        """Put in the prompt that hooks left, and what was answered to their questions."""
        if not isinstance(node, UserPromptNode) or self._turn.is_covered:
            return node
        if node.deferred_tool_results is not None:
            read = read_approvals(node.deferred_tool_results, ctx.messages)
            node = replace(node, deferred_tool_results=read)
        return self._turn.change_prompt(ctx, node)

    # The model

    async def prepare_model_request(
        self, ctx: RunContext[AgentDepsT], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """provider:request, for each attempt."""
        if self._turn.is_covered:
            return request_context
        return await self._exchange.ask(ctx, request_context)

    async def after_model_request(
        self,
        ctx: RunContext[AgentDepsT],
        *,
        request_context: ModelRequestContext,
        response: ModelResponse,
    ) -> ModelResponse:
        """provider:response."""
        if self._turn.is_covered:
            return response
        return await self._exchange.review(request_context, response)

    # Tools

    def get_wrapper_toolset(
        self, toolset: AbstractToolset[AgentDepsT]
    ) -> AbstractToolset[AgentDepsT] | None:
        """tool:pre and tool:post, where a tool is called."""
        return GovernedToolset(toolset, self._gate)

    async def wrap_tool_execute(
        self,
        ctx: RunContext[AgentDepsT],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: ValidatedToolArgs,
        handler: WrapToolExecuteHandler,
    ) -> Any:
        """tool:pre and tool:post of a tool that is not called there."""
        if self._turn.is_covered:
            return await handler(args)
        manager = ctx.tool_manager
        is_certain = manager is not None and leads_to(self._gate, manager.toolset)
        return await self._gate.begin_call(ctx, call, args, handler, is_certain=is_certain)

    async def before_tool_execute(
        self,
        ctx: RunContext[AgentDepsT],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: ValidatedToolArgs,
    ) -> ValidatedToolArgs:
        """Refuse what was changed after it was judged."""
        self._gate.check_call(call, args)
        return args


def _add_to_inner(governor: Governor, agent: Any, options: dict[str, Any]) -> None:
    # Where the agent has the same hooks, one of the two rests.
    options["capabilities"] = [*(options.get("capabilities") or ()), AmplifierHooks(governor)]
