"""What a validation found, and how it is told."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_core.validation.base import (
    ValidationCheck,
    ValidationResult,
    check_on_session_ready,
    is_async,
)


def test_nothing_checked_is_nothing_wrong() -> None:
    """An empty result passes."""
    result = ValidationResult("hook", "mine")
    assert result.passed
    assert (result.errors, result.warnings) == ([], [])
    assert result.summary() == "PASSED: 0/0 checks passed (0 errors, 0 warnings)"


def test_an_error_fails_a_warning_does_not() -> None:
    """Failed checks are told apart by their severity; passed ones are neither."""
    error = ValidationCheck("a", False, "wrong", "error")
    warning = ValidationCheck("b", False, "odd", "warning")
    result = ValidationResult("tool", "mine", [ValidationCheck("c", True, "fine", "error")])
    result.add(warning)
    assert result.passed
    assert result.warnings == [warning]
    result.add(error)
    result.add(ValidationCheck("d", False, "by the way", "info"))
    assert not result.passed
    assert result.errors == [error]
    assert result.summary() == "FAILED: 1/4 checks passed (1 errors, 1 warnings)"


def test_each_error_is_told_with_its_name_and_message() -> None:
    """Below the summary; what passed has no line."""
    result = ValidationResult("tool", "mine")
    assert result.check("mounts", True, "it mounts", "it does not")
    assert not result.check("has a name", False, "it has", "add one")
    assert not result.check("is tidy", False, "could be tidier", severity="warning")
    assert result.describe_errors() == (
        "mine: FAILED: 1/3 checks passed (1 errors, 1 warnings)\n  has a name: add one"
    )
    assert [one.severity for one in result.checks] == ["info", "error", "warning"]
    assert [one.message for one in result.checks] == ["it mounts", "add one", "could be tidier"]


def test_results_do_not_share_their_checks() -> None:
    """Each validation starts with none."""
    ValidationResult("hook", "one").check("x", False, "no")
    assert ValidationResult("hook", "two").passed


async def _takes_coordinator(coordinator: Any) -> None: ...
async def _takes_nothing() -> None: ...
async def _takes_what_it_gets(*args: Any) -> None: ...
async def _takes_a_keyword(*, coordinator: Any) -> None: ...
async def _takes_a_default(coordinator: Any = None) -> None: ...
def _plain(coordinator: Any) -> None: ...


class _Callable:
    async def __call__(self, coordinator: Any) -> None: ...


@pytest.mark.parametrize("good", [_takes_coordinator, _Callable()])
def test_an_async_function_of_the_coordinator_may_wait_for_the_session(good: Any) -> None:
    """And a module need not have one."""
    assert check_on_session_ready(SimpleNamespace(on_session_ready=good)) is None
    assert check_on_session_ready(SimpleNamespace()) is None


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (_plain, "not async"),
        ("text", "not async"),
        (_takes_nothing, "no coordinator"),
        (_takes_what_it_gets, "no coordinator"),
        (_takes_a_keyword, "no coordinator"),
        (_takes_a_default, "no coordinator"),
    ],
)
def test_any_other_is_an_error(bad: Any, why: str) -> None:
    """A session would not call it, or call it in vain."""
    check = check_on_session_ready(SimpleNamespace(on_session_ready=bad))
    assert check is not None
    assert (check.name, check.passed, check.severity) == ("on_session_ready_async", False, "error")
    assert why in check.message


def test_functions_and_objects_can_be_async() -> None:
    """Whatever gives a coroutine when it is called."""
    assert is_async(_takes_nothing)
    assert is_async(_Callable())
    assert not is_async(_plain)
    assert not is_async(object())
