"""What a hook's failure means for what it was told of, in words."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.answers import describe_failure, describe_shadowed
from amplifier_core.models import HookResult


@pytest.mark.parametrize(
    ("event", "denies", "end"),
    [
        ("tool:pre", False, "; the call was not stopped"),
        ("tool:pre", True, "; the call was denied"),
        ("tool:post", True, "; the result was denied"),
        ("prompt:submit", False, "; the prompt was not stopped"),
        ("context:pre-compact", False, "; the compaction was not stopped"),
        ("deploy:start", True, "; the operation was denied"),
        ("session:end", True, ""),
    ],
)
def test_a_failure_says_what_became_of_the_operation(event: str, denies: bool, end: str) -> None:
    """Of what has already happened nothing could be stopped."""
    told = describe_failure(event, "KeyError: 'path'", "guard.py:12", denies)
    assert told == f"failed on {event}: KeyError: 'path' (guard.py:12){end}"


def test_a_place_that_nobody_knows_is_left_out() -> None:
    """Builtins have no file."""
    assert describe_failure("session:end", "ValueError", "", False) == (
        "failed on session:end: ValueError"
    )


@pytest.mark.parametrize(
    ("event", "fields", "would"),
    [
        ("tool:pre", {"action": "deny", "reason": "no"}, "would have denied the call: no"),
        ("prompt:answer", {"action": "deny"}, "would have denied the answer: no reason given"),
        ("tool:post", {"action": "modify"}, "would have changed the result"),
        ("deploy:start", {"action": "ask_user"}, "would have asked about the operation: "),
        ("tool:error", {"action": "deny"}, ""),
        ("tool:error", {"action": "inject_context"}, ""),
        (
            "tool:error",
            {"action": "inject_context", "context_injections": [{"content": "a"}]},
            "would have told the agent: a",
        ),
    ],
)
def test_what_shadow_mode_kept_from_happening_is_said(
    event: str, fields: dict[str, Any], would: str
) -> None:
    """Nothing is said of what would have had no effect."""
    assert describe_shadowed(event, HookResult.model_validate(fields)) == would
