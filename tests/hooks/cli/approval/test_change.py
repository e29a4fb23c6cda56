"""The change that a call would make to a file, as a person reads it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.approvals.change import DIFF_LINES, Change
from amplifier_hooks.cli.approval.preview import show_diff
from amplifier_hooks.cli.text.escape import unescape
from amplifier_hooks.cli.text.fragments import join_text


def rows(made: Change) -> list[str]:
    return [join_text(line) for line in show_diff(made) or []]


def test_a_missing_last_newline_is_a_visible_difference() -> None:
    """Nothing that changes is left out."""
    assert rows(Change("f", "x\n", "x")) == [
        "@@ -1 +1 @@",
        "- x",
        "+ x",
        "  (no newline at the end)",
    ]


def test_lines_that_stay_are_left_out_of_a_diff() -> None:
    """Three lines around a change are enough to know the place."""
    before = "".join(f"{number}\n" for number in range(100))
    shown = rows(Change("f", before, before.replace("50\n", "fifty\n")))
    assert shown == [
        "@@ -48,7 +48,7 @@",
        *(f"  {number}" for number in (47, 48, 49)),
        "- 50",
        "+ fifty",
        *(f"  {number}" for number in (51, 52, 53)),
    ]


def test_what_would_take_too_long_has_no_diff() -> None:
    """More lines than a person reads are not compared; neither is what was not there."""
    assert show_diff(Change("f", "x\n", "y\n" * (DIFF_LINES + 1))) is None
    assert show_diff(Change("f", None, "y\n")) is None


@given(st.text(), st.text())
def test_a_diff_holds_every_changed_line(before: str, after: str) -> None:
    """What a diff adds is in the new text, and an empty diff means no change."""
    shown = rows(Change("f", before, after))
    added = [unescape(row[2:]) for row in shown if row.startswith("+ ")]
    assert all(line in after.split("\n") for line in added)
    assert bool(shown) == (before != after)
