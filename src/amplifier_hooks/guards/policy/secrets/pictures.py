"""Pictures in base64, in which there is nothing to look for: that would take seconds each."""

from __future__ import annotations

import re

_SHORTEST = 2_000
_STARTS = ("iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR")
"""Of PNG, JPEG, GIF and WebP."""
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")


def is_picture(text: str) -> bool:
    """Whether a text is a picture and nothing else; most texts are told by their length."""
    if len(text) < _SHORTEST or not text.startswith(_STARTS):
        return False
    return _BASE64.fullmatch(text) is not None
