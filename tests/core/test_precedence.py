"""Which answer wins when several hooks speak, and what is left of the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.models import ContextInjection, HookResult, continue_with
from amplifier_core.precedence import STRONGEST_FIRST, fold, list_injections, strongest


@dataclass(frozen=True)
class Spoken:
    result: HookResult
    hook: str = "one"


def spoken(action: str, **fields: Any) -> Spoken:
    return Spoken(HookResult.model_validate({"action": action, **fields}))


answers = st.lists(st.sampled_from(STRONGEST_FIRST).map(spoken), max_size=6)


def test_silence_is_continue() -> None:
    """The data comes back as it is."""
    data = {"a": 1}
    assert fold([], data) == continue_with(data)
    assert strongest([]) is None


@given(answers)
def test_the_first_of_the_strongest_wins(given_answers: list[Spoken]) -> None:
    """Whatever the order; among equals the one that spoke first."""
    winner = strongest(given_answers)
    if not given_answers:
        assert winner is None
        return
    ranks = [STRONGEST_FIRST.index(one.result.action) for one in given_answers]
    assert winner is given_answers[ranks.index(min(ranks))]


@given(answers)
def test_only_a_stop_a_question_or_an_injection_is_left(given_answers: list[Spoken]) -> None:
    """Whoever only changed data is heard through the data."""
    folded = fold(given_answers, {"final": True})
    assert folded.action in {"deny", "ask_user", "inject_context", "continue"}
    assert folded.data == (None if folded.action == "deny" else {"final": True})


@pytest.mark.parametrize("own", [None, {"why": "secret"}])
def test_a_denial_keeps_reason_and_data_of_its_hook(own: dict[str, Any] | None) -> None:
    """What others said beside it is not mixed in."""
    given_answers = [
        spoken("inject_context", context_injection="x"),
        spoken("deny", reason="no", data=own),
        spoken("deny", reason="me too"),
    ]
    assert fold(given_answers, {"final": True}) == HookResult(
        action="deny", reason="no", data=own, context_injections=[]
    )


def test_texts_are_joined_by_a_blank_line_in_order() -> None:
    """Single and listed injections of all hooks, empty ones left out."""
    given_answers = [
        spoken("inject_context", context_injection="one", context_injections=[{"content": "two"}]),
        spoken("modify", data={}),
        spoken("inject_context", context_injection="", context_injections=[{"content": ""}]),
        spoken("inject_context", context_injection="three"),
    ]
    assert fold(given_answers, {}).context_injection == "one\n\ntwo\n\nthree"


def test_nothing_to_inject_is_no_text() -> None:
    """An injection without a text is none, not an empty message."""
    assert fold([spoken("inject_context")], {}).context_injection is None


def test_the_first_question_is_the_one_that_is_left() -> None:
    """Questions cannot be merged; whoever carries answers out asks them all."""
    given_answers = [
        spoken("ask_user", approval_prompt="first?"),
        spoken("ask_user", approval_prompt="second?"),
    ]
    assert fold(given_answers, {}).approval_prompt == "first?"


def test_an_answer_lists_all_it_wants_injected() -> None:
    """The single text with its settings first, then the list; without text there is none."""
    result = HookResult(
        action="inject_context",
        context_injection="one",
        context_injection_role="user",
        ephemeral=True,
        append_to_last_tool_result=True,
        context_injections=[ContextInjection(content=""), ContextInjection(content="two")],
    )
    first, second = list_injections(result)
    assert (first.content, first.role, first.ephemeral) == ("one", "user", True)
    assert first.append_to_last_tool_result
    assert (second.content, second.role, second.ephemeral) == ("two", "system", False)
    assert list_injections(HookResult()) == []
