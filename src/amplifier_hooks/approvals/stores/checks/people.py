"""Telling people apart by their names."""

from __future__ import annotations

import unicodedata


def identify_person(name: str) -> str:
    """The same text for all spellings of one name."""
    return unicodedata.normalize("NFKC", name).casefold().strip()
