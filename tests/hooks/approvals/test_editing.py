"""When a person may edit an input, and what the agent is told of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from amplifier_hooks.approvals.change import is_editable, list_once, word_edit
from tests.hooks.approvals.questions import ask


def test_an_edited_input_is_allowed_once_or_not_at_all() -> None:
    """An always would be remembered for the input that was asked about first."""
    assert list_once(ask()) == ("Allow once", "Deny")
    assert list_once(replace(ask(), options=("Allow always", "Deny"))) == ()


def test_only_a_call_that_has_not_run_can_be_edited() -> None:
    """And only where it can be allowed for this once."""
    assert is_editable(ask(command="ls"))
    for other in ({"event": "tool:post"}, {"tool_name": None}, {"options": ("Allow always", "No")}):
        assert not is_editable(replace(ask(), **other))


@pytest.mark.parametrize(
    ("edited", "tool", "words"),
    [
        ({"command": "ls -l"}, "Bash", "I changed the command to: ls -l"),
        ({"command": "a\nb"}, "Bash", "I edited the input before it ran"),
        ({"command": "ls"}, "Other", "I edited the input before it ran"),
        ({"command": 3}, "Bash", "I edited the input before it ran"),
    ],
)
def test_the_agent_is_told_that_another_input_ran(
    edited: dict[str, Any], tool: str, words: str
) -> None:
    """A command of one line in full."""
    assert word_edit(edited, tool) == words
