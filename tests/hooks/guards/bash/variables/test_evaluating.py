"""Builtins that evaluate their words."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.bash.variables.evaluating import evaluate_words
from tests.hooks.guards.bash.reading import read_command


@pytest.mark.parametrize(
    ("source", "evaluated"),
    [
        ("let x=y+1", {"x", "y"}),
        ("let 'a[i]'", {"a", "i"}),
        ("printf -v 'a[i]' x", {"i"}),
        ("read 'a[i]'", {"i"}),
        ("test -v 'a[i]'", {"i"}),
        ("test -v $x", {"x"}),
        ("test -n $x", set()),
        ("echo 'a[i]'", set()),
    ],
)
def test_the_names_in_evaluated_words(source: str, evaluated: set[str]) -> None:
    """In expressions, and in the indices of names."""
    assert evaluate_words(read_command(source)).evaluated == evaluated


@pytest.mark.parametrize(
    ("source", "texts"),
    [("env a=b ls", {"a"}), ("env a=1 ls", set()), ("read a", {"a", "REPLY"}), ("ls a=b", set())],
)
def test_the_names_that_words_set_to_texts(source: str, texts: set[str]) -> None:
    """Assignments that the grammar takes for words."""
    assert evaluate_words(read_command(source)).texts == texts
