"""The turn that all loops share: ask the model, run its tools, until it has said its last word."""

from __future__ import annotations

import asyncio
import inspect
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from amplifier_core.coordinator import SessionCoordinator, denial_text
from amplifier_core.errors import ModuleNotFound
from amplifier_core.events import (
    DECISION_TOOL_RESOLUTION,
    EXECUTION_COMPLETE,
    EXECUTION_START,
    ORCHESTRATOR_COMPLETE,
    PROVIDER_ERROR,
    PROVIDER_RESPONSE,
    PROVIDER_RETRY,
    USER_NOTIFICATION,
)
from amplifier_core.injection.placing import add_message
from amplifier_core.llm_errors import LLMError
from amplifier_core.message_models import (
    ChatRequest,
    ChatResponse,
    Message,
    ToolCall,
    ToolSpec,
    build_request,
)
from amplifier_core.models import ToolResult
from amplifier_core.tool_call import call_tool, read_result_limit, render_result
from amplifier_core.utils import retry

Status = Literal["success", "error", "interrupted"]

_CANCELLED = ToolResult.failed("The call was cancelled.")


class LoopConfig(BaseModel):
    """Options of the loops."""

    model_config = ConfigDict(extra="forbid")

    max_turns: int = Field(default=50, ge=1, description="Requests to the model for one prompt")
    max_denied: int = Field(default=8, ge=1, description="Rounds in a row with every call denied")
    attempts: int = Field(default=4, ge=1, description="Tries of one request")
    retry_delay: float = Field(default=1.0, ge=0, description="Seconds before the second try")
    max_retry_delay: float = Field(default=60.0, ge=0)
    provider: str | None = Field(default=None, description="Which one; the first if not said")
    system: str | None = Field(default=None, description="Instructions before the conversation")
    parallel_tools: bool = True


@dataclass
class Turn:
    """What one prompt needs on its way."""

    coordinator: SessionCoordinator
    context: Any
    provider: Any
    tools: Mapping[str, Any]
    specs: list[ToolSpec]
    requests: int = 0
    denied_in_a_row: int = 0
    status: Status = "success"
    final: dict[str, Any] = field(default_factory=dict)


