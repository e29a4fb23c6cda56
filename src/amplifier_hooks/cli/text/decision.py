"""How a question ended without a person's word for it, in words."""

from __future__ import annotations

_WORDS = {
    "timeout": "nobody decided in time",
    "nobody": "there was nobody to ask",
    "error": "the question could not be asked",
    "invalid": "the answer was none of the options",
    "cache": "as decided before in this session",
    "handed_over": "another program asked its own person",
}


def explain_how(how: object) -> str:
    """Why the gate ended as it did; nothing if somebody decided."""
    return _WORDS.get(str(how), "")
