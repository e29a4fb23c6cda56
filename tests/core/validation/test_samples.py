"""Sample payloads: every field of an event, with a value of its type."""

from __future__ import annotations

from typing import get_type_hints

import pytest

from amplifier_core import events
from amplifier_core.validation import sample_payload


@pytest.mark.parametrize("event", events.ALL_EVENTS)
def test_there_is_a_sample_of_every_event(event: str) -> None:
    """Hooks are tried with every field that they may read."""
    payload = events.payload_type(event)
    assert payload is not None
    sample = sample_payload(event, extra=1)
    absent = {"parent_id", "judged_again", "denied_by"}
    assert set(get_type_hints(payload)) - absent <= sample.keys()
    assert sample["session_id"] == "sample-session"
    assert sample["extra"] == 1
    assert None not in sample.values()


def test_known_fields_are_taken_as_they_are() -> None:
    """An author tries a hook with a call of their own."""
    sample = sample_payload("tool:pre", tool_name="Bash", tool_input={"command": "ls"})
    assert (sample["tool_name"], sample["tool_input"]) == ("Bash", {"command": "ls"})


def test_an_event_of_a_modules_own_has_the_common_fields_only() -> None:
    """Nobody knows what else is in it."""
    assert set(sample_payload("my:event")) == {"session_id", "timestamp"}