class Loop:
    """Runs turns. How a reply arrives, whole or in pieces, is for the kind of loop to say."""

    name = "loop"

    def __init__(self, config: LoopConfig | None = None) -> None:
        self.config = config or LoopConfig()
        self._seen: dict[int, tuple[dict[str, Any], Message]] = {}
        self._described: tuple[tuple[tuple[str, Any], ...], list[ToolSpec]] = ((), [])

    async def reply(self, turn: Turn, request: ChatRequest) -> ChatResponse:
        """Send one request and wait for the whole reply."""
        raise NotImplementedError

    async def execute(
        self,
        prompt: str,
        context: Any,
        providers: Mapping[str, Any],
        tools: Mapping[str, Any],
        hooks: Any,
        coordinator: SessionCoordinator | None = None,
        **_: Any,
    ) -> str:
        """Process a prompt; returns the last words of the agent."""
        board = coordinator or SessionCoordinator(hooks, context)
        turn = Turn(board, context, self._provider(providers), tools, self._specs(tools))
        started = time.perf_counter()
        reply = ""
        if board.reaches_anybody(EXECUTION_START):
            await board.notify(EXECUTION_START, {"prompt": prompt})
        try:
            await add_message(context, {"role": "user", "content": prompt})
            reply = await self._converse(turn)
        except asyncio.CancelledError:
            turn.status = "interrupted"
            raise
        except BaseException:
            turn.status = "error"
            raise
        finally:
            await self._complete(turn, reply, started)
        return reply

    def _provider(self, providers: Mapping[str, Any]) -> Any:
        wanted = self.config.provider
        if wanted is None and providers:
            return next(iter(providers.values()))
        if wanted is None or wanted not in providers:
            which = "No provider" if wanted is None else f"No provider {wanted!r}"
            raise ModuleNotFound(f"{which} is mounted; have {sorted(providers)}")
        return providers[wanted]

    def _specs(self, tools: Mapping[str, Any]) -> list[ToolSpec]:
        """What the model is told about the tools, written anew when they change."""
        have = tuple(tools.items())
        if have != self._described[0]:
            self._described = (have, [_spec(name, tool) for name, tool in have])
        return self._described[1]

    async def _complete(self, turn: Turn, reply: str, started: float) -> None:
        board = turn.coordinator
        if board.reaches_anybody(ORCHESTRATOR_COMPLETE):
            spent = int((time.perf_counter() - started) * 1000)
            await board.notify(
                ORCHESTRATOR_COMPLETE,
                {
                    "orchestrator": self.name,
                    "final_message": turn.final,
                    "turn_count": turn.requests,
                    "duration_ms": spent,
                    "status": turn.status,
                },
            )
        if board.reaches_anybody(EXECUTION_COMPLETE):
            done = {"response": reply, "status": turn.status}
            await board.notify(EXECUTION_COMPLETE, done)

    async def _converse(self, turn: Turn) -> str:
        while turn.requests < self.config.max_turns:
            if turn.coordinator.cancellation.is_cancelled:
                turn.status = "interrupted"
                return turn.final.get("content") or "Stopped, as requested."
            await _compact(turn.context)
            response, refusal = await self._ask(turn)
            if response is None:
                return refusal
            calls = await self._remember(turn, response)
            if not calls:
                return response.text
            await self._run_tools(turn, calls)
            if turn.denied_in_a_row >= self.config.max_denied:
                return await self._give_up(
                    turn, f"every tool call of {turn.denied_in_a_row} rounds was denied"
                )
        return await self._give_up(
            turn, f"max_turns reached: {self.config.max_turns} requests for one prompt"
        )

    async def _give_up(self, turn: Turn, why: str) -> str:
        turn.status = "interrupted"
        message = f"Stopped: {why}."
        alert = {"notification_type": "alert", "message": message, "metadata": {"loop": self.name}}
        await turn.coordinator.notify(USER_NOTIFICATION, alert)
        await turn.coordinator.show(message, "warning", self.name)
        return message

    # One request

    async def _ask(self, turn: Turn) -> tuple[ChatResponse | None, str]:
        """The reply, or None and why there is none."""
        turn.requests += 1
        provider = turn.provider
        opened = await turn.coordinator.open_request(
            {
                "provider": provider.name,
                "model": getattr(provider, "model", None),
                "tools": [spec.name for spec in turn.specs],
                "iteration": turn.requests,
            }
        )
        if opened.action == "deny" or opened.data is None:
            turn.status = "interrupted"
            return None, denial_text(opened)
        request = self._request(turn, opened.data["messages"])
        started = time.perf_counter()
        response = await self._tried(turn, request)
        return await self._judged(turn, response, int((time.perf_counter() - started) * 1000))

    def _request(self, turn: Turn, messages: list[dict[str, Any]]) -> ChatRequest:
        wire = [self._message(one) for one in messages]
        self._seen = {id(one): (one, wired) for one, wired in zip(messages, wire, strict=True)}
        if self.config.system:
            wire.insert(0, Message(role="system", content=self.config.system))
        return build_request(wire, turn.specs or None)

    def _message(self, message: dict[str, Any]) -> Message:
        known = self._seen.get(id(message))
        if known is not None and known[0] is message:
            return known[1]
        return Message.model_validate(message)

    async def _tried(self, turn: Turn, request: ChatRequest) -> ChatResponse:
        async def told(attempt: int, pause: float, error: Exception) -> None:
            data = {
                "provider": turn.provider.name,
                "attempt": attempt,
                "max_attempts": self.config.attempts,
                "delay_ms": int(pause * 1000),
                "error": _details(error),
            }
            await turn.coordinator.notify(PROVIDER_RETRY, data)

        try:
            return await retry(
                partial(self.reply, turn, request),
                attempts=self.config.attempts,
                delay=self.config.retry_delay,
                max_delay=self.config.max_retry_delay,
                on_retry=told,
            )
        except LLMError as error:
            data = {"provider": turn.provider.name, "error": _details(error)}
            await turn.coordinator.notify(PROVIDER_ERROR, data)
            raise

    async def _judged(
        self, turn: Turn, response: ChatResponse, spent: int
    ) -> tuple[ChatResponse | None, str]:
        _count(turn.coordinator, response)
        board = turn.coordinator
        data = {
            "provider": turn.provider.name,
            "model": response.model or getattr(turn.provider, "model", None),
            "usage": {} if response.usage is None else response.usage.model_dump(),
            "duration_ms": spent,
        }
        if not board.hooks.hears(PROVIDER_RESPONSE):
            board.trail.unheard(PROVIDER_RESPONSE, data)
            return response, ""
        told = data["response"] = response.model_dump()
        result = await board.execute_with_hooks(PROVIDER_RESPONSE, data)
        if result.action == "deny":
            turn.status = "interrupted"
            return None, denial_text(result)
        seen = (result.data or {}).get("response", told)
        return (response if seen == told else ChatResponse.model_validate(seen)), ""

    async def _remember(self, turn: Turn, response: ChatResponse) -> list[ToolCall]:
        calls = _calls(turn.provider, response)
        message: dict[str, Any] = {"role": "assistant", "content": response.text}
        if calls:
            message["tool_calls"] = [_written(call) for call in calls]
        thinking = [block for block in response.content if block.type == "thinking"]
        if thinking:
            message["content"] = [block.model_dump(exclude_none=True) for block in response.content]
        await add_message(turn.context, message)
        turn.final = message
        return calls

    # Tools

    async def _run_tools(self, turn: Turn, calls: list[ToolCall]) -> None:
        """Run the calls of one reply; their results stand in the model's order behind it."""
        results: list[ToolResult | None] = [None] * len(calls)
        async with turn.coordinator.tool_calls():
            try:
                await self._run_each(turn, calls, results)
            finally:
                limit = read_result_limit(turn.coordinator.config)
                for call, result in zip(calls, results, strict=True):
                    await _place_result(turn.context, call, result or _CANCELLED, limit)
        denied = all(result is not None and _is_denied(result) for result in results)
        turn.denied_in_a_row = turn.denied_in_a_row + 1 if denied else 0

    async def _run_each(
        self, turn: Turn, calls: list[ToolCall], results: list[ToolResult | None]
    ) -> None:
        async def run(place: int) -> None:
            results[place] = await self._run_one(turn, calls[place])

        if len(calls) == 1 or not self.config.parallel_tools:
            for place in range(len(calls)):
                await run(place)
            return
        async with asyncio.TaskGroup() as group:
            for place in range(len(calls)):
                group.create_task(run(place))

    async def _run_one(self, turn: Turn, call: ToolCall) -> ToolResult:
        if turn.coordinator.cancellation.is_cancelled:
            return ToolResult.failed("The call was not run: the user asked to stop.")
        await self._decide(turn, call)
        return await call_tool(turn.coordinator, call, turn.tools)

    async def _decide(self, turn: Turn, call: ToolCall) -> None:
        if not turn.coordinator.reaches_anybody(DECISION_TOOL_RESOLUTION):
            return
        data = {
            "available_tools": list(turn.tools),
            "selected_tool": call.name,
            "reason": "the model asked for it",
        }
        await turn.coordinator.notify(DECISION_TOOL_RESOLUTION, data)


