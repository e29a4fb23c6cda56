"""Ids of tool calls: every call of a reply has one of its own."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import uuid4

from amplifier_core.message_models import ToolCall


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
