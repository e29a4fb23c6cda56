"""Tool calls that waited for a person when their process died: they were never started.

Such a call is judged and asked about anew in the next turn, if it is still exactly what was shown;
a decision that was made in the meantime is found there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from amplifier_core.approval.passage import digest_operation
from amplifier_core.events import TOOL_PRE

NOT_RUN = "The call was not run: the process ended while it waited for a person to allow it."
FINISHING_LOOPS = frozenset({"loop-basic", "loop-streaming"})
"""Loops that run the open calls of a conversation before they take the next prompt."""


def follow_waiting(
    records: Iterable[Mapping[str, Any]], waiting: dict[str, str], session: str
) -> Iterator[Mapping[str, Any]]:
    """Pass records on; `waiting` has then the calls asked about and not started, with digests."""
    for record in records:
        body = record.get("body") or {}
        call = body.get("id")
        if record.get("session") == session and isinstance(call, str):
            if record.get("type") == "approval_requested":
                waiting[call] = str(body.get("digest") or "")
            elif record.get("type") in ("tool_started", "tool_finished"):
                waiting.pop(call, None)
        yield record


def is_unchanged(call: Mapping[str, Any], shown: str) -> bool:
    """Whether a call is, as it was saved, exactly what a person was shown."""
    data = {"tool_name": call.get("name"), "tool_input": call.get("arguments")}
    return bool(shown) and digest_operation(TOOL_PRE, data) == shown
