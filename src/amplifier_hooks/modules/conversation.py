"""Calls and replies of a conversation: ids, calls without a result, why a reply was cut off."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import uuid4

from amplifier_core.message_models import ToolCall
from amplifier_core.session import OPEN_CALLS as OPEN_CALLS


def ensure_distinct_ids(calls: Iterable[ToolCall]) -> list[ToolCall]:
    """Give another id to every call that has none, or that repeats an earlier one.

    Small models and some servers do either, and each result must find its own call.
    """
    taken: set[str] = set()
    distinct: list[ToolCall] = []
    for call in calls:
        own_id = call.id
        if not own_id or own_id in taken:
            own_id = f"{call.id or 'call'}_{uuid4().hex[:8]}"
        taken.add(own_id)
        distinct.append(call if own_id == call.id else call.model_copy(update={"id": own_id}))
    return distinct


_LIMIT = "it reached the limit of its output (`max_output_tokens`)"
_FILTER = "the provider's filter stopped it"
# Our providers say "length"; others pass on the word of their model's API.
_CUTS = {
    "length": _LIMIT,
    "max_tokens": _LIMIT,
    "max_output_tokens": _LIMIT,
    "model_context_window_exceeded": "the conversation filled the model's context window",
    "content_filter": _FILTER,
    "refusal": _FILTER,
    "safety": _FILTER,
}


def explain_cut(reason: str | None) -> str | None:
    """Why a reply with this finish reason is not whole; None if it is, or if nobody knows."""
    return None if reason is None else _CUTS.get(reason.lower())


def read_finish_reason(data: Mapping[str, Any]) -> str | None:
    """The finish reason in the data of a provider:response, which any loop may have emitted."""
    response = data.get("response")
    reason = response.get("finish_reason") if isinstance(response, Mapping) else None
    return reason if isinstance(reason, str) else None


GO_ON = "You were interrupted; go on where you stopped."
"""What a session that was interrupted is told, if nobody has anything else to say."""


def list_open_calls(messages: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The calls of the last reply in a conversation that have no result."""
    found = list(messages)
    answered = {one.get("tool_call_id") for one in found if one.get("role") == "tool"}
    replies = [one for one in found if one.get("role") == "assistant"]
    calls = (replies[-1].get("tool_calls") if replies else None) or ()
    return [call for call in calls if call.get("id") not in answered]
