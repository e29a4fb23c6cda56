"""Words as a shell reads them, and the limits of the syntax tree."""

from __future__ import annotations

import importlib
import shutil
import subprocess
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.guards.bash import words
from amplifier_hooks.guards.bash.words import (
    MAX_DEPTH,
    MAX_NODES,
    UNKNOWN,
    Word,
    create_literal,
    ensure_available,
    get_text,
    list_nodes,
    parse_tree,
    slice_text,
    split_names,
    walk,
)
from tests.hooks.guards.bash.reading import read_argument, read_command


def root(source: str) -> Any:
    return parse_tree(source, "test").root_node


def test_a_node_has_its_text() -> None:
    """Also where it cannot be written as UTF-8."""
    assert get_text(root("echo \udcff grüße À à Àà")) == "echo ? grüße À à Àà"


# Characters that steer the grammar, and characters far outside of every table.
ODD = st.text(
    st.sampled_from("{}.,$()<>`'\"\\ \n\t;&|#!*?[]=~-aEOF1")
    | st.characters(exclude_categories=["Cs"])
)


@given(ODD)
def test_every_text_can_be_parsed_and_read_back(source: str) -> None:
    """A scanner that looks a character up beyond its table would end the whole process."""
    tree_of_it = parse_tree(f"echo {{\U0003b558{source}", "test")
    assert get_text(tree_of_it.root_node) == f"echo {{\U0003b558{source}"


@pytest.mark.parametrize("text", ["ü", "\u3000", "\x85", "\xa0", "\U0010ffff", "…"])
def test_what_is_not_ascii_is_a_letter_as_in_bash(text: str) -> None:
    """Blanks of other scripts separate no words."""
    command = root(f"rm{text}x y").children[0]
    assert [get_text(child) for child in command.children] == [f"rm{text}x", "y"]


def test_a_slice_is_counted_in_the_whole_script() -> None:
    """Positions are those of the script, and they are bytes."""
    command = root("ü=1; echo abc").children[-1]
    name, argument = command.children
    assert slice_text(command, argument.start_byte, argument.end_byte) == "abc"
    assert slice_text(command, name.end_byte, argument.start_byte) == " "


def test_nodes_come_in_the_order_they_are_written() -> None:
    """Parents before children, left before right."""
    texts = [get_text(node) for node in walk(root("a; b")) if node.type == "word"]
    assert texts == ["a", "b"]
    node = root("a | b $(c)")
    assert list_nodes(node) == list(walk(node))


@pytest.mark.parametrize(
    "source",
    ["(" * (MAX_DEPTH + 1) + "ls" + ")" * (MAX_DEPTH + 1), "ls;" * MAX_NODES],
    ids=["deep", "many"],
)
def test_too_much_is_not_looked_at(source: str) -> None:
    """Hostile input costs a bounded time."""
    assert list_nodes(root(source)) is None


def test_a_missing_package_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """At mount, in one sentence."""

    def fail(name: str) -> None:
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(importlib, "import_module", fail)
    with pytest.raises(ModuleLoadError, match=r"hooks-x needs .*'tree_sitter'.*\[policy\]"):
        ensure_available("hooks-x")


def test_every_parse_has_a_parser_of_its_own() -> None:
    """Guards judge in threads."""
    assert words._create_parser("x") is not words._create_parser("x")


@pytest.mark.parametrize(
    ("value", "is_flag"),
    [("-r", True), ("--force", True), ("-", False), ("", False), ("a-b", False), (None, False)],
)
def test_an_option_begins_with_a_dash_and_goes_on(value: str | None, is_flag: bool) -> None:
    """A lone dash is standard input; what is not certain is not taken for an option."""
    assert Word("x", value).is_flag is is_flag


def test_a_literal_is_what_it_reads_as() -> None:
    """Nothing in it is a wildcard."""
    assert create_literal("*") == Word("*", "*")
    assert not create_literal("~").tilde


def test_an_unknown_word_has_no_value() -> None:
    """It may be anything, also an option."""
    assert UNKNOWN.value is None


def test_names_are_split_at_blanks() -> None:
    """A list in one string, over several lines."""
    assert split_names("a b\n  c") == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("word", "fixed", "single"),
    [
        (create_literal("a"), True, True),
        (Word("*", "*", glob=True), False, False),
        (Word('"$x"', None), False, True),
        (UNKNOWN, False, False),
    ],
)
def test_a_word_may_become_several(word: Word, fixed: bool, single: bool) -> None:
    """Fixed is one known word; single is one word, known or not."""
    assert (word.fixed, word.single) == (fixed, single)


