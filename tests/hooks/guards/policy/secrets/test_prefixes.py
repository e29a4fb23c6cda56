"""The beginnings of a pattern."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_hooks.guards.policy.patterns import compile_pattern
from amplifier_hooks.guards.policy.secrets.prefixes import Unreadable, build_prefix
from amplifier_hooks.guards.policy.secrets.redactor import SHAPES


def begins(pattern: str, text: str) -> list[int]:
    return list(compile_pattern(build_prefix(pattern), "test").find_group_starts(text))


PRINTABLE = st.characters(min_codepoint=32, max_codepoint=126)
PATTERNS = [
    "-abc",
    "-a(?:b|cd)e",
    "-[0-9]{3}x",
    "-(?:ab){2,3}c",
    "-a*b+c?d",
    "-(?i:AB)c",
    r"-\d\s[^x]y",
    "-(?:a|bc*)+d",
]


@pytest.mark.parametrize("pattern", PATTERNS)
@settings(max_examples=10)
@given(data=st.data())
def test_every_beginning_of_a_match_is_found(pattern: str, data: Any) -> None:
    """Wherever a match is cut, what is left may still become one."""
    match = data.draw(st.from_regex(pattern, fullmatch=True, alphabet=PRINTABLE))
    for end in range(1, len(match) + 1):
        assert begins(pattern, " " + match[:end]) == [1]


@pytest.mark.parametrize("text", ["-b", "-ab ", "-abd", "abc", ""])
def test_what_cannot_become_a_match_is_not_found(text: str) -> None:
    """One letter that does not fit decides it."""
    assert begins("-abc", text) == []


def test_only_the_part_to_hide_is_held() -> None:
    """What stands before the named group is context: it may be shown at once."""
    pattern = "key=(?P<secret>[0-9]+);"
    assert begins(pattern, "a key") == []
    assert begins(pattern, "a key=12") == [6]
    assert begins(pattern, "a key=12;") == [6]
    assert begins(pattern, "a key=12; ") == []
    assert begins("k=(?:\"(?P<one>\\w+)|'(?P<two>\\w+))", "k='ab") == [3]


def test_a_token_begins_a_word() -> None:
    """The end of an ordinary word is not held because a token begins with its last letter."""
    assert begins("ghp_[a-z]{9}", "running") == []
    assert begins("ghp_[a-z]{9}", "run g") == [4]


@pytest.mark.parametrize("pattern", [r"\pL+", "(?P<a>x)*", "("])
def test_what_cannot_be_taken_apart_is_said(pattern: str) -> None:
    """The caller then holds back more, not less."""
    with pytest.raises(Unreadable):
        build_prefix(pattern)


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_every_shape_has_its_beginnings(name: str) -> None:
    """None of ours falls back to holding whole words."""
    compile_pattern(build_prefix(SHAPES[name]), "test")
