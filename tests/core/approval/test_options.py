"""What an option means: the same for the gate, the cache and every front end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.approval import (
    ALLOWING,
    REFUSING,
    ApprovalGate,
    ApprovalQuestion,
    OptionMeaning,
    allows,
    allows_unoffered,
    find_unclear_options,
    read_option,
    resolve_options,
)
from tests.support.people import PlainPerson

words = st.sampled_from([*ALLOWING, *REFUSING, "always", "once", "maybe", "allowance"])
marks = st.sampled_from(["", " ", "_", "-", "(", ")", "! ", ", ", "\n", "\u00a0"])
options = st.one_of(
    st.text(max_size=20),
    st.lists(st.tuples(marks, words, marks).map("".join), max_size=4).map("".join),
)


@pytest.mark.parametrize(
    ("option", "allows", "refuses", "remembered"),
    [
        ("Allow", True, False, False),
        ("YES, go on", True, False, False),
        ("Allow always", True, False, True),
        ("Allow (always)", True, False, True),
        ("allow_always", True, False, True),
        ("Allow always.", True, False, True),
        ("Always allow", False, False, False),
        ("Allow always, but ask", True, False, False),
        ("Deny", False, True, False),
        ("No, never allow", False, True, False),
        ("Deny always!", False, True, True),
        ("Allowance", False, False, False),
        ("Disallow", False, False, False),
        ("Allowalways", False, False, False),
        ("Maybe", False, False, False),
        ("always", False, False, True),
        ("", False, False, False),
        (" _ ?! ", False, False, False),
    ],
)
def test_the_first_word_decides_and_the_last_may_be_always(
    option: str, allows: bool, refuses: bool, remembered: bool
) -> None:
    """Words count, not letters; case and punctuation do not matter."""
    assert read_option(option) == OptionMeaning(allows, refuses, remembered)


@given(options)
def test_no_option_both_allows_and_refuses(option: str) -> None:
    """An option is a yes, a no, or unclear; unclear ones are reported as such."""
    meaning = read_option(option)
    assert not (meaning.allows and meaning.refuses)
    unclear = not meaning.allows and not meaning.refuses
    assert find_unclear_options([option]) == ([option] if unclear else [])


@given(options)
async def test_the_gate_carries_out_what_the_option_means(option: str) -> None:
    """A person's answer is allowed and remembered exactly as its option reads."""
    question = ApprovalQuestion("Go?", (option,), 5, "deny", hook="h")
    gate = ApprovalGate(PlainPerson(option))
    verdict = await gate.ask(question)
    meaning = read_option(option)
    assert verdict.allowed == meaning.allows
    assert gate.remember(1, question, verdict, None) == meaning.remembered
    assert (gate.recall(1, question) is not None) == meaning.remembered


@pytest.mark.parametrize(
    "option",
    ["Allow", "allow once", "YES!", "Yes, always", "approve", "Accept.", "ok", "Proceed",
     "continue", "Run it", "Confirm", "(allow)", "Allow — nur dieses Mal", "allow_all"],
)  # fmt: skip
def test_yes(option):
    assert allows(option)


@pytest.mark.parametrize(
    "option",
    ["Deny", "No", "", " ", "!", "Disallow", "not ok", "Аllow", "allow2ban", "✓", "1. Allow",
     "Denyallow", "runs", "okay"],
)  # fmt: skip
def test_no(option):
    assert not allows(option)


def test_unclear_options_are_found():
    """Neither yes nor no: the author of the hook should hear of it."""
    assert find_unclear_options(["Allow", "Deny", "Maybe", "Never", "Later"]) == [
        "Maybe",
        "Later",
    ]
    assert resolve_options([]) == resolve_options(None) == ("Allow", "Deny")


@pytest.mark.parametrize(
    ("option", "remembered", "scoped"),
    [
        ("Allow always", True, False),
        ("Allow (always)", True, False),
        ("Allow always for this path", True, True),
        ("Deny, always for *.env", True, True),
        ("Allow always for", False, False),
        ("Allow, but not always here", False, False),
        ("Allow for always", True, False),
        ("Allow once", False, False),
    ],
)
def test_words_behind_always_are_its_scope(option: str, remembered: bool, scoped: bool) -> None:
    """ "Always for …" is for what the words say; "always" alone is for exactly what was shown."""
    meaning = read_option(option)
    assert (meaning.remembered, meaning.scoped) == (remembered, scoped)


@pytest.mark.parametrize(
    ("answer", "offered", "yes"),
    [
        ("Allow", ["Yes", "No"], True),
        ("Allow once", ["Run it", "Deny"], True),
        ("Allow always", ["Allow", "Deny"], True),
        ("Allow", ["Deny", "Later"], False),
        ("Allow", [], False),
        ("Yes", ["Allow", "Deny"], False),
        ("allow", ["Yes", "No"], False),
    ],
)
def test_the_usual_words_are_a_yes_where_a_yes_was_offered(
    answer: str, offered: list[str], yes: bool
) -> None:
    """Front ends with an "always" of their own answer so; any other word must have been offered."""
    assert allows_unoffered(answer, offered) is yes
