"""Tool calls of Pydantic AI: each passes the hooks once, as late as possible."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError
from pydantic_ai import (
    AbstractToolset,
    ApprovalRequired,
    CallDeferred,
    CombinedToolset,
    DeferredToolRequests,
    DeferredToolResults,
    RunContext,
    SkipToolExecution,
    ToolApproved,
    ToolDenied,
    ToolFailed,
    ToolReturn,
    ToolsetTool,
    WrapperToolset,
)
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.tools import AgentDepsT
from pydantic_core import to_json

from amplifier_core.models import ToolResult
from amplifier_core.utils.copying import is_same
from amplifier_hooks.coverage import Asking
from amplifier_hooks.external.calling import Wanted
from amplifier_hooks.external.handover import Handed, HandOver, decide, find_answered
from amplifier_hooks.external.verdicts import Called
from amplifier_hooks.frameworks.pydantic_ai.messages import to_json_values
from amplifier_hooks.frameworks.pydantic_ai.turn import Turn

Arguments = dict[str, Any]


def describe_arguments(
    call: ToolCallPart | None,
    validated: Arguments,
    tool: ToolsetTool[Any] | None,
    ctx: RunContext[Any],
) -> Arguments:
    """The arguments as JSON: the model's own, if they are still what would run."""
    said = None if call is None else call.args_as_dict()
    if said is not None and matches_arguments(said, validated, tool, ctx):
        return said
    return {name: to_json_values(value) for name, value in validated.items()}


def matches_arguments(
    said: Arguments, validated: Arguments, tool: ToolsetTool[Any] | None, ctx: RunContext[Any]
) -> bool:
    """Whether the tool's validator makes these objects of this JSON."""
    if is_same(said, validated):
        return True
    if tool is None:
        return False
    try:
        return bool(_parse(said, tool, ctx) == validated)
    except Exception:  # noqa: BLE001 - a foreign validator or a foreign comparison: show the objects
        return False


def _parse(given: Arguments, tool: ToolsetTool[Any], ctx: RunContext[Any]) -> Arguments:
    parsed: Arguments = tool.args_validator.validate_json(
        to_json(given), context=ctx.validation_context
    )
    return parsed


async def validate_arguments(
    given: Arguments, tool: ToolsetTool[Any] | None, ctx: RunContext[Any]
) -> Arguments:
    """The objects for arguments that a hook or a person wrote, checked as those of a model."""
    name = ctx.tool_name
    if tool is None:
        raise ToolFailed(f"The changed arguments of {name} cannot be checked, so it was not run.")
    try:
        parsed = _parse(given, tool, ctx)
    except ValidationError as error:
        raise ToolFailed(
            f"{name} was not run: a hook or a person changed its arguments to "
            f"{to_json(given).decode()}, which it does not take: {_explain(error)}"
        ) from error
    if tool.args_validator_func is not None:
        found = tool.args_validator_func(ctx, **parsed)
        if inspect.isawaitable(found):
            await found
    return parsed


