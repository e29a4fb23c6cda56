"""What the author of a hook probably did not mean, seen in an answer that is valid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_core.models.hook_result import HookResult

IN_PLACE = (
    "changed its data in place; the change is dropped. "
    "Return HookResult(action='modify', data=...) to make it count"
)
NO_PROMPT = (
    "answered 'ask_user' without an approval_prompt, so the person is asked 'Allow this operation?'"
)
_LOSES = (
    "answered 'modify' without {}, so later hooks and the operation do not have it. "
    "Return data={{**data, ...}} to keep what is not changed"
)
NO_SAY = "answered {!r}, which has no effect: with parallel=True it only observes"
NO_TEXT = "answered 'inject_context' without a context_injection, so nothing is injected"

# True in the data of a hook that is called once more after a wait: who counts, counts once.
JUDGED_AGAIN = "judged_again"

# In the data of a hook that is called although one before it denied: the name of that one.
DENIED_BY = "denied_by"

# What `modify` cannot change; a dict, because it is asked by name and has an order.
PINNED = dict.fromkeys(("timestamp", "session_id", JUDGED_AGAIN, DENIED_BY))

# Fields that the registry adds, and that nobody misses.
_ADDED = frozenset({"parent_id", *PINNED})


def find_omission(result: HookResult, data: Mapping[str, Any]) -> str | None:
    """What an answer leaves out although its action lives by it."""
    if result.action == "modify":
        lost = sorted(map(str, data.keys() - (result.data or {}).keys() - _ADDED))
        return _LOSES.format(", ".join(map(repr, lost))) if lost else None
    if result.action == "ask_user":
        return None if result.approval_prompt else NO_PROMPT
    if result.action == "inject_context":
        told = result.context_injection or any(one.content for one in result.context_injections)
        return None if told else NO_TEXT
    return None
