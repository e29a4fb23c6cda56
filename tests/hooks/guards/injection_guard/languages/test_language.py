"""What all languages share."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest

from amplifier_hooks.guards.injection_guard.languages.language import Language, join_words
from amplifier_hooks.guards.injection_guard.languages.table import LANGUAGES
from amplifier_hooks.guards.policy.patterns import compile_pattern


@pytest.mark.parametrize("name", LANGUAGES)
def test_every_expression_is_one_of_re2_and_matches_no_empty_text(name: str) -> None:
    """No text can stall them, and none is everywhere."""
    for cue in fields(Language):
        pattern = compile_pattern(getattr(LANGUAGES[name], cue.name), "test")
        assert not pattern.occurs_in("")
        assert not pattern.occurs_in("x 1 = 2;")


def test_a_space_stands_for_any_gap() -> None:
    """Line ends, signs and the marks of comments are between words."""
    pattern = re.compile(join_words("one two", "three"))
    for text in ("one two", "one\n#   two", "one, *two*", "three"):
        assert pattern.search(text), text
    for text in ("onetwo", "bone two", "one more two"):
        assert not pattern.search(text), text
