"""Questions of hooks as tool confirmations of the framework, and the answers to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from google.adk.events.event import Event
from google.adk.flows.llm_flows.functions import REQUEST_CONFIRMATION_FUNCTION_CALL_NAME
from google.adk.tools.tool_confirmation import ToolConfirmation
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from amplifier_apps.adapters.governing.handover import Handed, answer
from amplifier_core.approval.meaning import read_option
from amplifier_core.errors import AmplifierError

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
    found = find_answer(context.session.events, handed)
    if found is not None:
        return found
    if context.tool_confirmation is not None:
        raise CannotAskAgain(handed)
    context.request_confirmation(hint=handed.prompt, payload=handed.to_payload())
    context.actions.skip_summarization = True
    raise ConfirmationRequested(handed.prompt)


def find_answer(events: Sequence[Event], handed: Handed) -> Any:
    """The answer in a conversation to this question about this call, if somebody gave one."""
    asked = _find_requests(events, handed)
    for event in reversed(events):
        for response in event.get_function_responses():
            if event.author == "user" and response.id in asked:
                return _read_answer(handed, response)
    return None


def _find_requests(events: Iterable[Event], handed: Handed) -> set[str | None]:
    calls = (call for event in events for call in event.get_function_calls())
    return {call.id for call in calls if _asks(call, handed)}


def _asks(call: types.FunctionCall, handed: Handed) -> bool:
    if call.name != REQUEST_CONFIRMATION_FUNCTION_CALL_NAME:
        return False
    payload = ((call.args or {}).get("toolConfirmation") or {}).get("payload")
    if not isinstance(payload, dict):
        return False
    shown = handed.to_payload()
    same = ("tool_call_id", "prompt", "digest")
    return all(payload.get(key) == shown[key] for key in same)


def _read_answer(handed: Handed, response: types.FunctionResponse) -> Any:
    """The person's choice: that of `answer`, or a plain yes or no of the framework's own pages."""
    payload = handed.to_payload()
    try:
        given = ToolConfirmation.from_response_dict(response.response or {})
    except ValueError:
        return _choose(payload, allows=False)
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
