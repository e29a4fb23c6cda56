"""Texts of values, of errors and of wrong names."""

from __future__ import annotations

import os
from functools import partial, wraps
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from amplifier_core.models import HookResult
from amplifier_core.utils import describe_error, safe_repr
from amplifier_core.utils.text import (
    describe_cause,
    differs_by_one,
    estimate_tokens,
    find_closest,
    find_slip,
    locate_failure,
    suggest,
)


class Rude:
    def __repr__(self) -> str:
        raise ValueError("no")


def test_texts_of_what_refuses():
    class Silent(Exception):
        def __str__(self) -> str:
            raise ValueError

    assert safe_repr(Rude()) == "<Rude whose repr raised ValueError>"
    assert describe_error(Silent()) == "Silent"
    assert describe_error(ValueError("x")) == "ValueError: x"


def fail(*_: Any) -> None:
    int("x")  # line of the failure


LINE = 1 + Path(__file__).read_text().splitlines().index('    int("x")  # line of the failure')


def catch(function: Any) -> Exception:
    try:
        function("event", {})
    except Exception as error:  # noqa: BLE001 - whatever it raises is looked at
        return error
    raise AssertionError("it did not fail")


class Callable:
    def __call__(self, *_: Any) -> None:
        fail()

    def method(self, *_: Any) -> None:
        fail()


@wraps(fail)
def wrapped(*_: Any) -> None:
    fail()


@pytest.mark.parametrize(
    "function",
    [fail, partial(fail, 1), wrapped, Callable(), Callable().method, partial(wrapped), len],
)
def test_a_failure_is_located_in_the_functions_own_file(function: Any) -> None:
    """The innermost line of it, whatever kind of callable it is; a builtin has no file."""
    found = locate_failure(catch(function), function)
    place = f"{os.path.relpath(__file__)}:{LINE}"
    assert found == ("" if function is len else place)


def test_a_failure_outside_of_it_is_located_at_its_definition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook that took too long raised nothing; a file outside of the working folder is whole."""
    defined = LINE - 1
    assert locate_failure(TimeoutError(), fail) == f"{os.path.relpath(__file__)}:{defined}"
    monkeypatch.chdir(tmp_path)
    assert locate_failure(TimeoutError(), fail) == f"{__file__}:{defined}"
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert locate_failure(TimeoutError(), fail) == f"{__file__}:{defined}"


def test_a_cause_is_one_line() -> None:
    """Of data that is not valid, the first problem and what was given."""
    assert describe_cause(ValueError("a\n  b")) == "ValueError: a b"
    with pytest.raises(ValidationError) as caught:
        HookResult(action="denyy")  # type: ignore[arg-type]
    assert describe_cause(caught.value) == (
        "ValidationError: action: Input should be 'continue', 'deny', 'modify', "
        "'inject_context' or 'ask_user' (got 'denyy')"
    )
    with pytest.raises(ValidationError) as caught:
        HookResult(actoin="deny")  # type: ignore[call-arg]
    assert describe_cause(caught.value) == (
        "ValidationError: actoin: HookResult has no field 'actoin'; did you mean 'action'? "
        "(got 'deny')"
    )


KNOWN = ["approval_timeout", "priority", "timeout", "Write"]


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("prioritty", "priority"),
        ("PRIORITY", "priority"),
        ("write", "Write"),
        ("approv", "approval_timeout"),
        ("time", "timeout"),
        ("xyz", None),
        ("", None),
        ("ti", None),
    ],
)
def test_the_closest_name(wrong: str, meant: str | None) -> None:
    assert find_closest(wrong, KNOWN) == meant


def test_a_higher_cutoff_asks_for_more_likeness() -> None:
    assert find_closest("tool:prey", ["tool:pre"], cutoff=0.8) == "tool:pre"
    assert find_closest("toll:past", ["tool:post"], cutoff=0.6) == "tool:post"
    assert find_closest("toll:past", ["tool:post"], cutoff=0.95) is None


def test_the_sentence_names_one_or_lists_all() -> None:
    assert suggest("timeuot", KNOWN) == "did you mean 'timeout'?"
    assert suggest("xyz", KNOWN) == "have Write, approval_timeout, priority, timeout"
    assert suggest("xyz", []) == "have none"


@given(st.text(max_size=20), st.lists(st.text(max_size=20), max_size=6))
def test_only_known_names_are_suggested(wrong: str, known: list[str]) -> None:
    found = find_closest(wrong, iter(known))
    assert found is None or found in known


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("actoin", "action"),
        ("ACTION", "action"),
        ("user_messages", "user_message"),
        ("action_id", None),
        ("user_message_format", None),
        ("metadata", None),
        ("act", None),
        ("", None),
    ],
)
def test_a_slip_is_nearly_the_name_itself(name: str, meant: str | None) -> None:
    """A name with another word in it is another name."""
    assert find_slip(name, ["action", "data", "user_message", "ephemeral"]) == meant


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("data", True), ("dta", True), ("daata", True), ("daat", True), ("date", True),
        ("dtaa", True), ("", False), ("da", False), ("datatx", False), ("tada", False),
    ],
)  # fmt: skip
def test_one_letter_is_the_smallest_difference(name: str, near: bool) -> None:
    """One too many, missing, wrong, or swapped with the next."""
    assert differs_by_one(name, "data") is near
    assert differs_by_one("data", name) is near


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2)])
def test_four_characters_are_a_token_and_a_started_one_counts(text, tokens):
    assert estimate_tokens(text) == tokens
