"""What a command prints: coloured where a person looks on, plain elsewhere."""

from __future__ import annotations

import os
import shutil
import sys

import pytest

from amplifier_hooks.cli.text import output
from amplifier_hooks.cli.text.output import (
    Part,
    get_width,
    paint,
    print_heading,
    print_line,
    print_wrapped,
    uses_colour,
)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard output is a terminal of 40 columns."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(output, "is_terminal", lambda: True)


def test_a_line_has_its_colours_on_a_terminal(
    terminal: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each piece in its style, plain pieces as they are."""
    print_line("a ", ("good", "b"), ("", "c"), ("tool", ""))
    assert output.uses_colour()
    # click strips colours for what is no terminal, so look at what it was given
    assert paint([("", "a "), ("good", "b")]) == "a \x1b[32mb\x1b[0m"
    assert capsys.readouterr().out == "a bc\n"


def test_no_color_means_no_colour(terminal: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable is honoured; an empty one does not count."""
    monkeypatch.setenv("NO_COLOR", "1")
    assert not uses_colour()
    assert paint([("good", "b  ")]) == "b"
    monkeypatch.setenv("NO_COLOR", "")
    assert uses_colour()


def test_a_pipe_gets_plain_lines_without_trailing_space(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Made for other programs to read; a heading has an empty line before it."""
    print_line(("good", "✓ "), "done  ")
    print_heading("Keys")
    assert capsys.readouterr().out == "✓ done\n\nKeys\n"
    assert not sys.stdout.isatty()


SENTENCE = "a sentence that is longer than a narrow terminal"


@pytest.mark.parametrize(
    ("parts", "lines"),
    [
        # Under its own start, behind the label.
        (
            (("dim", "reason: "), SENTENCE),
            ["  reason: a sentence that is longer", "          than a narrow terminal"],
        ),
        # Where the last part has no room, the whole line is wrapped.
        (
            ("Fields and answers of one event: ", ("tool", "amplifier events")),
            ["  Fields and answers of one event:", "  amplifier events"],
        ),
        ((("dim", "x: "), ""), ["  x:"]),
    ],
    ids=["label", "no room", "empty"],
)
def test_a_long_sentence_goes_on_below_itself(
    parts: tuple[Part, ...],
    lines: list[str],
    terminal: None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nothing is lost."""
    print_wrapped(2, *parts)
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == lines


def test_in_a_pipe_or_without_room_a_sentence_stays_whole(
    terminal: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few columns are worse than none."""
    print_wrapped(30, SENTENCE)
    monkeypatch.setattr(output, "is_terminal", lambda: False)
    print_wrapped(2, SENTENCE)
    assert capsys.readouterr().out.splitlines() == [f"{' ' * 30}{SENTENCE}", f"  {SENTENCE}"]


@pytest.mark.parametrize("columns", ["", "0", "-3", "many", "40"])
@pytest.mark.parametrize(
    ("told", "width"),
    [((120, 40), 120), ((0, 0), 80), (OSError("no terminal"), 80), (None, 80)],
)
def test_the_width_of_what_says_nothing_is_the_usual_one(
    columns: str,
    told: tuple[int, int] | OSError | None,
    width: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A variable without a number does not count; a program may start with its output closed."""

    def get_size(_: int = 1) -> os.terminal_size:
        if isinstance(told, OSError):
            raise told
        assert told
        return os.terminal_size(told)

    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr(os, "get_terminal_size", get_size)
    if told is None:
        monkeypatch.setattr(sys, "__stdout__", None)
    wanted = 40 if columns == "40" else width
    assert get_width() == shutil.get_terminal_size((80, 24)).columns == wanted
