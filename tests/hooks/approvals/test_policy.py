"""A policy before a person: what it decides, what goes on to them, and what fails closed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from amplifier_core.approval import (
    ApprovalAnswer,
    ApprovalGate,
    ApprovalQuestion,
    ApprovalTimeout,
)
from amplifier_core.errors import ApprovalError
from amplifier_core.testing import ScriptedApproval
from amplifier_hooks.approvals import PolicyApproval, Ruling
from tests.hooks.approvals.questions import ask
from tests.support.people import PlainPerson


class Says(PolicyApproval):
    """A policy that always says the same, or fails."""

    def __init__(self, ruling: Ruling | Exception, otherwise: object = None) -> None:
        super().__init__(otherwise)  # type: ignore[arg-type]
        self._ruling = ruling

    def judge(self, question: ApprovalQuestion) -> Ruling:
        if isinstance(self._ruling, Exception):
            raise self._ruling
        return self._ruling


async def test_a_yes_holds_for_this_time_and_names_its_rule() -> None:
    """A rule decides anew each time, so nothing is remembered."""
    answer = await Says(Ruling("allow", "docs", "fine")).decide(ask())
    assert answer == ApprovalAnswer("Allow once", by="rule:docs")


async def test_a_no_tells_the_agent_why() -> None:
    """In the words of the rule, and with one of the options."""
    answer = await Says(Ruling("deny", "docs", "Use a branch.")).decide(ask())
    assert answer == ApprovalAnswer("Deny", by="rule:docs", comment="Use a branch.")


@pytest.mark.parametrize(
    ("options", "verdict", "allowed"),
    [
        (("Allow always", "Deny"), "allow", True),
        (("Allow", "Later"), "deny", False),
        (("Allow", "Allow always"), "deny", False),
        (("Deny",), "allow", False),
    ],
)
async def test_the_kernel_understands_every_answer(
    options: tuple[str, ...], verdict: str, allowed: bool
) -> None:
    """Whatever a hook offers, and never for always; where nothing allows, nothing is allowed."""
    ruling = Ruling("allow" if verdict == "allow" else "deny", "r")
    decision = await ApprovalGate(Says(ruling)).ask(replace(ask(), options=options))
    assert decision.allowed == allowed
    assert not decision.remembered


@pytest.mark.parametrize("person", [PlainPerson("Deny"), ScriptedApproval("Deny")])
async def test_what_the_policy_leaves_open_a_person_decides(person: object) -> None:
    """Of either kind."""
    answer = await Says(Ruling("ask", "r"), person).decide(ask())
    assert (answer if isinstance(answer, str) else getattr(answer, "option", "")) == "Deny"


async def test_without_a_person_what_is_open_is_refused() -> None:
    """Also when the hook's own default is to allow."""
    question = replace(ask(), default="allow")
    decision = await ApprovalGate(Says(Ruling("ask", "r", "nobody"))).ask(question)
    assert (decision.allowed, decision.by, decision.comment) == (False, "rule:r", "nobody")


async def test_a_person_who_cannot_be_asked_is_a_refusal_of_the_rule() -> None:
    """The trail has the rule that wanted them, and the agent the reason."""
    person = PlainPerson(ApprovalError("no terminal to ask on"))
    answer = await Says(Ruling("ask", "r", "too big"), person).decide(ask())
    assert answer == ApprovalAnswer("Deny", by="rule:r", comment="too big; no terminal to ask on")


async def test_a_person_who_does_not_decide_in_time_is_a_timeout() -> None:
    """The kernel applies the hook's default, as always."""
    with pytest.raises(ApprovalTimeout):
        await Says(Ruling("ask", "r"), PlainPerson(ApprovalTimeout("late"))).decide(ask())


async def test_a_policy_that_fails_denies() -> None:
    """With what went wrong."""
    answer = await Says(RuntimeError("no disk")).decide(ask())
    assert isinstance(answer, ApprovalAnswer)
    assert (answer.option, answer.by) == ("Deny", "rule:failed")
    assert "no disk" in str(answer.comment)


async def test_the_short_form_is_never_allowed_by_a_rule() -> None:
    """It does not tell what would run."""
    system = Says(Ruling("allow", "r"))
    assert await system.request_approval("?", ["Allow", "Deny"], 5, "allow") == "Deny"
    system = Says(Ruling("deny", "r"), PlainPerson("Allow"))
    assert await system.request_approval("?", ["Allow", "Deny"], 5, "deny") == "Allow"


def test_a_policy_must_say_something() -> None:
    """The class itself decides nothing."""
    with pytest.raises(NotImplementedError):
        PolicyApproval().judge(ask())
