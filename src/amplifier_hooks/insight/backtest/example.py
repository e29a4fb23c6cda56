"""An example of a difference: where it is, what it is about, what was and what would be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from amplifier_hooks.insight.backtest.comparison import Difference
from amplifier_hooks.insight.backtest.gap import Gap
from amplifier_hooks.insight.backtest.verdict import Verdict
from amplifier_hooks.trails import RecordedApproval, RecordedEvent

LONGEST = 400
"""Characters of a value that are kept."""
_SUBJECTS = ("tool_input", "tool_result", "prompt", "response", "task", "plan")


def describe_difference(
    trail: Path, event: RecordedEvent, was: Verdict, would: Verdict, difference: Difference
) -> dict[str, Any]:
    """A difference in plain values."""
    described: dict[str, Any] = {
        "trail": str(trail),
        "session": event.session,
        "sequence": event.sequence,
        "time": event.time,
        "event": event.event,
        "tool": event.data.get("tool_name"),
        "about": _describe_subject(event.data),
        "hook": difference.hook,
        "was": _describe_verdict(was),
        "would": _describe_verdict(would),
        "person": None,
    }
    if difference.kind == "changed_input":
        described["changes"] = list_changes(was.left, would.left)
    if difference.failure is not None:
        described["error"] = difference.failure.error
        described["at"] = difference.failure.place
    return described


def describe_person(step: RecordedApproval) -> dict[str, Any]:
    """What a person said then, or what is known of it."""
    state = name_state(step)
    return {
        "state": state,
        "allowed": state == "allowed",
        "to": step.to,
        "by": step.by,
        "how": step.how,
        "decision": step.decision,
        "comment": step.comment,
        "time": step.time,
    }


def name_state(step: RecordedApproval) -> str:
    """What came of a question: `allowed`, `refused`, `not_run` or `not_known`."""
    if step.stage == "handed_over":
        return "not_known"
    if step.stage == "outcome":
        return step.state
    return "allowed" if step.allowed else "refused"


def list_changes(was: Any, would: Any, path: str = "") -> list[dict[str, str]]:
    """The fields that differ, as deep as both sides have the same shape."""
    if isinstance(was, dict) and isinstance(would, dict):
        found = []
        for key in dict.fromkeys([*was, *would]):
            inner = f"{path}.{key}" if path else str(key)
            found += list_changes(was.get(key, _NOTHING), would.get(key, _NOTHING), inner)
        return found
    if was == would:
        return []
    return [{"field": path, "was": shorten(was), "would": shorten(would)}]


class _Nothing:
    def __repr__(self) -> str:
        return ""


_NOTHING = _Nothing()


def shorten(value: Any) -> str:
    """A value as a text of bounded length."""
    if isinstance(value, str | _Nothing | Gap):
        text = str(value)
    else:
        text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _describe_subject(data: dict[str, Any]) -> str:
    return next((shorten(data[name]) for name in _SUBJECTS if data.get(name) is not None), "")


def _describe_verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "action": verdict.action,
        "hook": verdict.hook,
        "reason": shorten(verdict.reason),
        "asks": [shorten(one.prompt) for one in verdict.asking if one.prompt],
    }
