"""The reason why a reply ended."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_hooks.modules.finish_reason import explain_cut, read_finish_reason


@pytest.mark.parametrize(
    ("reason", "why"),
    [
        ("length", "the limit of its output"),
        ("max_tokens", "the limit of its output"),
        ("MAX_TOKENS", "the limit of its output"),
        ("model_context_window_exceeded", "context window"),
        ("content_filter", "filter"),
        ("SAFETY", "filter"),
    ],
)
def test_a_reply_that_is_not_whole_has_a_cause(reason: str, why: str) -> None:
    """In the words of our providers and in those of the APIs."""
    assert why in str(explain_cut(reason))


@pytest.mark.parametrize("reason", [None, "", "stop", "end_turn", "tool_calls", "something new"])
def test_any_other_reply_is_whole(reason: str | None) -> None:
    """What nobody knows is no cause for alarm."""
    assert explain_cut(reason) is None


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"response": {"finish_reason": "length"}}, "length"),
        ({"response": {"finish_reason": 7}}, None),
        ({"response": {}}, None),
        ({"response": "text"}, None),
        ({}, None),
    ],
)
def test_the_reason_is_read_from_what_any_loop_emits(
    data: dict[str, Any], reason: str | None
) -> None:
    """Or there is none."""
    assert read_finish_reason(data) == reason
