"""What a validation found, and how it is told."""

from __future__ import annotations

from amplifier_core.validation import Check, ValidationResult


def test_nothing_checked_is_nothing_wrong() -> None:
    """An empty result passes."""
    result = ValidationResult("hook", "mine")
    assert result.passed
    assert result.errors == []
    assert result.summary() == "hook mine: 0 of 0 checks passed"


def test_a_check_that_failed_is_told_with_its_message() -> None:
    """The head counts, then each broken promise has a line; kept ones have none."""
    result = ValidationResult("tool", "mine")
    assert result.add("mounts", True, "not shown")
    assert not result.add("has a name", False, "add one")
    assert not result.passed
    assert result.errors == [Check("has a name", False, "add one")]
    assert result.summary() == "tool mine: 1 of 2 checks passed\n  has a name: add one"


def test_results_do_not_share_their_checks() -> None:
    """Each validation starts with none."""
    ValidationResult("hook", "one").add("x", False)
    assert ValidationResult("hook", "two").passed
