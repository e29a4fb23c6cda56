"""Messages put together again from their parts."""

from __future__ import annotations

import pytest

pytest.importorskip("pydantic_ai")

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolAvailabilityDeltaPart,
    UserPromptPart,
)

from amplifier_hooks.frameworks.pydantic_ai.messages import Assembly

HIDDEN = ToolAvailabilityDeltaPart(tools_added=["launch"])
"""What only the framework reads."""
GO, STAY = UserPromptPart("Go."), UserPromptPart("Stay.")
MESSAGES: list[ModelMessage] = [
    ModelRequest(parts=[HIDDEN]),
    ModelRequest(parts=[HIDDEN, GO, HIDDEN, STAY, HIDDEN]),
    ModelResponse(parts=[TextPart("Yes.")]),
]
SHOWN = {(1, 1), (1, 3), (2, None)}


def test_hidden_parts_go_with_their_message() -> None:
    """In their places, and the whole is the same message."""
    assembly = Assembly(MESSAGES, SHOWN)
    assembly.keep_part(1, 1, None)
    assembly.keep_part(1, 3, None)
    assembly.keep_response(2, None)
    made = assembly.finish()
    assert all(one is other for one, other in zip(made, MESSAGES, strict=True))


def test_a_changed_part_stands_between_the_same_hidden_ones() -> None:
    """Nothing of the framework is lost."""
    assembly = Assembly(MESSAGES, SHOWN)
    assembly.keep_part(1, 1, STAY)
    made = assembly.finish()
    assert made[0] is MESSAGES[0]
    assert list(made[1].parts) == [HIDDEN, STAY, HIDDEN, HIDDEN]


def test_what_is_added_follows_what_stands_before_it() -> None:
    """A request in a request that is open, everything else by itself."""
    assembly = Assembly(MESSAGES, SHOWN)
    added = ModelRequest(parts=[UserPromptPart("First.")])
    reply = ModelResponse(parts=[TextPart("No.")])
    assembly.add(added)
    assembly.keep_part(1, 1, None)
    assembly.add(ModelRequest(parts=[STAY]))
    assembly.add(reply)
    made = assembly.finish()
    assert made[0] is added
    assert made[1] is MESSAGES[0]
    assert STAY in made[2].parts
    assert made[3] is reply


def test_a_message_of_which_nothing_is_left_is_gone() -> None:
    """Only messages that hooks are not shown stay by themselves."""
    assert Assembly(MESSAGES, SHOWN).finish() == [MESSAGES[0]]
