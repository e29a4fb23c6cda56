"""The words of a reply on a terminal."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from amplifier_hooks.cli.display.reply_text import (
    CONTEXT_LINES,
    MOST_LINES,
    MarkdownReply,
    PlainReply,
    cut_block,
    cut_code,
    is_fence,
    make_reply,
)


@pytest.mark.parametrize(
    ("block", "halves"),
    [
        ("a\nb\nc\nd\n", ("a\nb", "c\nd\n")),
        ("- a\n- b\n  - x\n  - y\n", ("- a", "- b\n  - x\n  - y\n")),
        ("8. a\n9. b\n10. c\n", ("8. a", "9. b\n10. c\n")),
        ("- a\n  more\n  and\n  more\n", None),
        ("| a |\n|---|\n| b |\n| c |\n", None),
        ("```\na\nb\nc\n", None),
        ("a\n", None),
    ],
)
def test_text_is_cut_where_it_makes_no_difference(
    block: str, halves: tuple[str, str] | None
) -> None:
    """Between lines, between the outer items of a list; tables and code stay in one piece."""
    assert cut_block(block, 2) == halves


def test_code_is_cut_between_two_lines_with_code_on_them() -> None:
    """Each half has the line that opens the fence."""
    lines = [f"x{number}" for number in range(MOST_LINES + 10)]
    lines[len(lines) - CONTEXT_LINES] = ""
    halves = cut_code("\n".join(["```py", *lines]))
    assert halves is not None
    first, second = (half.split("\n") for half in halves)
    assert first[0] == second[0] == "```py"
    assert [*first[1:], *second[1:]] == lines
    assert all((first[-1], second[1]))


def test_short_code_is_not_cut() -> None:
    """Nor is code without two lines to cut between; a fence is known by either sign."""
    assert cut_code("```\na\nb\n") is None
    assert cut_code("```" + "\nx\n" * 200) is None
    assert is_fence("```py\nx")
    assert is_fence("  ~~~\nx")
    assert not is_fence("`x`")


def open_reply(
    kind: type[MarkdownReply] | type[PlainReply], height: int = 12
) -> tuple[Any, io.StringIO]:
    stream = io.StringIO()
    console = Console(file=stream, width=40, height=height)
    return kind(console), stream


def read_drawn(reply: MarkdownReply | PlainReply) -> list[str]:
    return ["".join(segment.text for segment in row) for row in reply.draw()]


def test_a_block_is_printed_once_it_is_complete() -> None:
    """Until then it is drawn below, as far as it has come."""
    reply, stream = open_reply(MarkdownReply)
    reply.feed("One *wo")
    assert read_drawn(reply) == ["One *wo"]
    reply.feed("rd*.\n\nTwo")
    assert stream.getvalue() == "One word.\n"
    assert read_drawn(reply) == ["", "Two"]
    reply.flush()
    assert stream.getvalue() == "One word.\n\nTwo\n"
    assert read_drawn(reply) == []


PIECES = ["a", "\n", "\n\n", "```\n", "- b", "# c", "*"]


@given(st.lists(st.sampled_from(PIECES), max_size=20))
def test_what_came_in_pieces_looks_like_what_came_at_once(pieces: list[str]) -> None:
    """No row is lost, and none is printed twice."""
    printed = []
    for parts in (pieces, ["".join(pieces)]):
        reply, stream = open_reply(MarkdownReply, height=60)
        for part in parts:
            reply.feed(part)
            reply.draw()
        reply.flush()
        printed.append(stream.getvalue())
    assert printed[0] == printed[1]


def test_a_block_taller_than_the_screen_is_printed_as_it_grows() -> None:
    """What is drawn leaves room for the rest; every line comes once, whatever happens to the
    width."""
    reply, stream = open_reply(MarkdownReply)
    reply.feed("```\n")
    for number in range(30):
        reply.feed(f"line {number}\n")
        assert len(reply.draw()) <= 6
        if number == 20:
            reply._console.width = 20
    assert "line 20" in stream.getvalue()
    reply.flush()
    assert stream.getvalue().split("\n") == [*(f"  line {number}" for number in range(30)), ""]


def test_long_code_is_printed_whole_though_its_beginning_is_forgotten() -> None:
    """With empty lines and lines of two rows in it; every row comes once."""
    reply, stream = open_reply(MarkdownReply)
    code = [f"n{n} = {n}" + n % 7 * "  # word" for n in range(200)]
    for place in (3, 4, 90, 150):
        code[place] = ""
    for line in ["```python", *code, "```", "", "End."]:
        reply.feed(f"{line}\n")
        assert len(reply._block) < 20_000
    reply.flush()
    at_once, expected = open_reply(MarkdownReply)
    at_once.feed("\n".join(["```python", *code, "```", "", "End.", ""]))
    at_once.flush()
    assert stream.getvalue() == expected.getvalue()
    assert stream.getvalue().count("n199 =") == 1


@pytest.mark.parametrize("line", ["word word", "- item", "7. item", "> said"])
def test_long_text_is_printed_as_it_grows(line: str) -> None:
    """Nothing is lost where it is cut, and no gap shows the place."""
    reply, stream = open_reply(MarkdownReply)
    for _ in range(60):
        reply.feed(f"{line}\n")
    assert reply._block.count("\n") < 20
    reply.flush()
    rows = stream.getvalue().rstrip("\n").split("\n")
    assert len(rows) == 60
    assert all(row.endswith(line.split()[-1]) for row in rows)


def test_a_tall_table_waits_for_its_end() -> None:
    """Its first rows would be too narrow for its last ones."""
    reply, stream = open_reply(MarkdownReply)
    reply.feed("| a |\n|---|\n" + "| b |\n" * 30)
    assert stream.getvalue() == ""
    reply.feed("| a long one |\n")
    reply.flush()
    assert stream.getvalue().count(" b\n") == 30


@pytest.mark.parametrize("kind", [MarkdownReply, PlainReply])
def test_a_reply_is_begun_by_text_and_ended_by_a_flush(kind: type[PlainReply]) -> None:
    """Who prints something between knows whether it is in the middle of it."""
    reply, _ = open_reply(kind)
    assert not reply.is_begun
    reply.feed("one")
    assert reply.is_begun
    reply.flush()
    assert not reply.is_begun


def test_plain_text_is_printed_line_by_line() -> None:
    """As it was written."""
    reply, stream = open_reply(PlainReply)
    reply.feed("*one*\n# tw")
    assert (stream.getvalue(), read_drawn(reply)) == ("*one*\n", ["# tw"])
    reply.feed("o")
    reply.flush()
    assert stream.getvalue() == "*one*\n# two\n"


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"force_terminal": True}, MarkdownReply),
        ({"force_terminal": True, "no_color": True}, PlainReply),
        ({"force_terminal": False}, PlainReply),
    ],
)
def test_text_is_rendered_where_there_are_colours(options: dict[str, Any], kind: type) -> None:
    """Not in a pipe, and not with NO_COLOR."""
    assert isinstance(make_reply(Console(file=io.StringIO(), **options)), kind)
