"""What a command prints: coloured where a person looks on, plain elsewhere."""

from __future__ import annotations

import os
import re
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest
from prompt_toolkit.styles import Style
from rich.color import ColorSystem
from rich.style import Style as RichStyle

import amplifier_hooks.cli
from amplifier_core.approval import How
from amplifier_hooks.cli.text import output
from amplifier_hooks.cli.text.output import (
    STYLES,
    Part,
    explain_how,
    format_age,
    get_width,
    paint,
    print_heading,
    print_line,
    print_wrapped,
    shorten_folder,
    to_ansi,
    to_prompt_toolkit,
    uses_colour,
)

SOURCES = Path(amplifier_hooks.cli.__file__).parent


@pytest.mark.parametrize(
    ("style", "codes"),
    [("good", "32"), ("tool", "1;36"), ("dim", "90"), ("escape", "7;35"), ("", ""), ("odd", "")],
)
def test_a_style_has_codes_for_a_terminal(style: str, codes: str) -> None:
    """Attributes first, then the colour; what is not in the table is plain."""
    assert to_ansi(style) == codes
    assert (to_prompt_toolkit(style) == "") == (codes == "")


@pytest.mark.parametrize("style", STYLES)
def test_every_library_understands_every_style_in_the_same_way(style: str) -> None:
    """The same colour and the same attributes, whoever draws."""
    rich = RichStyle.parse(STYLES[style])
    ours = Style.from_dict({style: to_prompt_toolkit(style)}).get_attrs_for_style_str(
        f"class:{style}"
    )
    painted = rich.render("x", color_system=ColorSystem.STANDARD)
    assert painted == f"\x1b[{to_ansi(style)}mx\x1b[0m"
    colour = rich.color.name.replace("_", "") if rich.color else ""
    assert (ours.color or "").removeprefix("ansi") == colour
    assert (ours.bold, ours.italic, ours.reverse) == (
        bool(rich.bold),
        bool(rich.italic),
        bool(rich.reverse),
    )


def test_no_other_file_knows_a_colour() -> None:
    """What a thing looks like is decided in one place."""
    colour = re.compile(
        r"\bansi[a-z]+\b|\"(bold )?(red|green|yellow|cyan|magenta)\"|\\x1b\[[1-9][0-9;]*m"
    )
    found = {
        path.name
        for path in SOURCES.rglob("*.py")
        if colour.search(path.read_text()) and path != SOURCES / "text/output.py"
    }
    assert found == set()


@pytest.mark.parametrize(
    ("written", "age"),
    [
        ("2025-12-31T23:59:01+00:00", "just now"),
        ("2025-12-31T23:01:00+00:00", "59 min ago"),
        ("2025-12-31T01:00:00+00:00", "23 h ago"),
        ("2024-11-27T00:00:00+00:00", "400 d ago"),
        ("yesterday", "?"),
    ],
)
def test_an_age_has_one_unit(written: str, age: str) -> None:
    """The largest that fits; files of others may hold anything."""
    assert format_age(written, datetime(2026, 1, 1, tzinfo=UTC)) == age


@pytest.mark.parametrize("how", [*get_args(How), None, 3, "", "later"])
def test_every_end_that_nobody_chose_is_explained(how: object) -> None:
    """A decision speaks for itself; records may hold ends of other versions."""
    known = {*get_args(How)} - {"person", "rule"}
    assert bool(explain_how(how)) == (how in known)


@pytest.mark.parametrize(
    ("folder", "shown"),
    [("/home/ann", "~"), ("/home/ann/a/b", "~/a/b"), ("/home/anna", "/home/anna"), ("/", "/")],
)
def test_a_home_is_a_tilde(folder: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other folders stay whole."""
    monkeypatch.setenv("HOME", "/home/ann")
    assert shorten_folder(folder) == shown


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
