"""Calls of a conversation that have no result, and which of them may still be run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from amplifier_core.models.saved_state import OPEN_CALLS as OPEN_CALLS

GO_ON = "You were interrupted; go on where you stopped."
"""What a session that was interrupted is told, if nobody has anything else to say."""


def list_open_calls(messages: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The calls of the last reply in a conversation that have no result."""
    found = list(messages)
    answered = {one.get("tool_call_id") for one in found if one.get("role") == "tool"}
    replies = [one for one in found if one.get("role") == "assistant"]
    calls = (replies[-1].get("tool_calls") if replies else None) or ()
    return [call for call in calls if call.get("id") not in answered]
