"""The table of languages."""

from __future__ import annotations

from pathlib import Path

from amplifier_hooks.guards.injection_guard.languages.table import LANGUAGES


def test_the_page_names_every_language() -> None:
    """A reader learns which ones `languages` takes."""
    page = Path(__file__).parents[5] / "docs" / "modules" / "hooks-injection-guard.md"
    (line,) = [one for one in page.read_text().splitlines() if one.startswith("| `languages` |")]
    assert all(f"`{name}`" in line for name in LANGUAGES)
    assert {"en", "de", "fr", "es", "zh"} <= set(LANGUAGES)
