"""The help page: as wide as the terminal, with nothing cut off."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.cli import lazy_group as help_text
from amplifier_hooks.cli.lazy_group import HelpPage
from amplifier_hooks.cli.text import output

ROWS = [("--event TEXT", "Only this event."), ("--kind [context|hook|tool]", "Of this kind.")]


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 40 columns."""
    monkeypatch.setenv("COLUMNS", "40")


def test_terms_stand_beside_what_they_mean() -> None:
    """In two columns, where there is room."""
    page = HelpPage()
    page.write_dl([("a", "First."), ("bcd", "Second."), ("e", "")])
    assert page.getvalue() == "a    First.\nbcd  Second.\ne    \n"


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize(
    ("write", "lines"),
    [
        # The second column stays where it is.
        (
            lambda page: page.write_dl(ROWS),
            [
                "--event TEXT  Only this event.",
                "--kind [context|hook|tool]",
                "              Of this kind.",
            ],
        ),
        # An example is broken as a shell allows it, its remark stands below.
        (
            lambda page: page.write_epilog(
                "Examples:\n  amplifier run 'a long prompt, quoted' --json   for machines"
            ),
            [
                "",
                "Examples:",
                "  amplifier run \\",
                "      'a long prompt, quoted' --json",
                "      for machines",
            ],
        ),
        # Whoever wrote the text had another terminal.
        (
            lambda page: page.write_epilog(
                "\b\nExit code 1 when something is broken; what is absent\nis fine."
            ),
            ["", "Exit code 1 when something is broken;", "what is absent is fine."],
        ),
    ],
    ids=["term", "example", "text"],
)
def test_what_is_too_long_for_the_terminal_goes_on_below(
    write: Callable[[HelpPage], None], lines: list[str]
) -> None:
    """Terms, examples and text."""
    page = HelpPage()
    write(page)
    assert page.getvalue().splitlines() == lines


def test_help_is_coloured_where_the_rest_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Titles, commands, options and remarks, with the styles of all output."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(output, "is_terminal", lambda: True)
    page = HelpPage()
    page.write_usage("amplifier run", "[OPTIONS]")
    page.write_dl([("--json", "For machines.")])
    page.write_epilog("Examples:\n  amplifier run -   reads standard input")
    assert page.getvalue() == (
        "\x1b[1mUsage:\x1b[0m \x1b[1;36mamplifier run\x1b[0m [OPTIONS]\n"
        "\x1b[36m--json\x1b[0m  For machines.\n"
        "\n\x1b[1mExamples:\x1b[0m\n"
        "  \x1b[1;36mamplifier run -\x1b[0m\x1b[90m   reads standard input\x1b[0m\n"
    )


WORDS = st.text("ab-.[]| \t\n\b", max_size=60)


@given(WORDS, st.integers(1, 50))
def test_lines_are_broken_as_the_standard_library_breaks_them(text: str, room: int) -> None:
    """Whatever the text has in it; no line is wider than the terminal allows."""
    expected = textwrap.wrap(text, max(room, 10), break_on_hyphens=False)
    assert help_text._wrap(text, room) == expected


# A paragraph that is indented by more than the width has click search for a line break for ever.
PARAGRAPHS = st.text("ab-.[]| \n\b", max_size=60).filter(lambda text: " " * 8 not in text)


@given(
    PARAGRAPHS,
    st.integers(20, 90),
    st.integers(0, 3),
    st.sampled_from(["amplifier", "amplifier run", "a" * 30]),
    WORDS,
)
def test_text_and_usage_are_written_as_click_writes_them(
    text: str, width: int, indents: int, prog: str, args: str
) -> None:
    """Without a terminal there are no colours."""
    ours, clicks = HelpPage(), click.HelpFormatter(width=width)
    ours.width = width
    for page in (ours, clicks):
        page.write_usage(prog, args)
        for _ in range(indents):
            page.indent()
        page.write_text(text)
    assert ours.getvalue() == clicks.getvalue()
