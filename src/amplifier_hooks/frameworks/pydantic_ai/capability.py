"""The capability that puts hooks in front of an agent."""

from __future__ import annotations

import asyncio
import copy
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Self

from pydantic_ai import (
    AgentRunResult,
    ModelRequestContext,
    RunContext,
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
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.tools import AgentDepsT
from pydantic_ai.toolsets import AbstractToolset

from amplifier_core.events.payloads import EndReason
from amplifier_hooks.coverage import PYDANTIC_AI, Asking
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.frameworks.governing import Governable, govern
from amplifier_hooks.frameworks.pydantic_ai.exchange import Exchange
from amplifier_hooks.frameworks.pydantic_ai.gate import Gate
from amplifier_hooks.frameworks.pydantic_ai.refusal import refuse
from amplifier_hooks.frameworks.pydantic_ai.toolset import GovernedToolset, leads_to
from amplifier_hooks.frameworks.pydantic_ai.turn import Turn, read_cancellation

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
        """Put in the prompt that hooks left."""
        if isinstance(node, UserPromptNode) and not self._turn.is_covered:
            return self._turn.change_prompt(ctx, node)
        return node

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
