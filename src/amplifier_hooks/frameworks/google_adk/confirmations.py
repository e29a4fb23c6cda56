"""Questions of hooks as tool confirmations of the framework, and the answers to them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from google.adk.events.event import Event
from google.adk.flows.llm_flows.functions import (
    REQUEST_CONFIRMATION_FUNCTION_CALL_NAME,
    REQUEST_INPUT_FUNCTION_CALL_NAME,
)
from google.adk.tools.tool_confirmation import ToolConfirmation
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from amplifier_core.approval.options import read_option
from amplifier_core.errors import AmplifierError
from amplifier_hooks.external.handover import Handed, answer

WAITING = {"error": "This call waits for a person to confirm it; it has not run."}
"""What stands in the conversation until somebody has answered."""


class ConfirmationRequested(AmplifierError):
    """A person has to confirm the call first; the framework asks."""


class CannotAskAgain(AmplifierError):
    """The framework asks once about a call, and has done so."""

    def __init__(self, handed: Handed) -> None:
        super().__init__(
            f"its question {handed.prompt!r} was not asked: Google ADK asks once about a call, and "
            "another confirmation of this one was asked for before; asks='inline' has no such limit"
        )
        self.hook = handed.hook


def ask_framework(context: ToolContext, handed: Handed) -> Any:
    """The answer that a person gave to exactly this question; if none did, have it asked."""
    given = context.tool_confirmation
    if given is None:
        context.request_confirmation(hint=handed.prompt, payload=handed.to_payload())
        context.actions.skip_summarization = True
        raise ConfirmationRequested(handed.prompt)
    if not was_asked(context.session.events, context.invocation_id, handed):
        raise CannotAskAgain(handed)
    return _read_answer(handed, given)


def was_asked(events: Iterable[Event], invocation_id: str, handed: Handed) -> bool:
    """Whether a person was shown this question about this call.

    A tool that is a step of a workflow gets another id each time; then it is one of this
    invocation that counts.
    """
    shown = handed.to_payload()
    for event in events:
        for asked in map(_find_payload, event.get_function_calls()):
            same_call = (
                asked.get("tool_call_id") == handed.tool_call_id
                or event.invocation_id == invocation_id
            )
            same_question = all(asked.get(key) == shown[key] for key in ("prompt", "digest"))
            if same_call and same_question:
                return True
    return False


def _find_payload(call: types.FunctionCall) -> dict[str, Any]:
    """What we gave a request for a confirmation to show; empty for any other call."""
    given = call.args or {}
    if call.name == REQUEST_CONFIRMATION_FUNCTION_CALL_NAME:
        found = (given.get("toolConfirmation") or {}).get("payload")
    elif call.name == REQUEST_INPUT_FUNCTION_CALL_NAME:
        payload = given.get("payload")
        found = payload.get("confirmation_payload") if isinstance(payload, dict) else None
    else:
        found = None
    return found if isinstance(found, dict) else {}


def _read_answer(handed: Handed, given: ToolConfirmation) -> Any:
    """The person's choice: that of `answer`, or a plain yes or no of the framework's own pages."""
    payload = handed.to_payload()
    if not given.confirmed:
        return _choose(payload, allows=False)
    if given.payload is None or given.payload == payload:
        return _choose(payload, allows=True)
    return given.payload


def _choose(payload: dict[str, Any], *, allows: bool) -> dict[str, Any]:
    """The option for this once that says yes or no."""
    for option in payload["options"]:
        meaning = read_option(option)
        if meaning.allows is allows and not meaning.remembered:
            return answer(payload, option)
    return {"option": "Deny", "digest": payload["digest"]}
