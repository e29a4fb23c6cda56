"""docs/threats.md: each attack names tests by the words of their names, and they exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "threats.md"
ROWS = [
    cells[1:-1]
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if len(cells := line.split("|")) == 5 and set(line) - set("|- ") and "shown by" not in line
]
LINK = re.compile(r"\[([\w ]+)\]\(\.\./tests/([\w/]+\.py)\)")


def test_the_page_has_attacks() -> None:
    """Otherwise nothing below was looked at."""
    assert len(ROWS) > 30


@pytest.mark.parametrize("cells", ROWS, ids=lambda cells: cells[0].strip()[:40])
def test_every_attack_is_tried_by_a_test(cells: list[str]) -> None:
    """A renamed test is renamed here as well."""
    attack, happens, proof = cells
    assert attack.strip()
    assert happens.strip().endswith(".")
    named = [("test_" + words.replace(" ", "_"), file) for words, file in LINK.findall(proof)]
    assert named
    sources = {file: (ROOT / "tests" / file).read_text(encoding="utf-8") for _, file in named}
    assert [test for test, file in named if f"def {test}(" not in sources[file]] == []
