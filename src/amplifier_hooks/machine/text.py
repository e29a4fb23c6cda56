"""Text that is safe to show, to inject or to write down, wherever it comes from."""

from __future__ import annotations

import unicodedata
from typing import Any

from amplifier_core.utils import safe_repr

# Cf holds the bidirectional controls, but also the joiners that scripts and emoji need.
_JOINERS = "\u200c\u200d"


def to_text(value: Any) -> str:
    """A string as it is, anything else by its `repr`."""
    return value if isinstance(value, str) else safe_repr(value)


def strip_controls(text: str, keep: str = "\n\t") -> str:
    """The text without control, bidirectional and unencodable characters."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char
        for char in text
        if char in keep or char in _JOINERS or unicodedata.category(char)[0] != "C"
    )


def to_one_line(value: Any, limit: int) -> str:
    """At most `limit` characters without line breaks; what was cut ends in an ellipsis."""
    text = " ".join(strip_controls(to_text(value)[: limit * 8 + 1000]).split())
    return text if len(text) <= limit else text[: max(limit - 1, 0)].rstrip() + "…"


def clip_text(text: str, limit: int) -> str:
    """At most `limit` characters; what was cut ends in an ellipsis."""
    return text if len(text) <= limit else text[: max(limit - 1, 0)] + "…"


def clip_lines(text: str, limit: int) -> str:
    """The whole lines that fit into `limit` bytes of UTF-8, and how many were left out."""
    clean = strip_controls(text).strip("\n")
    if len(clean.encode()) <= limit:
        return clean
    lines = clean.split("\n")
    kept: list[str] = []
    room = limit - 40
    for line in lines:
        room -= len(line.encode()) + 1
        if room < 0:
            break
        kept.append(line)
    if not kept:
        kept = [lines[0].encode()[: max(limit - 40, 0)].decode(errors="ignore")]
    return "\n".join([*kept, f"… {len(lines) - len(kept)} more lines"])


def count_noun(count: int, noun: str) -> str:
    """`1 issue`, `3 issues`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
