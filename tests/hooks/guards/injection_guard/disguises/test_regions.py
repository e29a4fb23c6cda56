"""Regions: the parts of a document that its readers do not see."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.injection_guard.disguises.regions import LONGEST, Regions

REGIONS = Regions("test")


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("a <!-- a long comment --> b", "<!-- a long comment "),
        ('<p style="x:y; display : none">hidden words</p>', "hidden words"),
        ("<p STYLE='font-size:0px'>hidden words</p>", "hidden words"),
        ('<p style="color: #FFF">hidden words</p>', "hidden words"),
        ("<p hidden>hidden words</p>", "hidden words"),
        ('<i aria-hidden="true">hidden words</i>', "hidden words"),
        ("x\n[//]: # (hidden words)\n", " (hidden words)"),
        ('<img alt="' + "words " * 10 + '">', "words " * 10),
        ("<!-- never closed", "<!-- never closed"),
    ],
)
def test_hidden_parts_are_found(text: str, hidden: str) -> None:
    """Comments, styles, attributes."""
    (found,) = REGIONS.find(text)
    assert text[slice(*found)] == hidden


@pytest.mark.parametrize("text", ["plain", "<p>seen</p>", '<p style="opacity: 0.5">seen words</p>'])
def test_what_is_seen_is_no_region(text: str) -> None:
    """Nor is what is half transparent."""
    assert list(REGIONS.find(text)) == []


def test_no_part_is_looked_through_twice() -> None:
    """However many hidden elements begin in one another."""
    found = list(REGIONS.find("<b hidden>" * 1000))
    assert sum(end - start for start, end in found) <= 10_000
    assert max(end - start for start, end in found) <= LONGEST
