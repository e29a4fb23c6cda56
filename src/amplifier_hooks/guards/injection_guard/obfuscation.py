"""Text hidden from people, or from patterns: odd letters, encodings, unseen parts."""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import accumulate
from urllib.parse import unquote

from amplifier_hooks.guards.injection_guard.patterns import Finding
from amplifier_hooks.guards.policy.patterns import share_patterns
from amplifier_hooks.guards.policy.secrets.redactor import find_base64

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


HIDDEN_TEXT = "hidden-text"

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
_HIDDEN_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]+")
_BLANK = re.compile(r"\s{24,}")
_MOST_LINES = 24
_MOST_COLUMNS = 160
"""More than that, and what follows is out of view."""
_CONCEAL_CODE = "8"
_COLOURS = {"38": {"5": 2, "2": 4}, "48": {"5": 2, "2": 4}, "58": {"5": 2, "2": 4}}


def find_hidden_text(text: str, *, strict: bool) -> Iterator[Finding]:
    """Every hidden part; `strict` for short texts that have no reason for control characters."""
    if not text.isascii():
        yield from _find_unseen(text)
    if "\x1b" in text:
        yield from _find_concealed(text)
    if strict:
        yield from _find_runs(_HIDDEN_CONTROL, text)
        yield from _find_out_of_view(text)


def _find_unseen(text: str) -> Iterator[Finding]:
    for found in _TAG_RUN.finditer(text):
        is_flag = text[found.start() - 1 : found.start()] == _BLACK_FLAG
        if not (is_flag and _FLAG.fullmatch(found.group())):
            yield Finding(found.start(), found.end(), HIDDEN_TEXT)
    for pattern in (_SELECTOR_RUN, _UNSEEN_RUN, _OVERRIDE):
        yield from _find_runs(pattern, text)
    sprinkled = list(_SPRINKLED.finditer(text))
    if len(sprinkled) >= _MOST_SPRINKLED:
        yield Finding(sprinkled[0].start(), sprinkled[-1].end(), HIDDEN_TEXT)


def _find_concealed(text: str) -> Iterator[Finding]:
    yield from _find_runs(_CLIPBOARD, text)
    for found in _CONCEALING.finditer(text):
        if _conceals(found.group(1).split(";")):
            yield Finding(found.start(), found.end(), HIDDEN_TEXT)


def _find_out_of_view(text: str) -> Iterator[Finding]:
    for found in _BLANK.finditer(text):
        lines = found.group().split("\n")
        far = len(lines) > _MOST_LINES or max(map(len, lines)) >= _MOST_COLUMNS
        if far and found.end() < len(text):
            end = text.find("\n", found.end())
            yield Finding(found.start(), end if end >= 0 else len(text), HIDDEN_TEXT)


def _conceals(codes: list[str]) -> bool:
    """Whether a terminal would hide what follows: 8 does, unless it is part of a colour."""
    position = 0
    while position < len(codes):
        code = codes[position]
        following = codes[position + 1 : position + 2]
        if code == _CONCEAL_CODE:
            return True
        position += 1 + _COLOURS.get(code, {}).get(following[0] if following else "", 0)
    return False


def _find_runs(pattern: re.Pattern[str], text: str) -> Iterator[Finding]:
    return (Finding(one.start(), one.end(), HIDDEN_TEXT) for one in pattern.finditer(text))


Decoded = tuple[int, int, str]
"""Start, end, and what the part says."""

_FIRST_SELECTORS = 0xFE00
_MORE_SELECTORS = 0xE0100 - 16
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


SHORTEST = 12
LONGEST = 4_000
_STYLED = (
    r"(?i)style\s{0,3}=\s{0,3}[\"'][^\"'<>]*(?:display\s{0,3}:\s{0,3}none|"
    r"visibility\s{0,3}:\s{0,3}hidden|font-size\s{0,3}:\s{0,3}0|opacity\s{0,3}:\s{0,3}0[^.\d]|"
    r"color\s{0,3}:\s{0,3}(?:white|#fff|transparent)|left\s{0,3}:\s{0,3}-\d{3,}|"
    r"height\s{0,3}:\s{0,3}0[^.\d])[^<>]*>|"
    r"<\w{1,16}\s[^<>]*\b(?:hidden|aria-hidden\s{0,2}=\s{0,2}[\"']true[\"'])[^<>]*>"
)
_MARKDOWN = r"(?mi)^\s{0,3}\[(?://|comment|_)\]:\s{0,3}(?:#|<>)(?P<said>[^\n]*)"
_ALTERNATIVE = r"(?i)\b(?:alt|title|aria-label)\s{0,2}=\s{0,2}[\"'](?P<said>[^\"'<>]{40,})"


class HiddenRegions:
    """Finds the hidden parts of HTML and Markdown."""

    def __init__(self, owner: str) -> None:
        self._patterns = share_patterns((_STYLED, _MARKDOWN, _ALTERNATIVE), owner)

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Where each hidden part begins and ends, of a long one the beginning; none twice."""
        reached = 0
        for start, end in sorted(self._find_all(text)):
            if start >= reached and end - start >= SHORTEST:
                yield start, end
                reached = end

    def _find_all(self, text: str) -> Iterator[tuple[int, int]]:
        yield from _find_comments(text)
        if "<" not in text and "]:" not in text:
            return
        for number, pattern in self._patterns.find_candidates(text):
            for start, end in pattern.find_spans(text):
                yield _find_content(text, end) if number == 0 else (start, end)


def _find_content(text: str, start: int) -> tuple[int, int]:
    end = text.find("</", start, start + LONGEST)
    return start, end if end >= 0 else min(len(text), start + LONGEST)


def _find_comments(text: str) -> Iterator[tuple[int, int]]:
    start = text.find("<!--")
    while start >= 0:
        end = text.find("-->", start)
        if end < 0:
            yield start, min(len(text), start + LONGEST)
            return
        yield start, end
        start = text.find("<!--", end)
