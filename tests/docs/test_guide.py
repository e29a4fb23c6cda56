"""The guide has a page with one complete program for each answer; test_examples runs them."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from amplifier_core.models import Action
from tests.docs.blocks import markdown_blocks

GUIDE = Path(__file__).parents[2] / "docs" / "guide"
ACTIONS = get_args(Action)


@pytest.mark.parametrize("action", ACTIONS)
def test_each_answer_has_a_page_with_one_program_that_gives_it(action: str) -> None:
    """It says what it prints, and runs a tool call from the beginning to the end."""
    page = GUIDE / f"{action.replace('_', '-')}.md"
    (program,) = markdown_blocks(page)
    assert program.output
    assert "call_tool(" in program.source
    assert (f'action="{action}"' in program.source) == (action != "continue")


def test_the_guide_has_no_other_pages_and_links_to_each() -> None:
    """A new answer needs a page, and a line in the table."""
    names = {f"{action.replace('_', '-')}.md" for action in ACTIONS}
    assert {page.name for page in GUIDE.glob("*.md")} == names | {"index.md"}
    index = (GUIDE / "index.md").read_text(encoding="utf-8")
    assert [name for name in sorted(names) if f"]({name})" not in index] == []
