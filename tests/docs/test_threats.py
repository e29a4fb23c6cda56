"""Attacks, promises and rows of standards name tests by the words of their names: they exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def read_rows(page: str) -> list[list[str]]:
    """The rows of the tables whose last column says which tests show it."""
    rows = []
    is_shown = False
    for line in (DOCS / page).read_text(encoding="utf-8").splitlines():
        cells = line.split("|")[1:-1]
        if not cells:
            is_shown = False
        elif cells[-1].strip() == "shown by":
            is_shown = True
        elif is_shown and set(line) - set("|- "):
            rows.append(cells)
    return rows


ATTACKS = read_rows("threats.md")
PROMISES = read_rows("security.md")
STANDARDS = read_rows("standards.md")
NOTHING = "Nothing."
LINK = re.compile(r"\[([\w ]+)\]\(\.\./tests/([\w/]+\.py)\)")


def find_missing(proof: str) -> list[str]:
    """The tests that a cell names and that are not where it says."""
    named = [("test_" + words.replace(" ", "_"), file) for words, file in LINK.findall(proof)]
    assert named
    sources = {file: (ROOT / "tests" / file).read_text(encoding="utf-8") for _, file in named}
    return [test for test, file in named if f"def {test}(" not in sources[file]]


def test_the_pages_have_attacks_and_promises() -> None:
    """Otherwise nothing below was looked at."""
    assert len(ATTACKS) > 30
    assert len(PROMISES) > 15
    assert len(STANDARDS) > 20


@pytest.mark.parametrize("cells", ATTACKS, ids=lambda cells: cells[0].strip()[:40])
def test_every_attack_is_tried_by_a_test(cells: list[str]) -> None:
    """A renamed test is renamed here as well."""
    attack, happens, proof = cells
    assert attack.strip()
    assert happens.strip().endswith(".")
    assert find_missing(proof) == []


@pytest.mark.parametrize("cells", PROMISES, ids=lambda cells: cells[0].strip()[:40])
def test_every_promise_is_shown_by_a_test(cells: list[str]) -> None:
    """A promise that no test keeps goes."""
    promise, _, proof = cells
    assert promise.strip().endswith(".")
    assert find_missing(proof) == []


@pytest.mark.parametrize("cells", STANDARDS, ids=lambda cells: cells[0].strip()[:40])
def test_every_row_of_a_standard_is_shown_by_a_test_or_says_nothing(cells: list[str]) -> None:
    """What we do has a test, and what we do not is said everywhere."""
    row, does, does_not, proof = (cell.strip() for cell in cells)
    assert row
    assert does_not.endswith(".")
    if does == NOTHING:
        assert proof == "–"
        return
    assert does.endswith(".")
    assert find_missing(proof) == []


def test_all_ten_risks_of_owasp_are_there() -> None:
    """Also those about which little is done."""
    named = [cells[0].split()[0] for cells in STANDARDS if cells[0].strip().startswith("ASI")]
    assert named == [f"ASI{number:02}" for number in range(1, 11)]
