"""The prompt of a run, wherever the caller put it."""

from __future__ import annotations

import pytest

pytest.importorskip("pydantic_ai")

from pydantic_ai import RunContext, RunUsage, UserPromptNode
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.test import TestModel

from amplifier_hooks.frameworks.pydantic_ai.messages import find_prompt, replace_prompt


def make_context(prompt: str | None, *messages: ModelMessage) -> RunContext[None]:
    """A run that begins like this."""
    return RunContext[None](
        deps=None, model=TestModel(), usage=RunUsage(), prompt=prompt, messages=list(messages)
    )


ASKED = ModelRequest(parts=[UserPromptPart("Old."), UserPromptPart("Go.")])
ANSWERED = ModelResponse(parts=[TextPart("Yes.")])
RETURNED = ModelRequest(parts=[ToolReturnPart("note", "noted", "call_1")])


def test_the_argument_counts_before_the_history() -> None:
    """It is what comes last."""
    assert find_prompt(make_context("Now.", ASKED)) == "Now."


def test_the_end_of_the_history_is_a_prompt() -> None:
    """The last one in its last request."""
    assert find_prompt(make_context(None, ANSWERED, ASKED)) == "Go."


@pytest.mark.parametrize("messages", [(), (ASKED, ANSWERED), (ASKED, ANSWERED, RETURNED)])
def test_a_run_that_only_goes_on_has_none(messages: tuple[ModelMessage, ...]) -> None:
    """What was asked before is not asked again."""
    assert find_prompt(make_context(None, *messages)) is None


def test_the_argument_is_replaced_in_the_first_node() -> None:
    """In a new one."""
    node = UserPromptNode[None, str]("Go.")
    changed = replace_prompt(make_context("Go."), node, "Stay.")
    assert (changed.user_prompt, node.user_prompt) == ("Stay.", "Go.")


def test_a_prompt_of_the_history_is_replaced_there() -> None:
    """In the history of the run, not in the caller's messages."""
    ctx = make_context(None, ASKED)
    node = UserPromptNode[None, str](None)
    assert replace_prompt(ctx, node, "Stay.") is node
    assert [part.content for part in ctx.messages[0].parts] == ["Old.", "Stay."]  # type: ignore[union-attr]
    assert ASKED.parts[1].content == "Go."
