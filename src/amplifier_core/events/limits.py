"""What a registration may ask for: a priority, a time limit, what its failure means."""

from __future__ import annotations

import math
from typing import Any


def check_priority(priority: Any) -> None:
    """Refuse what cannot be a priority."""
    if isinstance(priority, bool) or not isinstance(priority, int):
        raise TypeError(f"A priority must be an integer, got {priority!r}")


def check_limits(on_error: Any, timeout: Any, parallel: Any = False) -> None:
    """Refuse settings that could not be kept."""
    if parallel not in (True, False):
        raise TypeError(f"parallel must be True or False, got {parallel!r}")
    if parallel and on_error == "deny":
        raise ValueError("A guard (on_error='deny') decides, so it cannot run with parallel=True")
    if on_error not in ("continue", "deny"):
        raise ValueError(f"on_error must be 'continue' or 'deny', got {on_error!r}")
    if timeout is None:
        return
    if isinstance(timeout, bool) or not isinstance(timeout, int | float):
        raise TypeError(f"A timeout must be a number of seconds, got {timeout!r}")
    if not (math.isfinite(timeout) and timeout > 0):
        raise ValueError(f"A timeout must be positive and finite, got {timeout!r}")
