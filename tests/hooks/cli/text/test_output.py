"""What a command prints: coloured where a person looks on, plain elsewhere."""

from __future__ import annotations

import os
import shutil
import sys

import pytest

from amplifier_hooks.cli.text import output
from amplifier_hooks.cli.text.output import (
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
    """Made for other programs to read."""
    print_line(("good", "✓ "), "done  ")
    assert capsys.readouterr().out == "✓ done\n"
    assert not sys.stdout.isatty()


def test_a_heading_has_an_empty_line_before_it(capsys: pytest.CaptureFixture[str]) -> None:
    """Sections stand apart."""
    print_heading("Keys")
    assert capsys.readouterr().out == "\nKeys\n"


SENTENCE = "a sentence that is longer than a narrow terminal"


def test_a_long_sentence_goes_on_below_itself(
    terminal: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """Under its own start, behind the label."""
    print_wrapped(2, ("dim", "reason: "), SENTENCE)
    assert capsys.readouterr().out.splitlines() == [
        "  reason: a sentence that is longer",
        "          than a narrow terminal",
    ]


def test_where_the_last_part_has_no_room_the_whole_line_is_wrapped(
    terminal: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its parts keep their styles."""
    print_wrapped(2, "Fields and answers of one event: ", ("tool", "amplifier events"))
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == [
        "  Fields and answers of one event:",
        "  amplifier events",
    ]


def test_in_a_pipe_or_without_room_a_sentence_stays_whole(
    terminal: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few columns are worse than none."""
    print_wrapped(30, SENTENCE)
    monkeypatch.setattr(output, "is_terminal", lambda: False)
    print_wrapped(2, SENTENCE)
    assert capsys.readouterr().out.splitlines() == [f"{' ' * 30}{SENTENCE}", f"  {SENTENCE}"]


def test_an_empty_text_is_an_empty_line(terminal: None, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing to wrap, and no error."""
    print_wrapped(2, ("dim", "x: "), "")
    assert capsys.readouterr().out == "  x: \n"


def test_the_width_is_that_of_the_terminal(terminal: None) -> None:
    """Or what COLUMNS says."""
    assert get_width() == 40


@pytest.mark.parametrize("columns", ["", "0", "-3", "many"])
@pytest.mark.parametrize(
    ("told", "width"), [((120, 40), 120), ((0, 0), 80), (OSError("no terminal"), 80)]
)
def test_the_width_of_what_says_nothing_is_the_usual_one(
    columns: str,
    told: tuple[int, int] | OSError,
    width: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A variable without a number does not count, as everywhere."""

    def get_size(_: int = 1) -> os.terminal_size:
        if isinstance(told, OSError):
            raise told
        return os.terminal_size(told)

    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr(os, "get_terminal_size", get_size)
    assert get_width() == shutil.get_terminal_size((80, 24)).columns == width


def test_without_a_stream_the_width_is_the_usual_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program may start with its output closed."""
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(sys, "__stdout__", None)
    assert get_width() == 80
