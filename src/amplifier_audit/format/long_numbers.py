"""Finds integers in JSON that may be beyond 2^53, without reading it: by how many digits they have.

Every record pays for this look. Digests are full of digits, but stand behind a quote.
"""

from __future__ import annotations

# What a number follows in JSON without spaces becomes a colon, so does its sign; digits become 0.
_KINDS = bytes(
    ord("0") if byte in b"0123456789" else ord(":") if byte in b":,[-" else ord(" ")
    for byte in range(256)
)
# An integer beyond 2^53 has at least so many digits.
_LONG = b":" + b"0" * 16


def may_have_long_number(text: bytes) -> bool:
    """Whether there may be such an integer; False is certain. Takes many objects with one call."""
    return _LONG in text.translate(_KINDS)
