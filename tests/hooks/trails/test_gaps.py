"""What a trail does not have."""

from __future__ import annotations

from amplifier_hooks.trails.gaps import find_masked, find_missing


def test_each_value_that_is_not_there_is_named_with_the_reason() -> None:
    """By its path in the data."""
    data = {
        "tool_input": {
            "content": {"$cut": "text", "chars": 9000},
            "list": ["a", {"$commitment": "c"}, {"$commitment": "d", "redacted": True}],
            "held": "[withheld: a scrubber failed]",
        }
    }
    assert find_missing("tool:pre", data) == {
        "tool_input.content": "too long for a record",
        "tool_input.list[1]": "committed, and its value is not here",
        "tool_input.list[2]": "redacted",
        "tool_input.held": "withheld",
    }


def test_histories_are_missing_where_the_event_has_them() -> None:
    """An event without that field misses nothing."""
    assert find_missing("provider:request", {}) == {"messages": "trails do not repeat it"}
    assert find_missing("tool:pre", {}) == {}
    assert find_missing("prompt:answer", {"response": "hello"}) == {}


def test_masks_are_found_wherever_they_are() -> None:
    """In texts of any depth; a text about masks without one is none."""
    data = {"a": {"b": ["x", "key [REDACTED:api-key] here"]}, "c": "[secret]", "d": "[REDACTED"}
    assert list(find_masked(data)) == ["a.b[1]", "c"]
