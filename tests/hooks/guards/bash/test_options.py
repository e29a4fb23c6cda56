"""Options as getopt reads them."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.bash.options import Options, Reading, find_values, read_options
from tests.hooks.guards.bash.reading import list_values, read_command

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
