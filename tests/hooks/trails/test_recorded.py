"""What a trail tells, as values."""

from __future__ import annotations

import pytest

from amplifier_hooks.trails import RecordedApproval, read_items

PLACE = {"time": "2026-11-17T12:00:00Z", "session": "s", "turn": 1, "event": "tool:pre"}


def read(type: str, **body: object) -> RecordedApproval:
    """The step of a question that a record tells of."""
    record = {**PLACE, "seq": 1, "type": type, "hook": "h", "registration": 3, "body": body}
    (item,) = read_items([record])
    assert isinstance(item, RecordedApproval)
    return item


def test_a_question_has_what_could_be_chosen_and_why_nobody_did() -> None:
    """Each in the step that says it; odd values are left out."""
    asked = read("approval_requested", prompt="sure?", options=["Allow", 3, "Deny"])
    assert (asked.prompt, asked.options, asked.detail) == ("sure?", ("Allow", "Deny"), "")
    ended = read("approval_expired", how="timeout", detail="nobody decided within 5 s")
    assert (ended.stage, ended.detail) == ("expired", "nobody decided within 5 s")


def test_nobody_changes_what_was_recorded() -> None:
    """Values are frozen."""
    with pytest.raises(AttributeError):
        read("approval_requested").prompt = "other"  # type: ignore[misc]
