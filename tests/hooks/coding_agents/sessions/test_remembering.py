"""Answers for always."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion
from amplifier_hooks.coding_agents.sessions.remembering import RememberingApproval

QUESTION = ApprovalQuestion(
    "May it?", ("Allow once", "Allow always", "Deny always"), 10.0, "deny", hook="h", digest="d1"
)


class Person:
    """Says what it is given, and counts."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked = 0

    async def decide(self, question: ApprovalQuestion) -> Any:
        self.asked += 1
        return self.answer


class Terminal:
    """The older form of an approval system."""

    async def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: str
    ) -> str:
        return options[1]


async def test_an_answer_for_always_outlives_the_process() -> None:
    """Another system with the same state does not ask again, and says whose answer it was."""
    state: dict[str, Any] = {}
    first = Person(ApprovalAnswer("Allow always", by="ann"))
    await RememberingApproval(first, state).decide(QUESTION)
    second = Person(ApprovalAnswer("Deny always"))
    answer = await RememberingApproval(second, state).decide(QUESTION)
    assert answer == ApprovalAnswer("Allow always", by="rule:always, said by ann")
    assert second.asked == 0


async def test_an_answer_for_a_scope_holds_for_other_inputs() -> None:
    """Its words say for what: the prompt is the scope, and not the exact input."""
    options = ("Allow once", "Allow always for this folder", "Deny")
    question = replace(QUESTION, options=options)
    state: dict[str, Any] = {}
    await RememberingApproval(Person(options[1]), state).decide(question)
    person = Person("Deny")
    asking = RememberingApproval(person, state)
    answer = await asking.decide(replace(question, digest="d2"))
    assert isinstance(answer, ApprovalAnswer)
    assert (answer.option, person.asked) == (options[1], 0)


async def test_other_questions_are_asked() -> None:
    """Another input, hook or prompt is another question."""
    state: dict[str, Any] = {}
    await RememberingApproval(Person("Allow always"), state).decide(QUESTION)
    person = Person("Allow once")
    asking = RememberingApproval(person, state)
    others = [replace(QUESTION, digest="d2"), replace(QUESTION, hook="x")]
    others += [replace(QUESTION, prompt="?"), replace(QUESTION, tool_name="Read")]
    for other in others:
        await asking.decide(other)
    assert person.asked == 4


async def test_an_answer_for_once_is_not_kept() -> None:
    """Nor is one with an edited input, nor one that was not offered."""
    state: dict[str, Any] = {}
    for answer in ("Allow once", ApprovalAnswer("Allow always", edited_input={}), "Yes always", 5):
        person = Person(answer)
        await RememberingApproval(person, state).decide(QUESTION)
        assert person.asked == 1


async def test_the_older_form_is_asked_too() -> None:
    """Its answer is kept as well."""
    state: dict[str, Any] = {}
    assert await RememberingApproval(Terminal(), state).decide(QUESTION) == "Allow always"
    assert await RememberingApproval(Person("x"), state).decide(QUESTION) == ApprovalAnswer(
        "Allow always", by="rule:always, said by a person"
    )


async def test_a_damaged_state_is_no_answer() -> None:
    """What is not a table of answers counts as nothing."""
    person = Person("Allow once")
    await RememberingApproval(person, {"guest_always": [1]}).decide(QUESTION)
    assert person.asked == 1
