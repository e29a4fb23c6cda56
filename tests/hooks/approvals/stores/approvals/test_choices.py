"""Reading a choice: a closed set of answers."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.approvals.errors import BadRequest
from amplifier_hooks.approvals.models import Approval, Choice, StandingWish
from amplifier_hooks.approvals.stores.decisions import read_choice, read_wait
from tests.support.stores import ALLOW, DENY, make_request, require


def make_approval(**changes: Any) -> Approval:
    return Approval(
        id="id",
        nonce="nonce",
        status="pending",
        request=make_request(**changes),
        created=0.0,
        deadline=60.0,
        updated=0.0,
        seconds_left=60.0,
    )


@given(st.integers())
def test_only_the_number_of_an_option_is_an_answer(value: int) -> None:
    """Others were not offered."""
    choice = Choice(option=value, nonce="nonce", key="key")
    if value in (0, 1, 2):
        assert read_choice(make_approval(), choice).option.id == value
    else:
        with pytest.raises(BadRequest, match="was not offered"):
            read_choice(make_approval(), choice)


@pytest.mark.parametrize("field", ["key", "nonce"])
@pytest.mark.parametrize("value", ["", "a\0", "\ud800", "x" * 401])
def test_names_are_names(field: str, value: str) -> None:
    """What no database keeps is refused before anything looks at it."""
    given_values: dict[str, Any] = {"option": 0, "nonce": "n", "key": "k", field: value}
    with pytest.raises(BadRequest, match=field):
        read_choice(make_approval(), Choice(**given_values))


def test_an_input_that_was_not_changed_is_not_edited() -> None:
    """So what runs is held to the digest that was shown."""
    approval = make_approval(editable=True)
    same = Choice(option=ALLOW, nonce="n", key="k", edited_input=dict(approval.request.tool_input))
    assert read_choice(approval, same).edited_input is None
    other = Choice(option=ALLOW, nonce="n", key="k", edited_input={"b": 1, "a": [None]})
    assert read_choice(approval, other).edited_input == '{"b":1,"a":[null]}'


def test_a_comment_is_kept_readable() -> None:
    """Cut to its limit, without what no database keeps."""
    read = read_choice(
        make_approval(), Choice(option=DENY, nonce="n", key="k", comment="a\0b\ud800" + "x" * 5000)
    )
    assert read.comment.startswith("a\ufffdb\ufffdx")
    assert len(read.comment) == 4096


def test_a_wish_names_one_of_the_offered_scopes() -> None:
    """With the words that the person has read."""
    read = read_choice(
        make_approval(),
        Choice(option=ALLOW, nonce="n", key="k", standing=StandingWish(scope="exact")),
    )
    assert read.scope is not None
    assert read.scope.words.startswith("Allow Write with exactly this input")


@pytest.mark.parametrize(
    ("given_seconds", "read"), [(0, 0.0), (-5, 0.0), (1.5, 1.5), (math.inf, math.inf)]
)
def test_a_wait_is_a_length_of_time(given_seconds: float, read: float) -> None:
    """Less than nothing is nothing."""
    assert read_wait(given_seconds) == read


@pytest.mark.parametrize("seconds", [math.nan, True, "1", None])
def test_what_is_no_length_of_time_is_no_wait(seconds: Any) -> None:
    """Of whatever type it is."""
    with pytest.raises(BadRequest, match="Wait for a number"):
        read_wait(seconds)


EDIT = {"file_path": "other"}
YEAR = 366 * 24 * 3600.0


@pytest.mark.parametrize(
    ("facts", "chosen", "why"),
    [
        ({"editable": True}, {"option": DENY, "edited_input": EDIT}, "no input to edit"),
        ({}, {"edited_input": EDIT}, "cannot be edited; allow or refuse"),
        ({"editable": True, "requirement": require(persons=2)}, {"edited_input": EDIT}, "Several"),
        ({}, {"option": DENY, "standing": StandingWish(scope="exact")}, "only what allows"),
        (
            {"editable": True},
            {"edited_input": EDIT, "standing": StandingWish(scope="exact")},
            "edited input cannot be kept",
        ),
        ({}, {"standing": StandingWish(scope="exact", seconds=YEAR + 1)}, "lifetime of a rule"),
        (
            {},
            {"standing": StandingWish(scope="exact", seconds=60, uses=0)},
            "1 to 1000000 times, not 0",
        ),
        ({}, {"standing": StandingWish(scope="exact", seconds=60, uses=1_000_001)}, "not 1000001"),
        ({}, {"standing": StandingWish(scope="all")}, "offered: exact, below:/home"),
        ({"default": "allow"}, {"standing": StandingWish(scope="exact")}, "offered: none"),
    ],
)
def test_what_was_not_offered_is_refused_with_the_reason(
    facts: dict[str, Any], chosen: dict[str, Any], why: str
) -> None:
    """In words that say what would do."""
    choice: dict[str, Any] = {"option": ALLOW, "nonce": "n", "key": "k", **chosen}
    with pytest.raises(BadRequest, match=why):
        read_choice(make_approval(**facts), Choice(**choice))


def test_a_rule_may_last_a_year_and_serve_a_million_times_or_once() -> None:
    """Both ends count."""
    for wish in (
        StandingWish(scope="exact", seconds=YEAR, uses=1_000_000),
        StandingWish(scope="exact", seconds=1, uses=1),
    ):
        read = read_choice(make_approval(), Choice(option=ALLOW, nonce="n", key="k", standing=wish))
        assert read.standing == wish
