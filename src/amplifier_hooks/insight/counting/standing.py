"""How a hook stands, in one word, from its figures."""

from __future__ import annotations

from typing import Literal, get_args

from amplifier_core.models.hook_counts import HookCounts

Standing = Literal["failing", "dead", "slow", "noisy", "quiet", "active"]

STANDINGS: tuple[Standing, ...] = get_args(Standing)
"""The first that fits is the one."""

FAILING = 0.01
"""Share of calls that may fail."""
SLOW_MS = 100.0
NOISY = 0.9
"""Share of its questions that people allow, from which on a hook asks for nothing."""
LEAST_ASKED = 5


def judge_standing(counts: HookCounts, *, everywhere: bool = False, sure: bool = True) -> Standing:
    """The word for a hook; `everywhere` if each session had it, `sure` if all calls are known."""
    if counts.failures and counts.failures >= FAILING * counts.calls:
        return "failing"
    if not counts.calls:
        return "dead" if everywhere and sure else "quiet"
    if (counts.find_quantile(0.99) or 0.0) > SLOW_MS:
        return "slow"
    if counts.asked >= LEAST_ASKED and counts.overruled >= NOISY * counts.asked:
        return "noisy"
    return "active" if counts.answers or counts.shadowed or counts.unheeded else "quiet"
