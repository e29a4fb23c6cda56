"""The options of a loop: what they are unless said, and what they may be."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from pydantic import ValidationError

from amplifier_core.testing import MockContextManager, TestCoordinator
from amplifier_hooks.agent.loops.model_call import LoopConfig, Turn
from amplifier_hooks.agent.providers.scripted import ScriptedProvider


def test_the_defaults_are_those_of_the_documentation() -> None:
    """Changing one means changing docs/modules/loops.md, too."""
    assert LoopConfig().model_dump() == {
        "max_turns": 50,
        "max_denied": 8,
        "attempts": 4,
        "retry_delay": 1.0,
        "max_retry_delay": 60.0,
        "provider": None,
        "system": None,
        "parallel_tools": True,
    }


@pytest.mark.parametrize(
    "options",
    [
        {"max_turns": 0},
        {"max_turns": -2},
        {"max_denied": 0},
        {"attempts": 0},
        {"retry_delay": -1},
        {"max_retry_delay": -0.1},
        {"parallel": True},
    ],
)
def test_a_loop_that_could_never_run_cannot_be_configured(options: dict[str, Any]) -> None:
    """Limits leave room for one request; options that do not exist are refused."""
    with pytest.raises(ValidationError):
        LoopConfig(**options)


def test_a_loop_may_have_no_limit() -> None:
    """Written as loops of the ecosystem write it."""
    assert LoopConfig(max_turns=-1).max_turns == sys.maxsize


def test_a_turn_begins_with_nothing_done() -> None:
    """Two turns share nothing that one of them changes."""
    provider = ScriptedProvider([])
    one, two = (Turn(TestCoordinator(), MockContextManager(), provider, {}, []) for _ in range(2))
    one.last_message["content"] = "said"
    assert (two.requests, two.denied_in_a_row, two.status) == (0, 0, "success")
    assert two.last_message == {}
