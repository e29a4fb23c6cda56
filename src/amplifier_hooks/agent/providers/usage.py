"""Counts of tokens, completed: servers and scripts leave out what follows from the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_core.message_models import Usage


def complete_counts(counts: Mapping[str, Any]) -> dict[str, Any]:
    """The counts with what is missing: none is zero, and the total is the sum."""
    filled = {"input_tokens": 0, "output_tokens": 0, **counts}
    if not filled.get("total_tokens"):
        parts = (filled["input_tokens"], filled["output_tokens"])
        filled["total_tokens"] = sum(part for part in parts if isinstance(part, int))
    return filled


def build_usage(**counts: Any) -> Usage:
    """The usage of one call, of whatever was counted."""
    return Usage.model_validate(complete_counts(counts))
