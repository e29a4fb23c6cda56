"""The loop: ask the model and run the tools of its reply together, until it calls no more."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Mapping
from typing import Any, NoReturn

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.errors import ModuleNotFound
from amplifier_core.events import (
    DECISION_TOOL_RESOLUTION,
    EXECUTION_COMPLETE,
    EXECUTION_START,
    ORCHESTRATOR_COMPLETE,
    USER_NOTIFICATION,
)
from amplifier_core.hooks import HookRegistry
from amplifier_core.interfaces import ContextManager, Provider, Tool
from amplifier_core.message_models import ChatRequest, ChatResponse, ImageBlock, TextBlock, ToolCall
from amplifier_core.models import ToolResult
from amplifier_core.mounting import resolve_provider
from amplifier_core.payloads import (
    DecisionToolResolutionData,
    ExecutionCompleteData,
    ExecutionStartData,
    OrchestratorCompleteData,
    UserNotificationData,
)
from amplifier_core.tool_call import call_tool
from amplifier_core.utils import is_awaitable
from amplifier_core.utils.conversation import add_message, start_adding
from amplifier_hooks.agent.loops.model_call import (
    Denial,
    LoopConfig,
    ModelCaller,
    RequestBuilder,
    Turn,
)
from amplifier_hooks.modules.conversation import OPEN_CALLS, ensure_distinct_ids, list_open_calls
from amplifier_hooks.modules.recommendations import choose_name

RESULT_LIMIT = 200_000
"""Characters of one result that go into a conversation, unless session.tool_result_limit says."""


def read_result_limit(plan: Mapping[str, Any]) -> int | None:
    """The limit that a mount plan sets; None is no limit."""
    limit: int | None = (plan.get("session") or {}).get("tool_result_limit", RESULT_LIMIT)
    return limit


def render_result(result: ToolResult, limit: int | None = RESULT_LIMIT) -> str:
    """What the agent reads of a result, cut with a sentence where it is over the limit."""
    text = result.get_serialized_output()
    if limit is None or len(text) <= limit:
        return text
    return (
        f"{text[:limit]}\n"
        f"[{len(text) - limit} of {len(text)} characters are left out: "
        f"over the limit of {limit} (session.tool_result_limit). Ask for less at a time.]"
    )


def list_pictures(result: ToolResult) -> list[dict[str, Any]]:
    """What the agent sees of a result: its pictures, which stand behind the text."""
    if not (result.content and result.success):
        return []
    pictures = (one for one in result.content if isinstance(one, ImageBlock))
    return [one.model_dump(exclude_none=True) for one in pictures]


_CANCELLED = ToolResult.failed("The call was cancelled.")
_NOT_RUN = ToolResult.failed("The call was not run: the user asked to stop.")


def read_calls(provider: Provider, response: ChatResponse) -> list[ToolCall]:
    """The calls of a reply, each with an id of its own."""
    parse = getattr(provider, "parse_tool_calls", None)
    calls = parse(response) if parse else response.tool_calls
    if not calls:
        return []
    is_one = type(calls) is list and len(calls) == 1 and calls[0].id
    # A list of one's own: the provider may go on with its.
    return [calls[0]] if is_one else ensure_distinct_ids(calls)


async def run_calls(turn: Turn, calls: list[ToolCall], *, parallel: bool) -> None:
    """Run the calls, add a result for each to the conversation, and count rounds of denials.

    A call that was cancelled has a result too: models refuse a conversation without one.
    """
    results: list[ToolResult | None] = [None] * len(calls)
    under_way = turn.coordinator.tool_calls()
    under_way.begin()
    try:
        if len(calls) == 1:
            results[0] = await _run_one(turn, calls[0])
        else:
            await _run_all(turn, calls, results, parallel=parallel)
    finally:
        try:
            limit = read_result_limit(turn.coordinator.config)
            for call, found in zip(calls, results, strict=True):
                message = _describe_result(turn, call, found or _CANCELLED, limit)
                if (pending := start_adding(turn.context, message)) is not None:
                    await pending
        finally:
            if under_way.end():
                await under_way.place_parked()
    for result in results:
        if result is None or not result.denied:
            turn.denied_in_a_row = 0
            return
    turn.denied_in_a_row += 1


async def _run_all(
    turn: Turn, calls: list[ToolCall], results: list[ToolResult | None], *, parallel: bool
) -> None:
    async def run(place: int) -> None:
        results[place] = await _run_one(turn, calls[place])

    if not parallel:
        for place in range(len(calls)):
            await run(place)
        return
    async with asyncio.TaskGroup() as group:
        for place in range(len(calls)):
            group.create_task(run(place))


async def _run_one(turn: Turn, call: ToolCall) -> ToolResult:
    """Let hooks choose another tool or veto the choice, then run the call."""
    coordinator = turn.coordinator
    if coordinator.cancellation.is_cancelled:
        return _NOT_RUN
    available = list(turn.tools)
    decision: DecisionToolResolutionData = {
        "available_tools": available,
        "selected_tool": call.name,
        "reason": "the model asked for it",
    }
    outcome = await coordinator.judge(DECISION_TOOL_RESOLUTION, decision)
    if not outcome.allowed:
        return ToolResult.refused(outcome.denial)
    chosen = choose_name(outcome, "selected_tool", "tool", call.name, available)
    if chosen != call.name:
        call = call.model_copy(update={"name": chosen})
    return await call_tool(coordinator, call, turn.tools)


def _describe_result(
    turn: Turn, call: ToolCall, result: ToolResult, limit: int | None
) -> dict[str, Any]:
    text = render_result(result, limit)
    if not result.success:  # what a tool raised with is told of, but no hook can change it
        text = turn.coordinator.scrub(text)
    pictures = list_pictures(result) if result.content else None
    return {
        "role": "tool",
        "content": [{"type": "text", "text": text}, *pictures] if pictures else text,
        "tool_call_id": call.id,
        "name": call.name,
        "metadata": {"success": result.success},
    }


CUT_OFF = "[The reply was interrupted here.]"
"""What the model reads behind the words that it could not finish."""


class Loop:
    """Runs turns. Whether a reply arrives whole or in pieces is up to the kind of loop."""

    name = "loop"

    leaves_prompt_events = True
    """The session tells of prompt:submit and prompt:complete; loops that do it themselves do not
    say this."""

    streamed = False
    """Whether the answer of the last turn was told piece by piece, before anybody judged it."""

    def __init__(self, config: LoopConfig | None = None) -> None:
        self.config = config or LoopConfig()
        self._requests = RequestBuilder(self.config.system)
        self._model = ModelCaller(self.config, self._requests, self.fetch_reply)
        self._turns: int | None = None

    def fetch_reply(self, turn: Turn, request: ChatRequest) -> Awaitable[ChatResponse]:
        """Send one request; who awaits it has the whole reply."""
        raise NotImplementedError

    async def execute(
        self,
        prompt: str,
        context: ContextManager,
        providers: Mapping[str, Provider],
        tools: Mapping[str, Tool],
        hooks: Any,
        coordinator: SessionCoordinator | None = None,
        **_: Any,
    ) -> str:
        """Process a prompt, and return the last words of the agent."""
        host = coordinator or SessionCoordinator(_as_registry(hooks), context)
        provider = resolve_provider(providers, self)
        if provider is None:
            self._refuse(providers)
        turn = Turn(host, context, provider, tools, self._requests.describe_tools(tools))
        started = time.perf_counter()
        reply = ""
        self.streamed = False
        await host.notify(EXECUTION_START, ExecutionStartData(prompt=prompt))
        try:
            if self._turns is None:
                self._turns = await _count_prompts(context)
            turn.number = self._turns = self._turns + 1
            if OPEN_CALLS in host.session_state:
                await self._finish_open_calls(turn)
            await add_message(context, {"role": "user", "content": prompt})
            reply = await self._converse(turn)
        except BaseException as error:
            turn.status = "error"
            if isinstance(error, asyncio.CancelledError):
                await self._keep_unfinished(turn)
            raise
        finally:
            await self._announce_end(turn, reply, started)
        return reply

    async def _finish_open_calls(self, turn: Turn) -> None:
        """Run what the last reply of a resumed conversation asked for and nobody ran."""
        wanted = turn.coordinator.session_state.pop(OPEN_CALLS)
        if not wanted:
            return
        left = list_open_calls(await _read_messages(turn.context))
        calls = [ToolCall.model_validate(call) for call in left if call.get("id") in wanted]
        await run_calls(turn, calls, parallel=self.config.parallel_tools)

    def _refuse(self, providers: Mapping[str, Provider]) -> NoReturn:
        wanted = self.config.provider
        which = "No provider" if wanted is None else f"No provider {wanted!r}"
        raise ModuleNotFound(f"{which} is mounted; have {', '.join(sorted(providers)) or 'none'}")

    async def _converse(self, turn: Turn) -> str:
        token = turn.coordinator.cancellation
        while turn.requests < self.config.max_turns:
            if token.is_cancelled:
                turn.status = "interrupted"
                return turn.last_message.get("content") or "Stopped, as requested."
            response = await self._model.ask(turn)
            if isinstance(response, Denial):
                turn.status = "interrupted"
                return response.text
            calls = read_calls(turn.provider, response)
            text = response.text
            message = _describe_reply(turn, response, text, calls)
            if (pending := start_adding(turn.context, message)) is not None:
                await pending
            turn.last_message = message
            if not calls:
                self.streamed = turn.streamed
                return text
            await run_calls(turn, calls, parallel=self.config.parallel_tools)
            if turn.denied_in_a_row >= self.config.max_denied:
                return await self._give_up(
                    turn, f"every tool call of {turn.denied_in_a_row} rounds was denied"
                )
        return await self._give_up(
            turn, f"max_turns reached: {self.config.max_turns} requests for one prompt"
        )

    async def _keep_unfinished(self, turn: Turn) -> None:
        """What was said before an interruption stays in the conversation, unless a hook objects."""
        turn.status = "interrupted"
        if not turn.unfinished.strip():
            return
        said = await self._model.review_unfinished(turn)
        if isinstance(said, ChatResponse) and said.text.strip():
            marked = ChatResponse(content=[TextBlock(text=f"{said.text.rstrip()}\n\n{CUT_OFF}")])
            message = _describe_reply(turn, marked, marked.text, [])
            await add_message(turn.context, message)
            turn.last_message = message

    async def _give_up(self, turn: Turn, why: str) -> str:
        turn.status = "interrupted"
        message = f"Stopped: {why}."
        alert: UserNotificationData = {
            "notification_type": "alert",
            "message": message,
            "metadata": {"loop": self.name},
        }
        await turn.coordinator.notify(USER_NOTIFICATION, alert)
        await turn.coordinator.show(message, "warning", self.name)
        return message

    async def _announce_end(self, turn: Turn, reply: str, started: float) -> None:
        host = turn.coordinator
        data: OrchestratorCompleteData = {
            "orchestrator": self.name,
            "final_message": turn.last_message,
            "turn_count": turn.number,
            "request_count": turn.requests,
            "duration_ms": int((time.perf_counter() - started) * 1000),
            "status": turn.status,
        }
        await host.notify(ORCHESTRATOR_COMPLETE, data)
        done = ExecutionCompleteData(response=reply, status=turn.status)
        await host.notify(EXECUTION_COMPLETE, done)


async def _read_messages(context: ContextManager) -> list[Any]:
    messages = context.get_messages()
    return list(await messages if is_awaitable(messages) else messages)


async def _count_prompts(context: ContextManager) -> int:
    """How many turns a resumed conversation has behind it."""
    return sum(_is_prompt(message) for message in await _read_messages(context))


def _is_prompt(message: Any) -> bool:
    if not isinstance(message, dict) or message.get("role") != "user":
        return False
    return (message.get("metadata") or {}).get("source") != "hook"


def _describe_reply(
    turn: Turn, response: ChatResponse, text: str, calls: list[ToolCall]
) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [_describe_call(call) for call in calls]
    for block in response.content:
        if block.type == "thinking":
            # It goes back to its provider with its signature, so the blocks are kept.
            message["content"] = [one.model_dump(exclude_none=True) for one in response.content]
            break
    # The calls run as they are; what is kept of them is kept as it may leave the session.
    found: dict[str, Any] = turn.coordinator.scrub(message)
    return found


def _describe_call(call: ToolCall) -> dict[str, Any]:
    described = {"id": call.id, "name": call.name, "arguments": call.arguments}
    if (why := call.parse_error) is not None:
        described["parse_error"] = why
    return described


def _as_registry(hooks: Any) -> HookRegistry:
    """The registry itself, or one that passes every event on to what stands in for it."""
    if isinstance(hooks, HookRegistry):
        return hooks
    registry = HookRegistry()
    registry.register("*", hooks.emit, name=type(hooks).__name__)
    return registry
