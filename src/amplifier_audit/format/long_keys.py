"""Finds keys that are too long in JSON, without reading it: from one quote to the next far away.

A look at every key costs more than all the rest of a record, and nearly no body has a long one.
"""

from __future__ import annotations

from amplifier_audit.format.limits import KEY_LIMIT

# A key that is too long has so many bytes between its quotes, or more.
_SPAN = KEY_LIMIT + 1


def may_have_long_key(text: bytes) -> bool:
    """Whether a key may be over the limit; False is certain. Takes many bodies with one call."""
    if len(text) <= _SPAN:
        return False
    # One letter is found much faster than two, and often there is none.
    if b"\\" in text and b'\\"' in text:
        # Of the same length, but with no quote that is not the end of a text.
        text = text.replace(b"\\\\", b"..").replace(b'\\"', b"..")
    start, last, find_before = 0, len(text) - _SPAN, text.rfind
    while start <= last:
        quote = find_before(b'"', start, start + _SPAN)
        if quote < 0:
            quote = text.find(b'"', start + _SPAN)
            if quote < 0:
                return False
            if text[quote + 1 : quote + 2] == b":":
                return True
        start = quote + 1
    return False
