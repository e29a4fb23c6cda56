"""Handing a question to the framework's own interrupt, and taking the answer back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion, HandedOver
from amplifier_core.errors import ApprovalError
from amplifier_core.testing import ScriptedApproval
from amplifier_hooks.external.handover import (
    Handover,
    RunApproval,
    asked_by_framework,
    bind_plain,
    decide,
    say_no,
)
from amplifier_hooks.frameworks import answer


def ask(digest: str = "d1", default: Any = "deny", options: Any = ("Allow", "Deny")) -> Any:
    return ApprovalQuestion(
        "May it?",
        options,
        10,
        default,
        hook="policy",
        event="tool:pre",
        tool_name="wipe",
        digest=digest,
    )


async def test_a_question_is_a_no_until_it_is_answered() -> None:
    """Also one whose default is yes: nothing runs before the framework has asked."""
    for question in (ask(), ask(default="allow"), ask(options=("Allow",))):
        handover = Handover("X")
        said = await handover.decide(question)
        assert said == HandedOver("X", goes_on=False)
        assert handover.asked is not None
        assert handover.asked.to_payload()["digest"] == "d1"


async def test_an_answer_counts_once_and_for_what_was_shown() -> None:
    """The same call asked again needs another answer."""
    handover = Handover("X")
    await handover.decide(ask())
    assert handover.asked is not None
    payload = handover.asked.to_payload()
    assert handover.take(answer(payload, "Allow", by="ana", comment="fine")) is None
    assert await handover.decide(ask()) == ApprovalAnswer("Allow", by="ana", comment="fine")
    assert await handover.decide(ask()) == HandedOver("X")
    # A person cannot pass for a rule, and nobody can allow ahead.
    handover.take({"option": "Allow", "digest": "d1", "by": "rule:mine"})
    assert await handover.decide(ask()) == ApprovalAnswer("Allow", by=None)
    assert Handover("X").take({"option": "Allow", "digest": "d1"}) == "nothing was asked"


async def test_every_gate_gets_its_answer_each_time_the_call_is_judged() -> None:
    """Two hooks may ask the same about one call; each is asked once, not over and over."""
    handover, hooks = Handover("X"), ("first", "second")
    for hook in hooks:
        handover.start_again()
        for one in hooks:
            await handover.decide(replace(ask(), hook=one))
            if handover.asked is not None:
                break
        assert handover.asked is not None
        assert handover.asked.hook == hook
        handover.take(answer(handover.asked.to_payload(), "Allow"))
    handover.start_again()
    said = [await handover.decide(replace(ask(), hook=one)) for one in hooks]
    assert said == [ApprovalAnswer("Allow"), ApprovalAnswer("Allow")]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"option": "Allow", "digest": "d2"}, "something else"),
        ({"option": "Allow"}, "something else"),
        ("Allow", "'Allow' is no answer to it"),
        (None, "None is no answer to it"),
        ({"option": 1, "digest": "d1"}, "is no answer to it"),
    ],
)
async def test_what_is_no_answer_to_this_is_refused(given: Any, why: str) -> None:
    """With the reason."""
    handover = Handover("X")
    await handover.decide(ask())
    assert why in (handover.take(given) or "")
    assert await handover.decide(ask()) == HandedOver("X")


@pytest.mark.parametrize(
    ("options", "yes", "option"),
    [
        (["Allow", "Deny"], True, "Allow"),
        (["Allow", "Deny"], False, "Deny"),
        (["Allow always", "Allow", "Deny always", "Deny"], True, "Allow"),
        (["Allow always", "Allow", "Deny always", "Deny"], False, "Deny"),
        (["Allow always", "Deny"], True, "Allow once"),
        (["Maybe"], False, "Deny"),
        ([], True, "Allow once"),
    ],
)
def test_a_yes_of_the_framework_is_for_this_once(
    options: list[str], yes: bool, option: str
) -> None:
    """Nobody said always, or anything else that was offered."""
    given = decide({"options": options, "digest": "d"}, yes)
    assert (given["option"], given["digest"]) == (option, "d")


@pytest.mark.parametrize(
    ("given", "option"),
    [
        (True, "Allow"),
        (False, "Deny"),
        ("y", "Allow"),
        ("ok", "Allow"),
        ("Allow always", "Allow always"),
        ("no", "Deny"),
        ("whatever", "Deny"),
    ],
)
def test_a_plain_answer(given: Any, option: str) -> None:
    """An option in its own words is chosen as it is; other words are a yes or a no."""
    payload = {"options": ["Allow", "Allow always", "Deny"], "digest": "d"}
    assert bind_plain(payload, given)["option"] == option


def test_what_is_no_plain_answer_stays_as_it_came() -> None:
    """The gate says what is wrong with it."""
    assert bind_plain({}, 7) == 7


def test_an_option_that_was_not_offered_is_no_answer() -> None:
    """The application learns it at once."""
    with pytest.raises(ValueError, match="'Perhaps' is not one of Allow, Deny"):
        answer({"options": ["Allow", "Deny"], "digest": "d"}, "Perhaps")


async def test_the_framework_asks_where_it_does_else_who_was_named() -> None:
    """By the call that is under way."""
    approval = RunApproval(ScriptedApproval("Allow", "Allow"))
    assert await approval.decide(ask()) == "Allow"
    token = asked_by_framework.set(Handover("X"))
    try:
        assert await approval.decide(ask()) == HandedOver("X")
        about_result = replace(ask(), event="tool:post")
        assert await approval.decide(about_result) == "Allow"
    finally:
        asked_by_framework.reset(token)


async def test_nobody_is_a_no_whatever_the_default() -> None:
    """A question that nobody saw is not allowed; who has the short form of a system is asked."""

    class Short:
        async def request_approval(
            self, prompt: str, options: list[str], timeout: float, default: str
        ) -> str:
            return options[0] if prompt == "May it?" else "Deny"

    assert await RunApproval(Short()).decide(ask()) == "Allow"
    with pytest.raises(ApprovalError, match="nobody to ask"):
        await RunApproval(None).decide(ask())
    said = await RunApproval(None).decide(ask(default="allow"))
    assert said.option not in ("Allow", "Deny")
    assert say_no(ask(default="allow"), "why").option == "why"