BASH = shutil.which("bash")


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("abc", "abc"),
        ("'a b'", "a b"),
        ('"a b"', "a b"),
        ("a\\ b", "a b"),
        ("a'b'\"c\"", "abc"),
        ("''", ""),
        ('""', ""),
        ('"a\\$b"', "a$b"),
        ('"a\\nb"', "a\\nb"),
        ('"a\\\nb"', "ab"),
        ("$'a\\tb'", "a\tb"),
        ("$'\\x72\\155'", "rm"),
        ("$'\\u0072'", "r"),
        ("$'\\'\\\\'", "'\\"),
        ("$'\\162\\x6d\\u0041\\U00000042'", "rmAB"),
        ("a=b", "a=b"),
        ("12", "12"),
        ("{", "{"),
        ("a{b}", "a{b}"),
    ],
)
def test_quotes_are_removed_and_escapes_resolved(written: str, value: str) -> None:
    """Each kind of quotes has its own rule for backslashes."""
    word = read_argument(written)
    assert (word.raw, word.value) == (written, value)


def test_a_translated_string_names_a_program() -> None:
    """As an argument the grammar splits it, and then it is not certain."""
    assert read_command('$"ls" x').program == "ls"
    assert not read_command('ls $"x"').certain


@pytest.mark.parametrize(
    "written",
    ["$x", "${x}", '"a$x"', "$(id)", "`id`", "<(id)", "{a,b}", "{1..3}", "$((1))", "a$x", '"`id`"'],
)
def test_what_more_than_the_text_decides_has_no_value(written: str) -> None:
    """Variables, substitutions and braces."""
    assert read_argument(written).value is None


def test_a_number_that_is_no_letter_has_no_value() -> None:
    """`\\U` can write more numbers than there are letters."""
    assert read_argument("$'\\UFFFFFFFF'").value is None


@pytest.mark.parametrize(
    ("written", "value", "tilde"),
    [
        ("~", "~", True),
        ("~/x", "~/x", True),
        ("~root", "~root", True),
        ("'~'", "~", False),
        ("\\~", "~", False),
        ("$HOME", "~", True),
        ('"${HOME}/x"', "~/x", True),
        ("$PWD/x", "./x", False),
        ("a~", "a~", False),
    ],
)
def test_home_and_here_are_known(written: str, value: str, tilde: bool) -> None:
    """The two variables that are taken at their word."""
    word = read_argument(written)
    assert (word.value, word.tilde) == (value, tilde)


@pytest.mark.parametrize(
    ("written", "glob"),
    [("*.py", True), ("a?", True), ("[ab]", True), ("'*'", False), ("\\*", False), ('"*"x', False)],
)
def test_a_wildcard_is_one_only_outside_quotes(written: str, glob: bool) -> None:
    """Quoted, it is a letter."""
    assert read_argument(written).glob is glob


@pytest.mark.parametrize(
    ("written", "runs"),
    [
        ("$(curl x)", ("curl",)),
        ('"a `wget x` b"', ("wget",)),
        ("<(/bin/curl x)", ("/bin/curl",)),
        ("$($x)", (None,)),
        ("$(a | b)", ("b", "a")),
        ("plain", ()),
    ],
)
def test_programs_inside_a_word_are_known(written: str, runs: tuple[str | None, ...]) -> None:
    """Their output becomes part of the word."""
    assert sorted(read_argument(written).runs, key=str) == sorted(runs, key=str)


letters = st.text(st.sampled_from("ab \\'\"$`{},.*~\n#-="), max_size=12)


@given(letters)
def test_a_quoted_text_is_that_text(text: str) -> None:
    """Whatever is between single quotes is taken as it is."""
    quoted = text.replace("'", "'\\''")
    assert read_command(f"echo '{quoted}'").words[0].value == text


@pytest.mark.skipif(BASH is None, reason="needs bash")
@pytest.mark.parametrize(
    "written", ["a\\b'c d'\"e\\$f\"$'\\x41\\n'", '"\\"\'\\`"', "$'\\'\\\\'x", "'a'\\''b'"]
)
def test_bash_reads_it_the_same_way(written: str) -> None:
    """The real shell is the judge."""
    printed = subprocess.run(
        [str(BASH), "-c", f"printf %s {written}"], capture_output=True, text=True, check=True
    )
    assert read_argument(written).value == printed.stdout


@pytest.mark.parametrize(
    ("written", "single"),
    [
        ("a", True),
        ('"$x"', True),
        ('a"$x"b', True),
        ('"$(f)"', True),
        ("<(f)", True),
        ("$((x))", True),
        ("$x", False),
        ("a$x", False),
        ("$(f)", False),
        ('"$@"', False),
        ('"${a[@]}"', False),
        ("{a,b}", False),
        ("*", False),
    ],
)
def test_what_a_shell_may_split_is_known(written: str, single: bool) -> None:
    """Quoted text is one word, unless `@` makes several of it."""
    assert read_argument(written).single is single


@pytest.mark.parametrize(
    "written", ["$'\\x{41}'", "$'\\ca'", "$'a\\0b'", "$'\\xff'", "$'\\u00e4'", "$'\\q'"]
)
def test_an_escape_that_not_every_bash_reads_alike_is_not_certain(written: str) -> None:
    """Braces, control letters, NUL, what is not ASCII, letters without a meaning."""
    assert read_argument(written).value is None
