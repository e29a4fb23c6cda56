"""A block of Markdown that grows beyond the screen."""

from __future__ import annotations

import pytest

from amplifier_hooks.cli.display.reply_text import (
    CONTEXT_LINES,
    MOST_LINES,
    cut_block,
    cut_code,
    is_fence,
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
