"""Answers of a run."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from pydantic import BaseModel
from pydantic_ai import AgentRunResult, DeferredToolRequests

from amplifier_hooks.external.verdicts import TextVerdict
from amplifier_hooks.frameworks.pydantic_ai import RunRefused
from amplifier_hooks.frameworks.pydantic_ai.translation import answers

CHANGED = TextVerdict(True, '{"number": 2}', changed=True)
REFUSED = TextVerdict(False, "no")


class Answer(BaseModel):
    """No text."""

    number: int


def test_hooks_see_a_text() -> None:
    """JSON of what is none; nothing of a run that only pauses."""
    assert answers.describe(AgentRunResult("Done.")) == "Done."
    assert answers.describe(AgentRunResult(Answer(number=1))) == '{"number":1}'
    assert answers.describe(AgentRunResult(DeferredToolRequests())) is None


@pytest.mark.parametrize("output", ["Done.", Answer(number=1)])
def test_an_answer_that_hooks_leave_alone_is_the_same_result(output: Any) -> None:
    """Nothing is copied."""
    result = AgentRunResult(output)
    assert answers.restore(result, TextVerdict(True, "Done."), streamed=True) is result


def test_another_text_is_the_output() -> None:
    """A reason as well."""
    result = AgentRunResult("Done.")
    assert answers.restore(result, CHANGED, streamed=False).output == CHANGED.text
    assert answers.restore(result, REFUSED, streamed=False).output == "no"


def test_another_object_is_of_the_same_kind() -> None:
    """What is not is refused, and the message says what it was."""
    result = AgentRunResult(Answer(number=1))
    assert answers.restore(result, CHANGED, streamed=False).output == Answer(number=2)
    with pytest.raises(RunRefused, match="'no', which is no Answer"):
        answers.restore(result, TextVerdict(True, "no", changed=True), streamed=False)


@pytest.mark.parametrize(("output", "streamed"), [("Done.", True), (Answer(number=1), False)])
def test_a_reason_without_a_place_is_raised(output: Any, streamed: bool) -> None:
    """Where the answer was read already, or is no text."""
    with pytest.raises(RunRefused, match="no"):
        answers.restore(AgentRunResult(output), REFUSED, streamed=streamed)
