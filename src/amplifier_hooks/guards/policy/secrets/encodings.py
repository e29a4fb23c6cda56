"""Other readings of a text: percent-escapes decoded, wrapped lines joined, base64 decoded.

A secret that is found in a reading is hidden where it stands in the text itself.
"""

from __future__ import annotations

import base64
import binascii
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

_PERCENT = re.compile(r"%[0-9A-Fa-f]{2}")
_BASE64 = re.compile(r"[A-Za-z0-9+/_\-]{24,}={0,2}")
_WRAP = re.compile(r"\\?\r?\n[ \t]{0,16}")
# The beginning of a token, and its line runs out before it is decided.
_WRAPPED_TOKEN = re.compile(
    r"(?:sk-|sk_|rk_|gh[pousr]_|github_pat_|gl[a-z]{2,5}-|A[KS]IA|xox[a-z]|xapp-|AIza|GOCSPX-|ya29\.|"
    r"npm_|pypi-|hf_|gsk_|xai-|pplx-|r8_|SG\.|dapi|do[oprt]_v1_|shp[a-z]{2}_|hv[sbr]\.|eyJ|"
    r"AGE-SECRET|dckr_|glsa_|sntry|lin_|ntn_|ATATT|NRAK-|PMAK-|rubygems_|whsec_|pscale_|dp\.)"
    r"[A-Za-z0-9+/_\-.=]{0,200}\\?\r?\n[ \t]{0,16}[A-Za-z0-9+/_\-.=]"
)


class Reading:
    """A text as it reads once decoded, which knows where each letter stands in the original."""

    def __init__(self, original: str, cuts: Iterable[tuple[int, int, str]]) -> None:
        """`cuts` are the parts that read differently: start, end, and what they say."""
        pieces: list[str] = []
        self._starts: list[int] = []
        self._origins: list[int] = []
        length = position = 0
        for start, end, said in cuts:
            for piece, origin in ((original[position:start], position), (said, start)):
                self._starts.append(length)
                self._origins.append(origin)
                pieces.append(piece)
                length += len(piece)
            position = end
        self._starts.append(length)
        self._origins.append(position)
        self.text = "".join([*pieces, original[position:]])

    def locate(self, start: int, end: int) -> tuple[int, int]:
        """Where a part of the reading stands in the original."""
        return self._locate(start), self._locate(end - 1) + 1

    def _locate(self, place: int) -> int:
        piece = bisect_right(self._starts, place) - 1
        return self._origins[piece] + place - self._starts[piece]


def read_percent(text: str) -> Reading | None:
    """The text with its percent-escapes decoded; None if it has none."""
    if not _PERCENT.search(text):
        return None
    found = _PERCENT.finditer(text)
    return Reading(text, ((m.start(), m.end(), chr(int(m.group()[1:], 16))) for m in found))


def read_wrapped(text: str) -> Reading | None:
    """The text with its lines joined; None if no token runs over the end of its line."""
    if not _WRAPPED_TOKEN.search(text):
        return None
    return Reading(text, ((m.start(), m.end(), "") for m in _WRAP.finditer(text)))


def find_base64(text: str) -> Iterator[tuple[int, int, str]]:
    """The parts of a text that are printable text in base64: start, end, and what they say."""
    for match in _BASE64.finditer(text):
        said = _decode(match.group())
        if said is not None:
            yield match.start(), match.end(), said


def _decode(word: str) -> str | None:
    standard = word.rstrip("=").replace("-", "+").replace("_", "/")
    whole = standard[: len(standard) - (len(standard) % 4 == 1)]
    try:
        said = base64.b64decode(whole + "=" * (-len(whole) % 4), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return None
    return said if all(letter.isprintable() or letter in "\r\n\t" for letter in said) else None
