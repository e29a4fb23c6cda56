"""Scripts inside the words of a command."""

from __future__ import annotations

import pytest

from amplifier_foundation.bash.inner.text import (
    find_first_argument,
    find_option_value,
    parse_inner,
    parse_joined,
)
from amplifier_foundation.bash.word import create_literal
from tests.foundation.bash.reading import read_argument, read_command


def test_the_text_of_a_word_is_a_script() -> None:
    """Its commands know who runs them."""
    outer = read_command("bash -c x").run_by("sudo")
    script = parse_inner(outer, create_literal("ls; rm x"), "test")
    assert [(one.name, one.via) for one in script.commands] == [
        ("ls", ("sudo", "bash")),
        ("rm", ("sudo", "bash")),
    ]


def test_a_text_that_is_not_literal_is_in_doubt() -> None:
    """With its beginning, so that a person recognises it."""
    script = parse_inner(read_command("bash"), read_argument(f'"$x{"y" * 100}"'), "test")
    assert script.commands == ()
    [reason] = script.unclear
    assert reason.startswith('the text that bash runs, "$xyyy')
    assert len(reason) < 110


def test_no_text_is_no_script() -> None:
    """And no doubt."""
    assert parse_inner(read_command("bash"), None, "test").unclear == ()
    assert parse_joined(read_command("eval"), [], "test").commands == ()


def test_words_are_joined_with_blanks() -> None:
    """As `eval` does it; one that is not literal makes all of it unclear."""
    command = read_command("eval rm '-rf;' ls")
    script = parse_joined(command, command.words, "test")
    assert [one.text for one in script.commands] == ["rm -rf", "ls"]
    uncertain = read_command("eval ls $x")
    assert parse_joined(uncertain, uncertain.words, "test").unclear != ()


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("bash -c a b", "a"),
        ("bash -e -o pipefail -c a", "a"),
        ("bash +x a", "a"),
        ("bash -oe a", "a"),
        ("bash -l", None),
    ],
)
def test_the_first_argument_of_a_shell(source: str, value: str | None) -> None:
    """`-o` takes a value, options may begin with a plus."""
    word = find_first_argument(read_command(source))
    assert (None if word is None else word.value) == value


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("env -S 'a b'", "a b"),
        ("env '-Sa b'", "a b"),
        ("env --split-string 'a b'", "a b"),
        ("env --split-string='a b'", "a b"),
        ("env -i -S a", "a"),
        ("env ls", None),
        ("env -S", None),
    ],
)
def test_the_value_of_an_option(source: str, value: str | None) -> None:
    """In any of its spellings."""
    word = find_option_value(read_command(source).words, "-S", "--split-string")
    assert (None if word is None else word.value) == value


def test_an_option_whose_value_is_not_literal_is_found() -> None:
    """So that it is in doubt."""
    words = read_command('env -S"$x"').words
    assert find_option_value(words, "-S", "--split-string") == words[0]
