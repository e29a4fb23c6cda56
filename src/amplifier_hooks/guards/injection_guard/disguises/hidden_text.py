"""Characters that people do not see, and what they say."""

from __future__ import annotations

import re
from collections.abc import Iterator

from amplifier_hooks.guards.injection_guard.finding import Finding

KIND = "hidden-text"

_TAG_RUN = re.compile("[\U000e0000-\U000e007f]+")
_FLAG = re.compile("[\U000e0030-\U000e0039\U000e0061-\U000e007a]{2,6}\U000e007f")
_BLACK_FLAG = "\U0001f3f4"
_SELECTOR_RUN = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")
_UNSEEN_RUN = re.compile(
    "[\u200b-\u200f\u2060-\u2064\u206a-\u206f\ufeff\u180e\u034f\u00ad\u202a-\u202e\u2066-\u2069]{6,}"
)
_SPRINKLED = re.compile("(?<=[A-Za-z ,.])[\u200b-\u200d\u2060-\u2064\ufeff](?=[A-Za-z ,.])")
_MOST_SPRINKLED = 24
_OVERRIDE = re.compile("[\u202d\u202e][^\u202c\n]*")
_CONCEALING = re.compile(r"\x1b\[([0-9;]{0,32})m[^\x1b]*")
_CLIPBOARD = re.compile(r"\x1b\]52;[^\x07\x1b]*")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]+")
_BLANK = re.compile(r"\s{24,}")
_MOST_LINES, _MOST_COLUMNS = 24, 160
"""More than that, and what follows is out of view."""
_CONCEAL = "8"
_COLOURS = {"38": {"5": 2, "2": 4}, "48": {"5": 2, "2": 4}, "58": {"5": 2, "2": 4}}


def find_hidden_text(text: str, *, strict: bool) -> Iterator[Finding]:
    """Every hidden part; `strict` for short texts that have no reason for control characters."""
    if not text.isascii():
        yield from _find_unseen(text)
    if "\x1b" in text:
        yield from _find_concealed(text)
    if strict:
        yield from _mark(_CONTROL, text)
        yield from _find_out_of_view(text)


def _find_unseen(text: str) -> Iterator[Finding]:
    for found in _TAG_RUN.finditer(text):
        is_flag = text[found.start() - 1 : found.start()] == _BLACK_FLAG
        if not (is_flag and _FLAG.fullmatch(found.group())):
            yield Finding(found.start(), found.end(), KIND)
    for pattern in (_SELECTOR_RUN, _UNSEEN_RUN, _OVERRIDE):
        yield from _mark(pattern, text)
    sprinkled = list(_SPRINKLED.finditer(text))
    if len(sprinkled) >= _MOST_SPRINKLED:
        yield Finding(sprinkled[0].start(), sprinkled[-1].end(), KIND)


def _find_concealed(text: str) -> Iterator[Finding]:
    yield from _mark(_CLIPBOARD, text)
    for found in _CONCEALING.finditer(text):
        if _conceals(found.group(1).split(";")):
            yield Finding(found.start(), found.end(), KIND)


def _find_out_of_view(text: str) -> Iterator[Finding]:
    for found in _BLANK.finditer(text):
        lines = found.group().split("\n")
        far = len(lines) > _MOST_LINES or max(map(len, lines)) >= _MOST_COLUMNS
        if far and found.end() < len(text):
            end = text.find("\n", found.end())
            yield Finding(found.start(), end if end >= 0 else len(text), KIND)


def _conceals(codes: list[str]) -> bool:
    """Whether a terminal would hide what follows: 8 does, unless it is part of a colour."""
    position = 0
    while position < len(codes):
        code, following = codes[position], codes[position + 1 : position + 2]
        if code == _CONCEAL:
            return True
        position += 1 + _COLOURS.get(code, {}).get(following[0] if following else "", 0)
    return False


def _mark(pattern: re.Pattern[str], text: str) -> Iterator[Finding]:
    return (Finding(one.start(), one.end(), KIND) for one in pattern.finditer(text))
