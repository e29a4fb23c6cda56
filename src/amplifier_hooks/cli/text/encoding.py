"""Output in any encoding: what a stream cannot write is replaced, never raised.

Our own signs have a likeness in ASCII; any other character is shown as `escape` shows it.
"""

from __future__ import annotations

import codecs
import io
from typing import Any

HANDLER = "amplifier"
_ASCII = "amplifier_ascii"

SIGNS = {
    "·": "-",
    "×": "x",
    "–": "-",
    "—": "--",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
    "•": "*",
    "…": "...",
    "‹": "<",
    "›": ">",
    "↑": "^",
    "→": "->",
    "≥": ">=",
    "↓": "v",
    "⇒": "=>",
    "─": "-",
    "│": "|",
    "╎": ":",
    "█": "#",
    "░": ".",
    "▶": ">",
    "▸": ">",
    "⏎": "<-",
    "├": "|",
    "└": "`",
    "◆": "*",
    "◇": "o",
    "○": "o",
    "●": "*",
    "✓": "+",
    "✕": "x",
    "✗": "x",
}


def replace_unwritable(error: UnicodeError) -> tuple[str, int]:
    """What to write instead of characters that an encoding does not have."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    return "".join(SIGNS.get(ch) or f"\\u{{{ord(ch):X}}}" for ch in lost), error.end


def accept_any_text(*streams: Any) -> None:
    """Let these streams take any text; those that are no text files are left alone."""
    codecs.register_error(HANDLER, replace_unwritable)
    codecs.register(_find_codec)
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            is_ascii = codecs.lookup(stream.encoding).name == "ascii"
            stream.reconfigure(encoding=_ASCII if is_ascii else None, errors=HANDLER)


def _find_codec(name: str) -> codecs.CodecInfo | None:
    """ASCII by another name: click takes a stream of that name for a mistake, and writes UTF-8."""
    if name != _ASCII:
        return None
    ascii_codec = codecs.lookup("ascii")
    return codecs.CodecInfo(
        ascii_codec.encode,
        ascii_codec.decode,
        ascii_codec.streamreader,
        ascii_codec.streamwriter,
        ascii_codec.incrementalencoder,
        ascii_codec.incrementaldecoder,
        name=_ASCII,
    )