def _written(call: ToolCall) -> dict[str, Any]:
    written: dict[str, Any] = {"id": call.id, "name": call.name, "arguments": call.arguments}
    return written if call.parse_error is None else {**written, "parse_error": call.parse_error}


def _is_denied(result: ToolResult) -> bool:
    return not result.success and (result.error or "").startswith("Operation denied by")


async def _place_result(
    context: Any, call: ToolCall, result: ToolResult, limit: int | None
) -> None:
    message = {
        "role": "tool",
        "content": render_result(result, limit),
        "tool_call_id": call.id,
        "name": call.name,
        "metadata": {"success": result.success},
    }
    await add_message(context, message)


async def _compact(context: Any) -> None:
    wanted = getattr(context, "should_compact", None)
    if wanted is None:
        return
    needed = wanted()
    if needed is False:
        return
    if await needed if inspect.isawaitable(needed) else needed:
        done = context.compact()
        if inspect.isawaitable(done):
            await done


def _spec(name: str, tool: Any) -> ToolSpec:
    return ToolSpec(
        name=name,
        description=getattr(tool, "description", None),
        parameters=getattr(tool, "input_schema", None) or {"type": "object"},
    )


def _calls(provider: Any, response: ChatResponse) -> list[ToolCall]:
    parse = getattr(provider, "parse_tool_calls", None)
    return _told_apart(list((parse(response) if parse else response.tool_calls) or ()))


def _told_apart(calls: list[ToolCall]) -> list[ToolCall]:
    """Small models repeat ids or leave them out; each result must find its own call."""
    met: set[str] = set()
    for place, call in enumerate(calls):
        if not call.id or call.id in met:
            fresh = f"{call.id or 'call'}_{uuid.uuid4().hex[:8]}"
            calls[place] = call.model_copy(update={"id": fresh})
        met.add(calls[place].id)
    return calls


def _count(coordinator: SessionCoordinator, response: ChatResponse) -> None:
    stats = coordinator.get_capability("session.stats")
    if stats is not None and response.usage is not None:
        stats["total_tokens"] += response.usage.total_tokens


def _details(error: Exception) -> dict[str, Any]:
    return {
        "type": type(error).__name__,
        "message": str(error),
        "retryable": bool(getattr(error, "retryable", False)),
        "status_code": getattr(error, "status_code", None),
    }
