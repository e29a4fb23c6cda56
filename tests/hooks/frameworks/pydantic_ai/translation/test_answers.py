"""Answers of a run."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from pydantic import BaseModel
from pydantic_ai import AgentRunResult, DeferredToolRequests

from amplifier_hooks.external.verdicts import TextVerdict
from amplifier_hooks.frameworks.pydantic_ai import RunRefused
from amplifier_hooks.frameworks.pydantic_ai.turn import (
    describe_answer,
    restore_answer,
)

CHANGED = TextVerdict(True, '{"number": 2}', changed=True)
REFUSED = TextVerdict(False, "no")


class Answer(BaseModel):
    """No text."""

    number: int


def test_hooks_see_a_text() -> None:
    """JSON of what is none; nothing of a run that only pauses."""
    assert describe_answer(AgentRunResult("Done.")) == "Done."
    assert describe_answer(AgentRunResult(Answer(number=1))) == '{"number":1}'
    assert describe_answer(AgentRunResult(DeferredToolRequests())) is None


@pytest.mark.parametrize("output", ["Done.", Answer(number=1)])
def test_an_answer_that_hooks_leave_alone_is_the_same_result(output: Any) -> None:
    """Nothing is copied."""
    result = AgentRunResult(output)
    assert restore_answer(result, TextVerdict(True, "Done."), streamed=True) is result


def test_another_text_is_the_output() -> None:
    """A reason as well."""
    result = AgentRunResult("Done.")
    assert restore_answer(result, CHANGED, streamed=False).output == CHANGED.text
    assert restore_answer(result, REFUSED, streamed=False).output == "no"


def test_another_object_is_of_the_same_kind() -> None:
    """What is not is refused, and the message says what it was."""
    result = AgentRunResult(Answer(number=1))
    assert restore_answer(result, CHANGED, streamed=False).output == Answer(number=2)
    with pytest.raises(RunRefused, match="'no', which is no Answer"):
        restore_answer(result, TextVerdict(True, "no", changed=True), streamed=False)


@pytest.mark.parametrize(("output", "streamed"), [("Done.", True), (Answer(number=1), False)])
def test_a_reason_without_a_place_is_raised(output: Any, streamed: bool) -> None:
    """Where the answer was read already, or is no text."""
    with pytest.raises(RunRefused, match="no"):
        restore_answer(AgentRunResult(output), REFUSED, streamed=streamed)
