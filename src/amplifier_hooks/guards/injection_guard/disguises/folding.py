"""A text as a model may read it: plain small letters, whatever characters they are written in."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from itertools import accumulate

_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_ESCAPE = re.compile(
    r"\x1b(?:\[[0-9;:?<=>!]{0,64}[ -/]{0,4}[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])"
)
_FILLER = "\u200b"
_UNSEEN = frozenset({"Cc", "Cf", "Mn", "Me"})
_TAGS = 0xE0000
_LOOKALIKES = dict(
    zip(
        "абвгсԁеһіјкӏмпоԛрѕтуԝхцзчьүёїѵԍտոօսցհզրքαβεηικμνοπρτυχωγσɑɡıȷʀɩʋɴꞵʟɢʜᴀʙᴄᴅᴇꜰɪᴊᴋᴍᴏᴘꜱᴛᴜᴠᴡʏᴢ",
        "abbrcdehijklmnoqpstywxu3ybyeivgsnouqhqpqabenikuvonptuxwysagijrivnblghabcdefijkmopstuvwyz",
        strict=True,
    )
)
"""Letters of other scripts, and small capitals, that look like a Latin one."""


class _Table(dict[int, str]):
    """What each character reads as, worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        self[code] = found = _fold(chr(code))
        return found


def _fold(letter: str) -> str:
    code = ord(letter)
    if letter in "\t\n\v\f\r":
        return letter
    if _TAGS + 0x20 <= code < _TAGS + 0x7F:
        return chr(code - _TAGS).lower()
    if unicodedata.category(letter) in _UNSEEN:
        return ""
    plain = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", letter).casefold())
    seen = (one for one in plain if unicodedata.category(one) not in _UNSEEN)
    return "".join(" " if one.isspace() else _LOOKALIKES.get(one, one) for one in seen)


_TABLE = _Table()


class Folded:
    """The plain reading of a text, which knows where each of its letters comes from."""

    def __init__(self, original: str) -> None:
        self._shown = _blank_escapes(original)
        self._plain = original.isascii() and not _CONTROL.search(original)
        self.text = original.lower() if self._plain else self._shown.translate(_TABLE)
        self._ends: list[int] | None = None

    def locate(self, start: int, end: int) -> tuple[int, int]:
        """Where a part of the reading stands in the original."""
        if self._plain:
            return start, end
        if self._ends is None:  # only texts with a find are measured
            self._ends = list(accumulate(len(_TABLE[ord(one)]) for one in self._shown))
        return bisect_right(self._ends, start), bisect_right(self._ends, end - 1) + 1


def _blank_escapes(text: str) -> str:
    """The text, as long as before, with what a terminal does not show taken out."""
    if "\x1b" not in text:
        return text
    return _ESCAPE.sub(lambda found: _FILLER * len(found.group()), text)
