"""A simple command and its parts."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.bash.commands import (
    Command,
    Options,
    Reading,
    Redirect,
    find_values,
    name_program,
    read_options,
)
from amplifier_hooks.guards.bash.words import UNKNOWN, Word, create_literal
from tests.hooks.guards.bash.reading import list_values, read_command


@pytest.mark.parametrize(
    ("program", "name"), [("/usr/bin/Git", "git"), ("git", "git"), ("./x", "x"), (None, None)]
)
def test_the_name_is_what_a_list_would_call_it(program: str | None, name: str | None) -> None:
    """Without directory and in small letters: some file systems do not care."""
    assert Command(program).name == name


def test_options_can_be_written_together_and_with_values() -> None:
    """`-rf` is also `-r` and `-f`; `--depth=1` is also `--depth`."""
    flags = read_command("x -rf --depth=1 a -").flags
    assert flags == {"-rf", "-r", "-f", "--depth=1", "--depth"}


def test_arguments_and_operands_are_told_apart() -> None:
    """Behind `--` everything is an operand, also what looks like an option."""
    command = read_command("rm -f a -- -b c")
    assert list_values(command.arguments) == ["a", "c"]
    assert list_values(command.operands) == ["a", "-b", "c"]


@pytest.mark.parametrize(
    ("source", "certain"),
    [("ls a", True), ("ls $a", False), ("$ls a", False), ("ls *", True), ("ls {a,b}", False)],
)
def test_a_command_is_certain_when_every_word_is(source: str, certain: bool) -> None:
    """Otherwise only running it would tell."""
    assert read_command(source).certain is certain


def test_who_runs_a_command_is_remembered_from_the_outside_in() -> None:
    """For rules about what is allowed inside what."""
    inner = Command("rm").run_by("bash")
    assert inner.run_by("sudo", "env").via == ("sudo", "env", "bash")
    assert inner.program == "rm"


@pytest.mark.parametrize(
    ("operator", "writes"), [(">", True), (">>", True), (">&", True), ("<>", True), ("<", False)]
)
def test_a_redirection_writes_or_reads(operator: str, writes: bool) -> None:
    """`<>` opens for both."""
    assert Redirect(operator, UNKNOWN).writes is writes


@pytest.mark.parametrize(
    ("operator", "target", "stream"),
    [
        (">&", "1", True),
        (">&", "1-", True),
        ("<&", "3", True),
        (">&-", ">&-", True),
        (">&", "f", False),
        (">&", "-", False),
        (">", "1", False),
        ("&>", "1", False),
        (">>", "1", False),
    ],
)
def test_a_number_names_a_stream_only_behind_an_ampersand(
    operator: str, target: str, stream: bool
) -> None:
    """`> 1` writes a file that is called 1."""
    redirect = Redirect(operator, create_literal(target))
    assert redirect.names_stream is stream
    assert redirect.writes is (">" in operator and not stream)


@pytest.mark.parametrize(
    ("word", "program"),
    [
        (create_literal("ls"), "ls"),
        (create_literal(""), None),
        (create_literal("if"), None),
        (create_literal("!"), None),
        (UNKNOWN, None),
        (Word("l*", "l*", glob=True), None),
        (Word("~/x", "~/x", tilde=True), "~/x"),
        (Word("~", "~", tilde=True), None),
    ],
)
def test_a_program_has_a_literal_name(word: Word, program: str | None) -> None:
    """Reserved words, wildcards and variables name none."""
    assert name_program(word) == program


OPTIONS = Options.read("ab --all --any", "cd --color --chdir", "e --each")


def read(source: str, options: Options = OPTIONS) -> Reading:
    return read_options(read_command(f"x {source}").words, options)


@pytest.mark.parametrize(
    ("source", "given", "rest"),
    [
        ("ls -l", {}, ["ls", "-l"]),
        ("-a ls", {"a": None}, ["ls"]),
        ("-abc v ls", {"a": None, "b": None, "c": "v"}, ["ls"]),
        ("-acv ls", {"a": None, "c": "v"}, ["ls"]),
        ("-c -a ls", {"c": "-a"}, ["ls"]),
        ("-e ls", {"e": None}, ["ls"]),
        ("-ev ls", {"e": "v"}, ["ls"]),
        ("--color v ls", {"color": "v"}, ["ls"]),
        ("--col=v ls", {"color": "v"}, ["ls"]),
        ("--each ls", {"each": None}, ["ls"]),
        ("-a -- -b", {"a": None}, ["-b"]),
        ("-c", {"c": None}, []),
        ("", {}, []),
    ],
)
def test_options_end_where_the_arguments_begin(
    source: str, given: dict[str, str | None], rest: list[str]
) -> None:
    """In clusters, with values attached or behind, long names abbreviated."""
    reading = read(source)
    found = {name: None if value is None else value.value for name, value in reading.given}
    assert (found, list_values(reading.rest), reading.doubt) == (given, rest, None)


@pytest.mark.parametrize(
    "source", ["-z ls", "--zebra ls", "--a ls", "$x ls", "-a * ls", '"$x" ls', "-c $x ls"]
)
def test_what_may_move_the_first_argument_is_in_doubt(source: str) -> None:
    """An option that is not known, an abbreviation of two, a word that may be several."""
    assert read(source).doubt is not None


def test_a_quoted_value_is_one_word() -> None:
    """Whatever it is, the arguments begin behind it."""
    reading = read('-c "$x" ls')
    assert (reading.doubt, list_values(reading.rest)) == (None, ["ls"])
    assert reading.has("c")
    value = reading.find("c", "color")
    assert value is not None
    assert value.raw == '"$x"'


def test_some_programs_take_options_behind_their_arguments() -> None:
    """As `su me -c TEXT`."""
    reading = read("me -c v", Options.read("", "c", permutes=True))
    value = reading.find("c")
    assert value is not None
    assert (value.value, list_values(reading.rest)) == ("v", ["me"])


@pytest.mark.parametrize(
    ("source", "values"),
    [
        ("-o f", ["f"]),
        ("-of", ["f"]),
        ("-so f", ["f"]),
        ("--output f", ["f"]),
        ("--output=f", ["f"]),
        ("--outp=f", ["f"]),
        ("-o a -o b", ["a", "b"]),
        ('-o"$x"', [None]),
        ('--output="$x"', [None]),
        ("-o", []),
        ("f", []),
        ("--", []),
    ],
)
def test_every_value_that_an_option_may_have(source: str, values: list[str | None]) -> None:
    """Also for programs whose other options are not known."""
    words = read_command(f"x {source}").words
    assert [word.value for word in find_values(words, "-o", "--output")] == values
