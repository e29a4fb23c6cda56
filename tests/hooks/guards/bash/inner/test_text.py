"""Scripts inside the words of a command."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.bash.inner.text import add_doubt, parse_inner, parse_joined
from amplifier_hooks.guards.bash.options import Reading
from amplifier_hooks.guards.bash.script import Script
from amplifier_hooks.guards.bash.word import create_literal
from tests.hooks.guards.bash.reading import read_argument, read_command


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


def test_a_doubt_about_the_options_is_one_about_the_script() -> None:
    """Without one the script stays as it is."""
    command, script = read_command("su -c ls"), Script(())
    assert add_doubt(script, command, Reading((), ())) is script
    [doubt] = add_doubt(script, command, Reading((), (), "x is odd")).unclear
    assert doubt == "what su runs is not certain: x is odd"


@pytest.mark.parametrize("source", ["eval echo *", "eval ?", "eval [a]"])
def test_names_of_files_that_become_a_script_are_in_doubt(source: str) -> None:
    """A file may be called `;rm`."""
    command = read_command(source)
    assert parse_joined(command, command.words, "test").unclear != ()
