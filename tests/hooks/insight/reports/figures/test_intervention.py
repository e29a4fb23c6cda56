"""What hooks changed."""

from __future__ import annotations

from amplifier_hooks.insight.reports.figures.intervention import MOST_FIELDS, compare


def test_values_that_differ_are_found_where_they_stand() -> None:
    """By path, with what was there before and after."""
    before = {"tool_input": {"a": 1, "list": ["x", "y"]}, "same": 1, "gone": "g"}
    after = {"tool_input": {"a": 2, "list": ["x", "z"]}, "same": 1, "new": "n"}
    found = {one.path: (one.before.text, one.after.text) for one in compare(before, after)}
    assert found == {
        "tool_input.a": ("1", "2"),
        "tool_input.list[1]": ("y", "z"),
        "gone": ("g", ""),
        "new": ("", "n"),
    }


def test_not_more_values_are_kept_than_anybody_reads() -> None:
    """A hook that changes everything does not fill the report."""
    assert len(compare({str(one): one for one in range(100)}, {})) == MOST_FIELDS


def test_values_that_are_nested_without_end_are_compared_as_a_whole() -> None:
    """A forged record does not end the report."""
    before: dict[str, object] = {}
    for _ in range(3_000):
        before = {"a": before}
    (field,) = compare(before, {"a": {"a": {}}})[:1]
    assert field.path.startswith("a.a")