def _explain(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(f"{'.'.join(map(str, one['loc'])) or 'all'}: {one['msg']}" for one in found)


RETURNED = "return_value"
CONTENT = "content"
"""The two texts of a `ToolReturn` that the model reads."""


def describe_result(value: Any) -> ToolResult:
    """A result as hooks see it."""
    if isinstance(value, ToolDenied):
        return ToolResult(success=False, output=value.message, error={"message": value.message})
    if not isinstance(value, ToolReturn):
        return ToolResult(output=to_json_values(value))
    returned = to_json_values(value.return_value)
    if not value.content:
        return ToolResult(output=returned)
    return ToolResult(output={RETURNED: returned, CONTENT: to_json_values(value.content)})


def restore_result(called: Called) -> Any:
    """What the framework goes on with; a denial is raised, so that nobody works with it."""
    if called.untouched:
        return called.value
    if called.result.denied:
        raise SkipToolExecution(ToolDenied(called.text))
    if not called.result.success:
        raise ToolFailed(called.text)
    output = called.result.output
    if isinstance(called.value, ToolReturn):
        return _restore_return(called.value, output)
    return output


def _restore_return(value: ToolReturn[Any], output: Any) -> ToolReturn[Any]:
    if not isinstance(output, dict) or not value.content or {RETURNED, CONTENT} - output.keys():
        return replace(value, return_value=output, content=None)
    content = output[CONTENT]
    if content == to_json_values(value.content):
        return replace(value, return_value=output[RETURNED])
    return replace(value, return_value=output[RETURNED], content=_read_content(content))


def _read_content(content: Any) -> str | Sequence[str]:
    if isinstance(content, list) and all(isinstance(one, str) for one in content):
        return content
    return str(content)


ANSWERED = "answered"
"""What has been answered about a call before: each with the hook, its prompt and the answer."""

Shown = dict[str, dict[str, Any]]
"""What people were shown about calls, by the id of each."""


def hand_over_to(ctx: RunContext[Any], asked: Shown) -> HandOver:
    """Take the answer that came with the call, or end the run with the question.

    `asked` has what was asked in this run already: a handler of the framework's may have approved
    that without any answer.
    """

    def hand_over(handed: Handed) -> Any:
        known = asked.get(handed.tool_call_id) if ctx.tool_call_approved else None
        said = _add_answer(known, decide(known, True)) if known is not None else {}
        for answered in (ctx.tool_call_metadata or {}, said):
            if (given := find_answered(answered, handed)) is not None:
                return given
        asked[handed.tool_call_id] = payload = handed.to_payload()
        raise ApprovalRequired(metadata=payload)

    return hand_over


QUESTIONS = "amplifier"
"""Under which a reply of the model keeps, in its metadata, what was asked about its calls."""


def keep_questions(requests: DeferredToolRequests, messages: Sequence[ModelMessage]) -> None:
    """Note in the history what people are shown, for who answers without naming it."""
    shown = {key: one for key, one in requests.metadata.items() if _is_question(one)}
    reply = _find_reply(messages)
    if shown and reply is not None:
        reply.metadata = {**(reply.metadata or {}), QUESTIONS: shown}


def read_approvals(
    results: DeferredToolResults, messages: Sequence[ModelMessage]
) -> DeferredToolResults:
    """The results with plain approvals and denials as answers to what the history has as shown.

    They come back to the hooks, which let the call run or not and record what was decided.
    """
    reply = _find_reply(messages)
    shown = ((reply.metadata or {}) if reply is not None else {}).get(QUESTIONS) or {}
    approvals, metadata = dict(results.approvals), dict(results.metadata)
    for call_id, payload in shown.items():
        if call_id in approvals and ANSWERED not in metadata.get(call_id, {}):
            given = _read_approval(payload, approvals[call_id])
            approvals[call_id] = True
            metadata[call_id] = {**metadata.get(call_id, {}), **_add_answer(payload, given)}
    return replace(results, approvals=approvals, metadata=metadata)


def _read_approval(payload: Mapping[str, Any], given: Any) -> dict[str, Any]:
    if isinstance(given, ToolApproved):
        return decide(payload, True, edited_input=given.override_args)
    comment = given.message if isinstance(given, ToolDenied) else ""
    return decide(payload, given is True, comment=comment)


def _find_reply(messages: Sequence[ModelMessage]) -> ModelResponse | None:
    return next((one for one in reversed(messages) if isinstance(one, ModelResponse)), None)


def _is_question(metadata: Any) -> bool:
    return isinstance(metadata, dict) and metadata.get("amplifier") == "approval"


def resume(
    requests: DeferredToolRequests,
    answers: Mapping[str, dict[str, Any]],
    *,
    approvals: Mapping[str, Any] | None = None,
    calls: Mapping[str, Any] | None = None,
) -> DeferredToolResults:
    """What to pass on as `deferred_tool_results`.

    `answers` has for each call that a hook asked about, by its id, what
    `amplifier_hooks.frameworks.answer(requests.metadata[id], option)` made of the person's choice,
    a no included. `approvals` and `calls` are for what the agent itself deferred.
    """
    metadata = {
        call_id: _add_answer(_get_question(requests, call_id), answer)
        for call_id, answer in answers.items()
    }
    # The framework only passes the call on: whether it runs, the hooks decide by the answer.
    passed = {**(approvals or {}), **dict.fromkeys(answers, True)}
    return requests.build_results(approvals=passed, calls=dict(calls or {}), metadata=metadata)


def _get_question(requests: DeferredToolRequests, call_id: str) -> dict[str, Any]:
    payload = requests.metadata.get(call_id) or {}
    if not _is_question(payload):
        asked = [key for key, one in requests.metadata.items() if _is_question(one)]
        raise ValueError(
            f"No hook asked about the call {call_id!r}; hooks asked about {asked or 'none'}. "
            "Answer what the agent itself deferred with approvals= or calls="
        )
    return payload


def _add_answer(payload: Mapping[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    answered = {"hook": payload.get("hook"), "prompt": payload.get("prompt"), "answer": answer}
    return {ANSWERED: [*(payload.get(ANSWERED) or ()), answered]}


Execute = Callable[[Arguments], Awaitable[Any]]

STEERING = (ApprovalRequired, CallDeferred, SkipToolExecution)
"""The tool has not failed: the framework goes on with the call elsewhere, later, or without it."""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool about to be run with objects that the framework has validated."""

    name: str
    validated: Arguments
    ctx: RunContext[Any]
    tool: ToolsetTool[Any] | None
    execute: Execute
    call: ToolCallPart | None = None
    """As the model wrote it, where that is known."""


async def call_through_hooks(turn: Turn, use: ToolUse, asks: Asking, asked: Shown) -> Any:
    """Run the tool as hooks and people allow it; returns or raises what the framework goes on with.

    Hooks judge JSON. The objects that were made of it run untouched, unless the JSON is changed:
    then the tool's own validator makes new ones of it.
    """
    run = turn.use()
    shown = describe_arguments(use.call, use.validated, use.tool, use.ctx)

    async def handle(given: Arguments) -> Any:
        if is_same(given, shown):
            return await use.execute(use.validated)
        if not matches_arguments(shown, use.validated, use.tool, use.ctx):
            raise ToolFailed(
                f"{use.name} was not run: a hook or a person changed its arguments, but another "
                "capability had put objects into them that JSON cannot hold"
            )
        return await use.execute(await validate_arguments(given, use.tool, use.ctx))

    wanted = Wanted(
        name=use.name,
        arguments=shown,
        call_id=use.ctx.tool_call_id or "",
        handler=handle,
        read=describe_result,
        steering=STEERING,
        is_alive=lambda: turn.is_alive,
    )
    hand_over = hand_over_to(use.ctx, asked) if asks == "interrupt" else None
    return restore_result(await run.call(wanted, hand_over))


@dataclass(slots=True)
class Gate:
    """Judges a call where its tool is called; if that is elsewhere, where its execution begins.

    Between the two, other capabilities may still change the arguments, so the first is the rule.
    The second is for tools that other capabilities put around the toolset, such as a search, and
    for all of them where it is not certain that a toolset around it passes calls on.
    """

    turn: Turn
    asks: Asking
    _expected: set[str] = field(default_factory=set)
    _calls: dict[str, ToolCallPart] = field(default_factory=dict)
    """Calls under way, as the model wrote them."""
    _judged: dict[str, Arguments] = field(default_factory=dict)
    """Calls under way that were judged where their execution began, with what was allowed."""
    _asked: Shown = field(default_factory=dict)

    def expect(self, names: Iterable[str]) -> None:
        """Note which tools are called here in this step."""
        self._expected = set(names)

    async def begin_call(
        self,
        ctx: RunContext[Any],
        call: ToolCallPart,
        given: Arguments,
        execute: Execute,
        *,
        is_certain: bool,
    ) -> Any:
        """The execution of a call begins, with hooks of other capabilities inside it.

        `is_certain`: calls of the tools that are expected do arrive where they are called.
        """
        self._calls[call.tool_call_id] = call
        try:
            if is_certain and call.tool_name in self._expected:
                return await execute(given)
            return await self._judge_early(ctx, call, given, execute)
        finally:
            self._calls.pop(call.tool_call_id, None)

    async def _judge_early(
        self, ctx: RunContext[Any], call: ToolCallPart, given: Arguments, execute: Execute
    ) -> Any:
        async def remember(allowed: Arguments) -> Any:
            self._judged[call.tool_call_id] = allowed
            try:
                return await execute(allowed)
            finally:
                self._judged.pop(call.tool_call_id, None)

        tools = ctx.tool_manager.tools if ctx.tool_manager is not None else None
        tool = (tools or {}).get(call.tool_name)
        use = ToolUse(call.tool_name, given, ctx, tool, remember, call)
        return await call_through_hooks(self.turn, use, self.asks, self._asked)

    def check_call(self, call: ToolCallPart, given: Arguments) -> None:
        """ToolFailed if another capability changed what was judged already."""
        allowed = self._judged.get(call.tool_call_id)
        if allowed is not None and not is_same(allowed, given):
            raise ToolFailed(
                f"{call.tool_name} was not run: another capability changed its arguments after "
                "hooks had judged them"
            )

    async def pass_call(self, use: ToolUse) -> Any:
        """A tool is called."""
        if self.turn.is_covered:
            return await use.execute(use.validated)
        call_id = use.ctx.tool_call_id or ""
        allowed = self._judged.get(call_id)
        if allowed is not None and is_same(allowed, use.validated):
            return await use.execute(use.validated)  # under another name, but this very call
        known = replace(use, call=self._calls.get(call_id))
        return await call_through_hooks(self.turn, known, self.asks, self._asked)


@dataclass
class GovernedToolset(WrapperToolset[AgentDepsT]):
    """Calls each tool through the gate of the run."""

    gate: Gate

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        """The tools, of which the gate notes that they are called here."""
        tools = await self.wrapped.get_tools(ctx)
        self.gate.expect(tools)
        return tools

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[AgentDepsT],
        tool: ToolsetTool[AgentDepsT],
    ) -> Any:
        """Call it, if hooks let it."""

        async def execute(validated: dict[str, Any]) -> Any:
            return await self.wrapped.call_tool(name, validated, ctx, tool)

        return await self.gate.pass_call(ToolUse(name, tool_args, ctx, tool, execute))


KNOWN = ("pydantic_ai", "amplifier_hooks")
"""Whose toolsets are known to pass on the calls of all tools that are not their own."""


def leads_to(gate: Gate, toolset: AbstractToolset[Any]) -> bool:
    """Whether calls on a toolset are certain to come to a gate, unless it has tools of its own."""
    if isinstance(toolset, GovernedToolset) and toolset.gate is gate:
        return True
    if isinstance(toolset, CombinedToolset):
        return any(leads_to(gate, one) for one in toolset.toolsets)
    if not isinstance(toolset, WrapperToolset):
        return False
    maker = next(one for one in type(toolset).__mro__ if "call_tool" in vars(one))
    return maker.__module__.split(".")[0] in KNOWN and leads_to(gate, toolset.wrapped)
