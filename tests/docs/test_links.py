"""Every link of a page leads to a page that is there, and to a heading that it has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INDEX = ROOT / "docs" / "index.md"
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])


def list_links(page: Path) -> list[str]:
    """Those inside the repository, outside of code."""
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]


def list_anchors(page: Path) -> set[str]:
    """The headings, as addresses spell them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    """A reader who follows it finds what was promised."""
    for link in list_links(page):
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        assert not anchor or anchor in list_anchors(target), link


def test_the_index_names_every_page() -> None:
    """What nobody can find is not documented."""
    linked = {(ROOT / "docs" / link.partition("#")[0]).resolve() for link in list_links(INDEX)}
    assert {page for page in PAGES if page.is_relative_to(ROOT / "docs")} - linked <= {INDEX}
