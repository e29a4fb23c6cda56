"""An event of another agent, in our terms."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from amplifier_hooks.external.incoming import Incoming, UnreadablePayload


def test_an_event_belongs_to_the_agent_itself_unless_a_sub_agent_is_named() -> None:
    """And does nothing else beside what it says."""
    found = Incoming("tool:pre", {}, "PreToolUse", "s-1")
    assert (found.agent_id, found.parent_id, found.call_id, found.also) == ("", "", "", ())


def test_nobody_changes_what_an_agent_told() -> None:
    """It is what the trail and the answer are about."""
    found = Incoming("tool:pre", {}, "PreToolUse", "s-1")
    with pytest.raises(FrozenInstanceError):
        found.event = "tool:post"  # type: ignore[misc]


def test_what_cannot_be_read_is_a_wrong_value() -> None:
    """Those who read values need not know of it."""
    assert issubclass(UnreadablePayload, ValueError)
