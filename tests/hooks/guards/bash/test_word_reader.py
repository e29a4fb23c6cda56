"""Words as a shell reads them."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hooks.guards.bash.reading import read_argument, read_command

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
