"""The recipes: what a page shows of a file is in that file, which the tests of examples/ run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.blocks import FENCE

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs" / "recipes").glob("*.md"))
TITLE = re.compile(r'^```\S* title="(examples/[^"]+)"$', re.MULTILINE)
SHOWN = [
    pytest.param(path[1], fence[2], id=f"{page.stem}:{path[1]}")
    for page in PAGES
    for fence in FENCE.finditer(page.read_text(encoding="utf-8"))
    if (path := TITLE.match(fence[0]))
]


@pytest.mark.parametrize(("path", "text"), SHOWN)
def test_what_a_page_shows_of_a_file_is_in_the_file(path: str, text: str) -> None:
    """Without a gap, and to the end of the file."""
    assert (ROOT / path).read_text(encoding="utf-8").endswith(text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_recipe_says_what_it_does_not_do(page: Path) -> None:
    """Whoever relies on it has to know; the index is no recipe."""
    text = page.read_text(encoding="utf-8")
    assert page.stem == "index" or re.search(r"^## What it does not ", text, re.MULTILINE)


def test_the_index_of_recipes_names_each() -> None:
    """And each recipe shows a file of its folder."""
    index = (ROOT / "docs" / "recipes" / "index.md").read_text(encoding="utf-8")
    names = {page.stem for page in PAGES} - {"index"}
    assert {name for name in names if f"]({name}.md)" in index} == names
    assert {str(case.values[0]).split("/")[1] for case in SHOWN} == names
