"""The page on the specification covers every heading of it, in order, and invents none."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.docs.blocks import FENCE
from tests.specification.conftest import SEEDS

DATA = Path(__file__).parent / "sections"
DOCUMENTS = sorted(SEEDS.iterdir())


def list_headings(path: Path) -> list[tuple[int, str]]:
    """Level and text: outside of code, or in plain text the short lines between blank ones."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        found = re.findall(r"^(#+) (.+?) *$", FENCE.sub("", text), flags=re.MULTILINE)
        return [(len(marks), heading) for marks, heading in found]
    alone = re.findall(r"(?:\A|(?<=\n\n))([A-Z][^\n]{0,58}[^\s.:,;(])(?=\n\n)", text)
    return [(1 if place == 0 else 2, heading) for place, heading in enumerate(alone)]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_every_heading_of_a_document_has_its_row(path: Path) -> None:
    """Named as the document names it, in its order, each as often as it stands there."""
    rows = tomllib.loads((DATA / f"{path.stem}.toml").read_text(encoding="utf-8"))["section"]
    assert [(row["level"], row["heading"]) for row in rows] == list_headings(path)


def test_no_document_is_invented() -> None:
    """Each file of rows belongs to a document."""
    rows = {path.stem for path in DATA.glob("*.toml")} - {"settled"}
    assert rows == {path.stem for path in DOCUMENTS}


def test_the_rows_copy_no_sentence() -> None:
    """Headings may be named; the text is not ours to ship."""
    sentence = re.compile(r"[A-Z][^.\n|]{40,}\.")
    theirs = {one for path in DOCUMENTS for one in sentence.findall(path.read_text())}
    ours = (DATA / "settled.toml").read_text(encoding="utf-8")
    assert [one for one in theirs if one in ours] == []
