"""Figures about hooks."""

from __future__ import annotations

import math
from typing import Any

import pytest

from amplifier_hooks.approvals.errors import BadRequest
from amplifier_hooks.approvals.stores.store import Store


async def test_a_time_that_is_none_is_refused(store: Store) -> None:
    """Not a number is no time."""
    odd: Any
    for odd in (math.nan, math.inf, "yesterday", None):
        with pytest.raises(BadRequest):
            await store.statistics.read(odd)
        with pytest.raises(BadRequest):
            await store.statistics.overrulings(odd)
