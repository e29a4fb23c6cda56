"""The prompt in what a run is started with."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("agents")

from agents import AgentsException, InputGuardrailTripwireTriggered

from amplifier_hooks.frameworks.openai_agents.messages import (
    PromptDenied,
    change_prompt,
    read_prompt,
)

BEFORE = {"role": "user", "content": "Hi."}
SAID = {"role": "assistant", "content": "Hello."}
ASKED = {"role": "user", "content": [{"type": "input_text", "text": "Buy milk."}]}


@pytest.mark.parametrize(
    ("given", "prompt"),
    [
        ("Buy milk.", "Buy milk."),
        ([BEFORE, SAID, ASKED], "Buy milk."),
        ([BEFORE, SAID], "Hi."),
        ([SAID], ""),
        ([], ""),
    ],
)
def test_the_prompt_is_what_the_user_said_last(given: Any, prompt: str) -> None:
    """In a text, and in a list."""
    assert read_prompt(given) == prompt


def test_another_prompt_stands_in_its_place() -> None:
    """The list itself stays as it was, for who gave it to us."""
    given = [BEFORE, SAID, ASKED]
    changed = change_prompt(given, "Buy oat milk.")
    assert changed[:2] == given[:2]
    assert changed[2]["content"] == [{"type": "input_text", "text": "Buy oat milk."}]
    assert given[2] is ASKED
    assert read_prompt(given) == "Buy milk."
    assert change_prompt("Buy milk.", "Buy oat milk.") == "Buy oat milk."
    assert change_prompt([SAID], "Hi.") == [SAID, {"role": "user", "content": "Hi."}]


def test_a_denial_is_an_error_of_the_sdk() -> None:
    """Handlers of guardrails catch it, and its text is the reason alone."""
    error = PromptDenied("not today")
    assert isinstance(error, InputGuardrailTripwireTriggered)
    assert isinstance(error, AgentsException)
    assert str(error) == "not today"
    assert error.guardrail_result.output.tripwire_triggered
    assert error.guardrail_result.guardrail.get_name() == "amplifier"
