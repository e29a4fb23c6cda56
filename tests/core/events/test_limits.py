"""What a registration may ask for: a priority, a time limit, what its failure means."""

from __future__ import annotations

import math
from typing import Any

import pytest

from amplifier_core.handlers import check_limits, check_priority


@pytest.mark.parametrize("priority", [-1, 0, 10**9])
def test_a_priority_is_any_integer(priority: int) -> None:
    """Truth values are none."""
    check_priority(priority)
    with pytest.raises(TypeError, match="must be an integer, got True"):
        check_priority(True)


@pytest.mark.parametrize(
    ("limits", "kind", "text"),
    [
        (("explode", None), ValueError, "on_error must be 'continue' or 'deny', got 'explode'"),
        (("continue", "1"), TypeError, "must be a number of seconds, got '1'"),
        (("deny", math.inf), ValueError, "must be positive and finite, got inf"),
        (("continue", None, "yes"), TypeError, "parallel must be True or False, got 'yes'"),
        (("deny", None, True), ValueError, "cannot run with parallel=True"),
    ],
)
def test_what_could_not_be_kept_is_refused(
    limits: tuple[Any, ...], kind: type[Exception], text: str
) -> None:
    """With the value that was given."""
    with pytest.raises(kind, match=text):
        check_limits(*limits)


@pytest.mark.parametrize("limits", [("continue", None), ("deny", 0.5), ("continue", 2, True)])
def test_what_can_be_kept_is_taken(limits: tuple[Any, ...]) -> None:
    """A guard may have a time limit, an observer may run beside others."""
    check_limits(*limits)
