"""Tool calls, through the hooks of a run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from agent_framework import (
    Content,
    FunctionInvocationContext,
    FunctionMiddleware,
    MiddlewareException,
    MiddlewareFailure,
    UserInputRequiredException,
)
from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from amplifier_core.approval import allows
from amplifier_core.models import ToolResult
from amplifier_core.utils import describe_error
from amplifier_core.utils.copying import is_same
from amplifier_hooks.coverage import Asking
from amplifier_hooks.external.calling import Wanted
from amplifier_hooks.external.handover import Handed, answer
from amplifier_hooks.external.run import Run
from amplifier_hooks.external.verdicts import Called

PAYLOAD = "amplifier"
"""Under additional_properties of an approval request: what the person is to be shown."""

ANSWERS = "amplifier_answers"
"""Under additional_properties: what people have chosen about this call, by question."""


class HandedOver(Exception):
    """Carries a question out of a tool call."""

    def __init__(self, handed: Handed) -> None:
        super().__init__(handed.prompt)
        self.payload = handed.to_payload()


def request_approval(context: FunctionInvocationContext, handed: HandedOver) -> Content:
    """The framework's own request, about exactly what would run."""
    payload = handed.payload
    occurrence = context.metadata.get("function_call_occurrence_id")
    call = Content.from_function_call(
        payload["tool_call_id"],
        payload["tool_name"],
        arguments=payload["tool_input"],
        id=occurrence,
    )
    return Content.from_function_approval_request(
        occurrence or payload["tool_call_id"],
        call,
        additional_properties={PAYLOAD: payload, ANSWERS: read_answers(context)},
    )


def respond(request: Content, chosen: dict[str, Any]) -> Content:
    """The response to an approval request of ours, to be sent with the same session.

    `chosen` is what `amplifier_hooks.frameworks.answer` made of the request's payload, which is
    `request.additional_properties["amplifier"]`. To the framework it is an approval whatever was
    chosen: the call comes back to the hooks, which let it run or not and record who decided.
    """
    properties = request.additional_properties
    if PAYLOAD not in properties:
        raise ValueError(
            "this approval request is not one that hooks have handed over; answer it with "
            "request.to_function_approval_response(approved)"
        )
    response = request.to_function_approval_response(approved=True)
    answers = {**(properties.get(ANSWERS) or {}), _name(properties[PAYLOAD]): dict(chosen)}
    response.additional_properties[ANSWERS] = answers
    return response


def read_answers(context: FunctionInvocationContext) -> dict[str, Any]:
    """What people have chosen about a call before, by question.

    A program that knows nothing of us approves as it always does: that is a yes to what was shown.
    """
    response = context.metadata.get("approval_response")
    if not isinstance(response, Content):
        return {}
    properties = response.additional_properties
    answers, shown = properties.get(ANSWERS), properties.get(PAYLOAD)
    answers = dict(answers) if isinstance(answers, dict) else {}
    if not isinstance(shown, dict) or _name(shown) in answers:
        return answers
    yes = next((one for one in shown.get("options") or () if allows(str(one))), None)
    return answers if yes is None else {**answers, _name(shown): answer(shown, yes)}


def find_answer(context: FunctionInvocationContext, handed: Handed) -> dict[str, Any] | None:
    """The answer to a question; None if nobody was asked yet."""
    found: dict[str, Any] | None = read_answers(context).get(_name(handed.to_payload()))
    return found


def _name(payload: dict[str, Any]) -> str:
    return f"{payload.get('hook')}: {payload.get('prompt')}"


STEERING = (MiddlewareException, UserInputRequiredException)
"""Exceptions by which the framework goes on elsewhere."""


class ToolHooks(FunctionMiddleware):
    """Judges the tool calls of one run."""

    def __init__(self, run: Run, asks: Asking) -> None:
        self.run = run
        self._asks = asks

    async def process(
        self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]
    ) -> None:
        """Run the tool with what hooks left of the call, and hand on what they left of it."""
        tool = _Tool(context, call_next)
        wanted = Wanted(
            context.function.name,
            tool.arguments,
            str(context.metadata.get("call_id") or ""),
            tool.run,
            read_result,
            steering=STEERING,
            is_alive=lambda: not self.run.has_ended,
        )
        try:
            called = await self.run.call(wanted, self._find_handover(context))
        except HandedOver as handed:
            context.result = request_approval(context, handed)
        except Exception as error:
            if error is tool.error or isinstance(error, MiddlewareFailure):
                raise
            # Any other exception would be a result that tells the model nothing.
            raise MiddlewareFailure(
                f"the hooks in front of {context.function.name} failed: {describe_error(error)}"
            ) from error
        else:
            if not called.untouched:
                context.result = write_result(called)

    def _find_handover(self, context: FunctionInvocationContext) -> Any:
        # The framework does not hand on what a sub-agent asks.
        if self._asks == "inline" or self.run.is_child:
            return None

        def hand_over(handed: Handed) -> Any:
            if context.session is None:
                raise MiddlewareFailure(
                    "a question can be handed over in a session only: call agent.run(..., "
                    'session=agent.create_session()), or have asks="inline"'
                )
            given = find_answer(context, handed)
            if given is None:
                raise HandedOver(handed)
            return given

        return hand_over


class _Tool:
    """The framework's own way to run a call."""

    def __init__(
        self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]
    ) -> None:
        self.arguments = describe_arguments(context.arguments)
        self.error: Exception | None = None
        self._context = context
        self._call_next = call_next

    async def run(self, given: dict[str, Any]) -> Any:
        """Run it; arguments that nobody changed stay the framework's own objects."""
        if not is_same(given, self.arguments):
            self._context.arguments = given
        try:
            await self._call_next()
        except Exception as error:
            self.error = error
            raise
        return self._context.result


def describe_arguments(arguments: BaseModel | Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call as JSON values."""
    plain = arguments.model_dump() if isinstance(arguments, BaseModel) else dict(arguments)
    described: dict[str, Any] = _describe(plain)
    return described


def _describe(value: Any) -> Any:
    return to_jsonable_python(value, fallback=str, bytes_mode="base64")


def read_result(value: Any) -> ToolResult:
    """What hooks see of a result: its text, or its parts if it has others."""
    if not _is_contents(value):
        return ToolResult(output=_describe_any(value))
    if all(one.type == "text" for one in value):
        return ToolResult(output="\n".join(one.text or "" for one in value))
    return ToolResult(output=[_describe_any(one.to_dict()) for one in value])


def _describe_any(value: Any) -> Any:
    """A value that the tool has returned, which hooks get to see whatever it is."""
    try:
        return _describe(value)
    except ValueError:  # it contains itself
        return repr(value)


def write_result(called: Called) -> Any:
    """What the framework gets of a result that hooks made."""
    parts = called.result.output
    if called.result.success and _is_contents(called.value) and _is_parts(parts):
        return [Content.from_dict(one) for one in parts]
    return called.text


def _is_contents(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, Content) for one in value)


def _is_parts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) and "type" in one for one in value)
