"""The part of a question that scrolls: complete, and readable back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.approval import ApprovalQuestion
from amplifier_hooks.cli.approval.preview import make_preview
from amplifier_hooks.cli.approval.question import QuestionContent, get_label_room
from amplifier_hooks.cli.text.escape import unescape
from amplifier_hooks.cli.text.fragments import join_text
from tests.hooks.cli.hostile_text import hostile, is_harmless


def make_content(
    text: str, reason: str | None = None, *, ascii_only: bool = False
) -> QuestionContent:
    question = ApprovalQuestion(
        text,
        ("Allow", "Deny"),
        60,
        "deny",
        hook="guard",
        event="tool:pre",
        reason=text if reason is None else reason,
        tool_name="Tool",
        tool_input={"x": text},
        digest="ab" * 32,
    )
    preview = make_preview("Tool", question.tool_input, Path())
    return QuestionContent(question, preview, question.options, ascii_only)


def rows(content: QuestionContent, width: int = 79, *, exact: bool = False) -> list[str]:
    return [join_text(line) for line in content.lay_out(width, exact=exact)]


def test_it_shows_the_prompt_who_asks_why_and_the_call() -> None:
    """Everything that a decision depends on, in this order."""
    assert rows(make_content("go?", "it is late")) == [
        "go?",
        "",
        "Asked by  guard (tool:pre)",
        "Because   it is late",
        "",
        "Tool  ",
        "│ x: go?",
    ]


def test_the_digest_stands_below_the_exact_input() -> None:
    """Whoever compares it with the trail finds it one key away."""
    content = make_content("go?")
    assert rows(content, exact=True)[-1] == f"Digest    {'ab' * 32}"
    assert not [row for row in rows(content) if "Digest" in row]


def test_a_question_without_a_call_shows_none() -> None:
    """The short form has a prompt alone."""
    question = ApprovalQuestion("go?", ("Allow", "Deny"), 60, "deny", hook="")
    assert rows(QuestionContent(question, None, question.options)) == ["go?", ""]


def test_the_exact_input_takes_the_place_of_the_readable_view() -> None:
    """JSON with every key and character."""
    shown = rows(make_content("go?"), exact=True)
    assert [row for row in shown if row.startswith("│")] == ["│ {", '│   "x": "go?"', "│ }"]


def test_a_label_that_does_not_fit_into_its_row_is_shown_in_full() -> None:
    """A long option can be read to its end."""
    long = "Allow " + "y" * 200
    question = ApprovalQuestion("go?", (long, "Deny"), 60, "deny", hook="")
    shown = "".join(rows(QuestionContent(question, None, question.options)))
    assert "Option 1" in shown
    assert shown.count("y") == 200
    assert "Option 2" not in shown
    assert get_label_room(79) < len(long)


def test_a_megabyte_on_one_line_is_laid_out_in_full() -> None:
    """A long line is paged through, not cut: in the prompt, the reason and the input."""
    content = make_content("x" * 1_000_000, "x" * 1_000_001)
    assert sum(row.count("x") for row in rows(content)) >= 3_000_000


def test_it_is_laid_out_once_for_each_width_and_view() -> None:
    """Drawing five times a second costs nothing."""
    content = make_content("go?")
    assert content.lay_out(40) is content.lay_out(40)
    assert content.lay_out(40) is not content.lay_out(41)
    assert content.lay_out(40) is not content.lay_out(40, exact=True)


@given(hostile, st.integers(20, 200))
def test_no_row_is_wider_than_it_may_be_nor_moves_the_terminal(text: str, width: int) -> None:
    """At any width, whatever was written."""
    from prompt_toolkit.utils import get_cwidth

    for row in rows(make_content(text), width):
        assert is_harmless(row)
        assert get_cwidth(row) <= width


@given(hostile)
def test_a_terminal_of_ascii_gets_ascii_that_can_be_read_back(text: str) -> None:
    """Where `?` would stand for any letter, two commands could look alike."""
    shown = rows(make_content(text, ascii_only=True), 10_000)
    field = [row.replace("│ ", "") for row in shown if row.startswith("│ ")]
    assert all(row.isascii() for row in field)
    assert unescape("\n".join(field)).removeprefix("x: ").removeprefix("\n") == text


@pytest.mark.parametrize(("text", "shown"), [("é", "\\u{E9}"), ("a\tb", "a\\u{9}b"), (">", ">")])
def test_signs_of_ours_are_no_letters_of_theirs(text: str, shown: str) -> None:
    """On ASCII a tab is no `>`."""
    assert join_text(make_content("", ascii_only=True).escape_line(text)) == shown
