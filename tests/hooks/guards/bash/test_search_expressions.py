"""Expressions of grep: what is found here is all that a real grep finds."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_hooks.guards.bash.search_expressions import (
    read_basic,
    read_extended,
    read_fixed,
    read_other,
)
from amplifier_hooks.guards.policy.patterns import PatternError, compile_pattern

LINES = ["ab=T", "a|b", "(a)", "TT", "a+b", "[x]", "a\\b", "bba", "{1}", "=", "a?", "T.a", "/a-b"]
PARTS = [
    *"abT=*+?|(){}^$./",
    *("\\|", "\\(", "\\)", "\\{1,2\\}", "\\+", "\\?", "\\.", "\\<", "\\b", "\\w"),
    *("[ab]", "[^a]", "[[:alpha:]]", "[]a]", "[\\]", "[a[]"),
]


def finds(expression: str | None, text: str) -> bool:
    """Whether it occurs; what is not known may."""
    if expression is None:
        return True
    try:
        return compile_pattern(expression, "test", ignore_case=True).occurs_in(text)
    except PatternError:
        return True


@given(st.lists(st.sampled_from(PARTS), min_size=1, max_size=6))
@settings(max_examples=150, deadline=None)
def test_what_grep_finds_is_found(parts: list[str]) -> None:
    text, pattern = "\n".join(LINES) + "\n", "".join(parts)
    for option, read in (("-G", read_basic), ("-E", read_extended)):
        found = subprocess.run(
            ["grep", option, "-q", "-e", pattern], input=text, text=True, capture_output=True
        )
        assert found.returncode or finds(read(pattern), text)


@pytest.mark.parametrize(
    ("read", "pattern", "text", "found"),
    [
        (read_basic, "x\\|SECRET", "SECRET=1", True),
        (read_basic, "x|SECRET", "SECRET=1", False),
        (read_extended, "x|SECRET", "SECRET=1", True),
        (read_basic, "^B", "A=1\nB=2", True),
        (read_basic, "1$", "A=1\nB=2", True),
        (read_basic, "A+", "A=1", False),
        (read_basic, "A\\+", "A=1", True),
        (read_basic, "*", "a*b", True),
        (read_extended, "[[:digit:]]{2}", "A=1", False),
        (read_fixed, "a.b", "axb", False),
        (read_fixed, "x\nA=", "A=1", True),
        (read_other, "^B", "A=1\nB=2", True),
        (read_other, "(?=x)y", "z", True),  # what cannot be compiled may be found
        (read_basic, "\\(a\\)\\1", "z", True),  # nor what refers back
    ],
)
def test_expression(read: object, pattern: str, text: str, found: bool) -> None:
    assert callable(read)
    assert finds(read(pattern), text) is found
