"""Parts of a text that say something else once decoded."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from urllib.parse import unquote

from amplifier_hooks.guards.policy.patterns import share_patterns
from amplifier_hooks.guards.policy.secrets.redactor import find_base64

Decoded = tuple[int, int, str]
"""Start, end, and what the part says."""

_FIRST_SELECTORS, _MORE_SELECTORS = 0xFE00, 0xE0100 - 16
_SIGNS = {ord(sign): None for sign in " .-_*|/"}


def _decode_base64(part: str) -> str:
    return "\n".join(said for _, _, said in find_base64(part))


def _decode_percent(part: str) -> str:
    return unquote(part.replace("+", " "))


def _decode_escapes(part: str) -> str:
    return "".join(chr(int(one[-2:], 16)) for one in part.split("\\") if one)


def _decode_hexadecimal(part: str) -> str:
    digits = part.replace(" ", "")
    said = bytes.fromhex(digits[: len(digits) // 2 * 2]).decode("utf-8", errors="replace")
    return said if said.isprintable() else ""


def _squeeze(part: str) -> str:
    """`i g n o r e   t h i s` as words; one space between letters is no space between words."""
    words = re.split(r"[ ]{2,3}", part)
    return " ".join(word.translate(_SIGNS) for word in words)


def _read_selectors(part: str) -> str:
    codes = bytearray()
    for one in part:
        code = ord(one)
        codes.append(code - (_FIRST_SELECTORS if code < 0x10000 else _MORE_SELECTORS))
    return codes.decode("utf-8", errors="replace")


_FORMS: dict[str, Callable[[str], str]] = {
    r"[A-Za-z0-9+/_\-]{24,}={0,2}": _decode_base64,
    r"[\w.~+'\-]*%[0-9A-Fa-f]{2}[\w.~+'\-]*%[0-9A-Fa-f]{2}[\w.~+'%\-]*": _decode_percent,
    r"(?:&#(?:[xX][0-9A-Fa-f]{1,6}|[0-9]{1,7});[ ]?){4,}": html.unescape,
    r"(?:\\(?:u00|x)[0-9A-Fa-f]{2}){4,}": _decode_escapes,
    r"\b(?:[0-9A-Fa-f]{2}[ ]?){20,}": _decode_hexadecimal,
    r"\b(?:[A-Za-z](?:[ ]{1,3}|[.\-_*|/]{1,2})){8,}[A-Za-z]\b": _squeeze,
    r"[\x{fe00}-\x{fe0f}\x{e0100}-\x{e01ef}]{4,}": _read_selectors,
}


class Encodings:
    """Base64, percent signs, entities, escapes, hexadecimal, spaced-out letters, selectors."""

    def __init__(self, owner: str) -> None:
        self._patterns = share_patterns(tuple(_FORMS), owner)
        self._decoders = list(_FORMS.values())

    def find(self, text: str) -> Iterator[Decoded]:
        """Every part that could be decoded, with what it says."""
        for number, pattern in self._patterns.find_candidates(text):
            for start, end in pattern.find_spans(text):
                if said := self._decoders[number](text[start:end]):
                    yield start, end, said
