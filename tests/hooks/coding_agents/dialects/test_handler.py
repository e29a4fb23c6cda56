"""One external hook."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_hooks.coding_agents.dialects.dialect import Handler


@pytest.mark.parametrize(
    ("target", "label"),
    [
        ({"command": "guard.sh"}, "guard.sh"),
        ({"url": "https://hooks.test/x"}, "https://hooks.test/x"),
        ({"args": ("guard", "--strict")}, "guard --strict"),
        ({"command": "guard", "args": ("guard", "--strict")}, "guard"),
        ({}, ""),
    ],
)
def test_a_person_knows_a_hook_by_what_it_runs(target: dict[str, Any], label: str) -> None:
    """The label stands in every message about the hook."""
    assert Handler(dialect="claude", native="PreToolUse", where="x", **target).label == label


def test_a_hook_is_open_in_the_foreground_and_alone_unless_it_says_otherwise() -> None:
    """What a file leaves out decides nothing."""
    handler = Handler(dialect="claude", native="PreToolUse", where="x")
    assert (handler.fail_closed, handler.background, handler.once) == (False, False, False)
    assert (handler.lane, handler.matcher, handler.condition) == (None, None, None)
