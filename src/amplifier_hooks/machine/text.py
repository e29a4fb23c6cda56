"""Text that is safe to show, to inject or to write down, wherever it comes from."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

from pydantic_core import to_json

from amplifier_core.utils import safe_repr
from amplifier_core.utils.nested import convert

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


_DEEPEST = 40
_MOST_PARTS = 50_000
_LARGEST = 2**63


def encode_json(value: Any) -> bytes:
    """The value as JSON in ASCII, on one line."""
    try:
        return to_json(
            value,
            ensure_ascii=True,
            serialize_unknown=True,
            inf_nan_mode="strings",
            bytes_mode="base64",
        )
    except Exception:  # noqa: BLE001 - a value's own code may raise anything while it is written
        return json.dumps(to_plain(value), ensure_ascii=True).encode("ascii")


def to_plain(value: Any) -> Any:
    """The value as JSON can hold it: other objects by their `repr`, what is too deep as `…`."""
    return convert(
        value,
        _convert_leaf,
        key=to_text,
        max_depth=_DEEPEST,
        max_parts=_MOST_PARTS,
        at_limit=lambda: "…",
    )


def _convert_leaf(value: Any) -> Any:
    if value is None or isinstance(value, bool | str):
        return value
    return _convert_number(value) if isinstance(value, int | float) else safe_repr(value)


def _convert_number(value: float) -> float | str:
    """Keep numbers that every reader of JSON understands; write others as text."""
    return value if abs(value) < _LARGEST else safe_repr(value)
