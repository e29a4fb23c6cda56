"""Questions that the framework asks: as its approval request, and the answer from its response."""

from __future__ import annotations

from typing import Any

from agent_framework import Content, FunctionInvocationContext

from amplifier_core.approval.options import allows
from amplifier_hooks.external.handover import Handed, answer

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
