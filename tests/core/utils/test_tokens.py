"""The estimate of tokens."""

import pytest

from amplifier_core.utils.text import estimate_tokens


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2)])
def test_four_characters_are_a_token_and_a_started_one_counts(text, tokens):
    assert estimate_tokens(text) == tokens
