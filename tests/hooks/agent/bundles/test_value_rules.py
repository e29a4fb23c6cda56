"""Rules for single values."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_hooks.agent.bundles.rule import Rule
from amplifier_hooks.agent.bundles.value_rules import (
    any_text,
    anything,
    boolean,
    choice,
    integer,
    private_address,
    seconds,
    switch,
    text,
)
from amplifier_hooks.yaml_files.node import Place, make_node


def problems(rule: Rule, value: Any) -> list[str]:
    return [problem.message for problem in rule(make_node(value, Place("f")), "k")]


@pytest.mark.parametrize(
    ("rule", "values"),
    [
        (anything, [None, 3, [], {}]),
        (text, ["x", " x "]),
        (any_text, ["", "x"]),
        (private_address, ["http://127.0.0.1:8411", "http://localhost", "https://host.test"]),
        (boolean, [True, False]),
        (switch, [True, False, None]),
        (integer(), [0, -5, 10**20]),
        (integer(1), [1, 2]),
        (seconds, [1, 0.001, 1e9]),
        (choice("ask", "deny"), ["ask", "deny"]),
    ],
)
def test_a_right_value_is_no_problem(rule: Rule, values: list[Any]) -> None:
    """Nothing is said about it."""
    assert [problems(rule, value) for value in values] == [[]] * len(values)


@pytest.mark.parametrize(
    ("rule", "value", "message"),
    [
        (text, "", "must not be empty"),
        (text, " \n", "must not be empty"),
        (text, 3, "must be a text, got a whole number 3"),
        (boolean, "yes", "must be true or false, got a text 'yes'"),
        (boolean, None, "must be true or false, got nothing"),
        (switch, "true", "must be true or false, got a text 'true'"),
        (integer(), True, "must be a whole number, got true or false True"),
        (integer(), 1.0, "must be a whole number, got a number 1.0"),
        (integer(1), 0, "must be at least 1, got 0"),
        (seconds, 0, "must be positive and finite, got 0"),
        (seconds, -1.5, "must be positive and finite, got -1.5"),
        (seconds, float("inf"), "must be positive and finite, got inf"),
        (seconds, float("nan"), "must be positive and finite, got nan"),
        (seconds, True, "must be a number of seconds, got true or false True"),
        (seconds, "5s", "must be a number of seconds, got a text '5s'"),
        (choice("ask", "deny"), "denny", "unknown value 'denny'; did you mean 'deny'?"),
        (choice("ask", "deny"), "xyzzy", "unknown value 'xyzzy'; have ask, deny"),
        (choice("ask", "deny"), 3, "must be one of ask, deny, got a whole number 3"),
    ],
)
def test_a_wrong_value_is_told_with_what_would_do(rule: Rule, value: Any, message: str) -> None:
    """Each mistake is one problem with one sentence."""
    assert problems(rule, value) == [message]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (3, "must be a text, got a whole number 3"),
        ("", "must not be empty"),
        ("ftp://host.test", "must be an address that begins with http:// or https://, such as"),
        ("http://host.test", "leaves this machine without TLS; use https, such as"),
        ("http://127.0.0.1.evil.test", "leaves this machine without TLS"),
    ],
)
def test_a_server_is_on_this_machine_or_reached_through_tls(value: Any, said: str) -> None:
    """What people are asked, and what they answer, cannot be read on the way."""
    assert said in problems(private_address, value)[0]


def test_a_text_that_may_be_empty_is_still_a_text() -> None:
    """A number is none."""
    assert problems(any_text, 3) == ["must be a text, got a whole number 3"]
