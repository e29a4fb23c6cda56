"""Markdown as rows of a terminal."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from amplifier_hooks.cli.display.live_display import make_console
from amplifier_hooks.cli.display.markdown_text import render_markdown, split_blocks


def render(text: str, width: int = 40) -> list[str]:
    rows = render_markdown(text, make_console(io.StringIO()), width)
    return ["".join(segment.text for segment in row) for row in rows]


def test_what_a_model_writes_is_rendered() -> None:
    """Headings, emphasis, lists and code, at the left and without spaces behind."""
    text = "# Plan\n\nDo *this* with `ls`:\n\n- one\n- two\n\n```python\nx = 1\n\ny = 2\n```"
    assert render(text) == [
        "Plan",
        "",
        "Do this with ls:",
        "",
        " • one",
        " • two",
        "",
        "  x = 1",
        "",
        "  y = 2",
    ]


def test_code_has_the_colours_of_its_language() -> None:
    """In the terminal's own colours; a language that nobody knows has none."""
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, color_system="standard", width=40)
    for language in ("python", "nonsense"):
        rows = render_markdown(f"```{language}\nreturn 1\n```", console, 40)
        styles = {str(segment.style) for row in rows for segment in row if segment.text.strip()}
        assert ("bright_blue" in " ".join(styles)) == (language == "python")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one\ntwo", ["one", "two"]),
        ("a List<String> and <b>", ["a List<String> and <b>"]),
        ("&#x202e;x", ["&#x202e;x"]),
        ("[here](https://a.b)", ["here (https://a.b)"]),
        ("<https://a.b/%E2%80%AE>", ["https://a.b/\\u{202E}"]),
        ("5 \\u{1B}[2K", ["5 \\u{1B}[2K"]),
    ],
)
def test_nothing_is_hidden_in_it(text: str, shown: list[str]) -> None:
    """Lines stay lines, tags and entities text, and an address is shown with what it is behind."""
    assert render(text) == shown


@given(st.text(alphabet="ab #*`_-\n|>[]()<>&1.!~\\", max_size=60), st.integers(1, 30))
def test_any_text_can_be_rendered(text: str, width: int) -> None:
    """Whatever it is, no row holds anything that moves the cursor."""
    assert all(row.isprintable() for row in render(text, width))


@given(st.text(alphabet="ab #*`-\n|>1.", max_size=80))
def test_blocks_are_the_text_in_pieces(text: str) -> None:
    """Put together again they are the text."""
    whole, rest = split_blocks(text)
    assert "\n".join([*whole, rest]) == text


def test_a_block_is_complete_when_another_follows() -> None:
    """A fence that is still open is the one being written."""
    assert split_blocks("a\n\n```\nb\n\nc\n") == (["a\n"], "```\nb\n\nc\n")
    assert split_blocks("- a\n\n- b") == ([], "- a\n\n- b")
