"""Turns and their steps."""

from __future__ import annotations

from amplifier_hooks.insight.reports.figures.step import MOST_STEPS, Call, Turn
from tests.hooks.insight.reports.stories import SESSION, at


def test_a_turn_keeps_a_bounded_number_of_steps() -> None:
    """A loop of a thousand calls is counted, and not kept."""
    turn = Turn(SESSION, 1, at(0))
    for number in range(1_000):
        turn.steps.add(Call(at(number), "Bash"))
    assert len([*turn.steps]) == MOST_STEPS
    assert turn.steps.left_out == 1_000 - MOST_STEPS
