"""How long something takes is measured and written in one place: docs/performance.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.blocks import FENCE

ROOT = Path(__file__).parents[2]
MEASURED = ROOT / "docs" / "performance.md"
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])
PAGES.remove(MEASURED)
PAGES.remove(ROOT / "CHANGELOG.md")  # tells what was, not what is
_FIGURE = re.compile(r"\b\d[\d.,]*(?: to [\d.,]+)? ?(?:µs|ms|microseconds|milliseconds)\b")
# Limits that somebody has set, not times that somebody has measured.
SET = {
    "docs/audit.md": {"20 ms"},
    "docs/counters.md": {"100 ms", "2,500 ms"},
    "docs/security-benchmarks.md": {"1 ms"},
}


def list_figures(page: Path) -> set[str]:
    """Those in the text; blocks show what was printed once."""
    return set(_FIGURE.findall(FENCE.sub("", page.read_text(encoding="utf-8"))))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_but_one_says_how_long_something_takes(page: Path) -> None:
    """Two pages gave two figures for one thing; the one place is renewed by `make bench`."""
    assert list_figures(page) == SET.get(str(page.relative_to(ROOT)), set())
