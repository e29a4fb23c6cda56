"""Standings: one word for what the figures of a hook say."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.models.hook_counts import HookCounts
from amplifier_hooks.insight.counting import judge_standing


def make(**figures: Any) -> HookCounts:
    counts = HookCounts()
    for name, value in figures.items():
        setattr(counts, name, value)
    return counts


def slow() -> HookCounts:
    counts = make(calls=100)
    for number in range(100):
        counts.count_time(0.2 if number > 97 else 0.001)
    return counts


@pytest.mark.parametrize(
    ("counts", "word"),
    [
        (make(calls=100, failures=1), "failing"),
        (make(calls=101, failures=1), "quiet"),
        (make(), "dead"),
        (slow(), "slow"),
        (make(calls=9, asked=5, overruled=5, answers={"ask_user": 5}), "noisy"),
        (make(calls=9, asked=4, overruled=4, answers={"ask_user": 4}), "active"),
        (make(calls=99, asked=10, overruled=8, answers={"ask_user": 10}), "active"),
        (make(calls=3), "quiet"),
        (make(calls=3, answers={"deny": 1}), "active"),
        (make(calls=3, shadowed={"deny": 1}), "active"),
        (make(calls=3, unheeded=1), "active"),
    ],
)
def test_the_figures_of_a_hook_come_to_one_word(counts: HookCounts, word: str) -> None:
    """The worst that fits."""
    assert judge_standing(counts, everywhere=True) == word


def test_only_a_hook_that_all_sessions_had_is_called_dead() -> None:
    """And only if all calls are known."""
    assert judge_standing(HookCounts()) == "quiet"
    assert judge_standing(HookCounts(), everywhere=True, sure=False) == "quiet"
