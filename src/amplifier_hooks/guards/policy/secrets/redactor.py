"""Finding secrets in text, in its encodings and in nested data, and replacing them."""

from __future__ import annotations

import base64
import binascii
import re
import string
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from amplifier_core.utils.nested import KnownTexts, iterate_parts, rewrite
from amplifier_hooks.guards.policy.patterns import (
    Pattern,
    PatternSet,
    compile_pattern,
    share_patterns,
)
from amplifier_hooks.guards.policy.secrets.checks import (
    BEGUN_TOKEN,
    CHECKS,
    is_folder_name,
    is_sample,
)
from amplifier_hooks.guards.policy.secrets.shapes import GUESSES, SECRET_KEY, TOKENS, ends_in_name
from amplifier_hooks.guards.policy.secrets.stream import HeldStream, build_holds

_SHORTEST = 2_000
_STARTS = ("iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR")
"""Of PNG, JPEG, GIF and WebP."""
_BASE64_TEXT = re.compile(r"[A-Za-z0-9+/]+={0,2}")


def is_picture(text: str) -> bool:
    """Whether a text is a picture and nothing else; most texts are told by their length."""
    if len(text) < _SHORTEST or not text.startswith(_STARTS):
        return False
    return _BASE64_TEXT.fullmatch(text) is not None


_PERCENT = re.compile(r"%[0-9A-Fa-f]{2}")
_BASE64_WORD = re.compile(r"[A-Za-z0-9+/_\-]{24,}={0,2}")
_WRAP = re.compile(r"\\?\r?\n[ \t]{0,16}")
_LINE_END = re.compile(r"\\?\r?\n[ \t]{0,16}(?=[A-Za-z0-9+/_\-.=])")
_LONGEST_LINE = 240
_TOKEN_LETTERS = string.ascii_letters + string.digits + "+/_-.="


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
    if "\n" not in text:
        return None
    ends = (match.start() for match in _LINE_END.finditer(text))
    if not any(_ends_in_token(text, end) for end in ends):
        return None
    return Reading(text, ((m.start(), m.end(), "") for m in _WRAP.finditer(text)))


def _ends_in_token(text: str, end: int) -> bool:
    line = text[max(0, end - _LONGEST_LINE) : end]
    word = line[len(line.rstrip(_TOKEN_LETTERS)) :]
    return BEGUN_TOKEN.search(word) is not None


def find_base64(text: str) -> Iterator[tuple[int, int, str]]:
    """The parts of a text that are printable text in base64: start, end, and what they say."""
    for match in _BASE64_WORD.finditer(text):
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


SHAPES: Mapping[str, str] = {**TOKENS, **GUESSES}
"""Their names stand in the replacement: `[REDACTED:github-token]`. Earlier ones name an overlap."""

KEY_VALUE = "key-value"
RANDOM = "random-token"
_SHORT = 200
_REMEMBERED = 4096
# Conversations hold these texts anyway, so that remembering one costs no copy of it.
_LONGEST_REMEMBERED = 500_000
_REMEMBERED_CHARACTERS = 4_000_000
_SHORTEST_VALUE = 4
_REFERENCE_KEY = re.compile(
    r"(?i)(?:^|[_\-.])(?:id|ids|uid|name|model|type)$|Ids?$|signature|digest|hash|checksum|etag|nonce|"
    r"cursor|encrypted|fingerprint|sha\d*$|commit|revision|^data$|checkpoint|root|proof|public"
)
_DIGEST = re.compile(r"[0-9a-f]{64}")
_NEVER_SAMPLES = frozenset(
    {"private-key", "private-key-end", "jwt", "azure-sas", "slack-webhook", "kubernetes-secret"}
    | {"kubernetes-data", "cookie", "url-password", "aws-access-key"}
)
_PLACEHOLDER = re.compile(r"x{10}|X{10}|\*{10}|\.{10}")
# A rejected find that is longer is not looked through by itself, but again with the whole text.
_LONGEST_RETRY = 420
_MOST_ROUNDS = 8
_FEWER_ROUNDS = 3
_LARGE = 1_000_000


@dataclass(frozen=True, slots=True)
class Span:
    """Where a secret stands in a text, and the name of its shape."""

    start: int
    end: int
    name: str

    def move(self, start: int, end: int) -> Span:
        """The same find at another place."""
        return Span(start, end, self.name)


class Redactor:
    """Replaces what has the shape of a secret by `[REDACTED:name]`; a scrubber for sessions.

    `allow` are expressions of values that are no secrets although they look like one.
    """

    is_constant = True
    """It always says the same of a text, so a trail need not ask again."""

    def __init__(
        self, shapes: Mapping[str, str], owner: str, replacement: str, allow: Iterable[str] = ()
    ) -> None:
        self._finder = _Finder(shapes, owner)
        self._allow = [compile_pattern(rf"^(?:{source})$", owner) for source in allow]
        self._by_key = compile_pattern(SECRET_KEY, owner) if KEY_VALUE in shapes else None
        self._replacement = replacement
        self._build_holds = partial(build_holds, shapes, owner)
        self._holds: PatternSet | None = None
        self._harmless: set[str] = set()
        self._remembered = 0
        self._known = KnownTexts()
        # Each record of a trail has new digests, and no shape of ours is that of one.
        self._has_no_hex = all(SHAPES.get(name) == source for name, source in shapes.items())
        self._plain_keys: set[str] = set()
        self.marks = frozenset(self._make_mark(name) for name in (*shapes, KEY_VALUE))
        """What stands in the place of secrets."""

    # All shapes, guesses too: for what is shown, recorded or sent to a model

    def __call__(self, text: str) -> str:
        return self.redact_text(text)

    def redact_text(self, text: str) -> str:
        """The text with its secrets replaced; the very same object if it has none."""
        if text in self._harmless or is_picture(text):
            return text
        if self._has_no_hex and _DIGEST.fullmatch(text):
            return text
        spans = self.find_spans(text)
        if not spans:
            self._remember(text)
        return self._replace(text, spans)

    def _remember(self, text: str) -> None:
        """Most texts come again and again: names of tools, and with each request all messages."""
        if len(text) > _LONGEST_REMEMBERED:
            return
        self._remembered += len(text)
        if len(self._harmless) >= _REMEMBERED or self._remembered > _REMEMBERED_CHARACTERS:
            self._harmless.clear()
            self._remembered = len(text)
        self._harmless.add(text)

    def scrub_keyed(self, text: str, key: Any) -> str:
        """The text with its secrets replaced; all of it, if its key says that it is one."""
        is_named = self._is_secret_key(key) and not is_folder_name(key, text)
        if not is_named and isinstance(key, str) and _REFERENCE_KEY.search(key):
            return self._redact_reference(text)
        if is_named and text not in self.marks and len(text) >= _SHORTEST_VALUE:
            return self._make_mark(KEY_VALUE)
        return self.redact_text(text)

    def _redact_reference(self, text: str) -> str:
        """The text under a key such as `id` or `signature`, which others have to find again."""
        named = self._finder.find(text, [one for one in self._finder.names if one != RANDOM])
        return self._replace(text, self._clean(text, named))

    def redact(self, value: Any) -> Any:
        """The value with every text in it redacted, keys too; the same object if none changed."""
        return rewrite(value, self.scrub_keyed, known=self._known)

    def find_spans(self, text: str) -> list[Span]:
        """Where the secrets stand, in order, overlaps joined."""
        return self._clean(text, self._finder.find(text, self._finder.names))

    def open_stream(self) -> HeldStream:
        """A stream that hides secrets also where they are split over its pieces."""
        if self._holds is None:
            self._holds = self._build_holds()
        return HeldStream(self._holds, self.find_spans, self._make_mark)

    # Tokens alone: for what a tool is about to write or run

    def find_tokens(self, value: Any) -> list[tuple[str, str]]:
        """The tokens in nested data: the name of each shape, with the key that it stands under."""
        found: dict[tuple[str, str], None] = {}
        for key, part in iterate_parts(value):
            texts = [(key, part), *((name, name) for name in _list_keys(part))]
            for place, text in texts:
                spans = self._find_token_spans(_read_text(text))
                found |= {(span.name, str(place or "")): None for span in spans}
        return list(found)

    def redact_tokens(self, value: Any) -> Any:
        """The value with the tokens in it replaced, and nothing else."""
        return rewrite(value, lambda text, _: self._replace(text, self._find_token_spans(text)))

    def _find_token_spans(self, text: str) -> list[Span]:
        return self._clean(text, self._finder.find(text, self._finder.tokens)) if text else []

    # Both

    def _clean(self, text: str, spans: Iterable[Span]) -> list[Span]:
        wanted = [one for one in spans if not self._is_allowed(text[one.start : one.end], one.name)]
        return list(_join_overlaps(sorted(wanted, key=lambda one: (one.start, -one.end))))

    def _is_allowed(self, found: str, name: str) -> bool:
        if found in self.marks or any(pattern.occurs_in(found) for pattern in self._allow):
            return True
        if _PLACEHOLDER.search(found):
            return True
        return name in SHAPES and name not in _NEVER_SAMPLES and is_sample(found)

    def _replace(self, text: str, spans: Sequence[Span]) -> str:
        if not spans:
            return text
        pieces = []
        position = 0
        for span in spans:
            pieces += [text[position : span.start], self._make_mark(span.name)]
            position = span.end
        return "".join([*pieces, text[position:]])

    def _make_mark(self, name: str) -> str:
        return self._replacement.replace("{name}", name)

    def _is_secret_key(self, key: Any) -> bool:
        if self._by_key is None or not isinstance(key, str) or key in self._plain_keys:
            return False
        if self._by_key.occurs_in(key):
            return True
        if len(key) <= _SHORT and len(self._plain_keys) < _REMEMBERED:
            self._plain_keys.add(key)
        return False


class _Finder:
    """Looks for a set of shapes in a text and in its other readings."""

    def __init__(self, shapes: Mapping[str, str], owner: str) -> None:
        self.names = tuple(shapes)
        self.tokens = tuple(name for name in shapes if name not in GUESSES)
        self._patterns = share_patterns(tuple(shapes.values()), owner)

    def find(self, text: str, names: Collection[str]) -> Iterator[Span]:
        """Every find of these shapes, in no order; finds may overlap."""
        plain = list(self._find_plain(text, names))
        yield from plain
        if (percent := read_percent(text)) is not None:
            for span in self._find_plain(percent.text, names):
                yield span.move(*percent.locate(span.start, span.end))
        if (wrapped := read_wrapped(text)) is not None:
            # A guess ends with its line, and does not tell where a token in its place does.
            known = [one for one in plain if one.name in self.tokens]
            for span in self._find_plain(wrapped.text, self.tokens):
                moved = span.move(*wrapped.locate(span.start, span.end))
                if moved.name in names and _is_split(text, moved, known):
                    yield self._shorten(text, moved)
        for start, end, said in find_base64(text):
            is_word = said.strip().isalnum()
            wanted = names if is_word else [one for one in names if one != RANDOM]
            for span in self._find_plain(said, wanted):
                yield span.move(start, end)

    def _find_plain(self, text: str, names: Collection[str]) -> Iterator[Span]:
        for number, pattern in self._patterns.find_candidates(text):
            if self.names[number] in names:
                yield from _find_checked(pattern, self.names[number], text, 0)

    def _shorten(self, text: str, span: Span) -> Span:
        """A find in joined lines without those lines that it does not need."""
        joined = ""
        position = span.start
        for line in text[span.start : span.end].splitlines(keepends=True):
            joined += line.strip().removesuffix("\\")
            position += len(line)
            if "\n" in text[span.start : position].rstrip() and any(
                one.name == span.name for one in self._find_plain(joined, (span.name,))
            ):
                return span.move(span.start, position - len(line) + len(line.rstrip()))
        return span


def _find_checked(pattern: Pattern, name: str, text: str, offset: int) -> Iterator[Span]:
    """The finds of one shape that stand up to its check, if it has one."""
    check = CHECKS.get(name)
    searched = text
    for _ in range(_MOST_ROUNDS if len(text) < _LARGE else _FEWER_ROUNDS):
        names: list[int] = []
        for start, end in pattern.find_spans(searched):
            if check is None or check(text, start, end):
                yield Span(offset + start, offset + end, name)
            elif name == RANDOM:
                continue  # it is one word, in which there is no other
            elif end - start > _LONGEST_RETRY or ends_in_name(text, start, end):
                # What was taken for a value is the name of one: `secret: password: hunter22`.
                names.append(start)
            else:
                # It may have swallowed another one: `token: "say password=hunter22"`.
                yield from _find_checked(pattern, name, text[start:end], offset + start)
        if not names:
            return
        searched = _cut_before(searched, names)


def _cut_before(text: str, places: Iterable[int]) -> str:
    """The text with a sign before these places that ends whatever stands before it."""
    letters = list(text)
    for place in places:
        letters[place - 1] = ";"
    return "".join(letters)


def _is_split(text: str, span: Span, known: Sequence[Span]) -> bool:
    """Whether a find in joined lines goes over a line end, and no token was found there before."""
    found = any(one.start <= span.start < one.end for one in known)
    return not found and "\n" in text[span.start : span.end]


def _read_text(part: Any) -> str:
    if isinstance(part, str):
        return part
    return part.decode(errors="replace") if isinstance(part, bytes | bytearray) else ""


def _list_keys(part: Any) -> list[str]:
    return [key for key in part if isinstance(key, str)] if isinstance(part, Mapping) else []


def _join_overlaps(spans: Iterable[Span]) -> Iterator[Span]:
    """Overlapping finds as one, under the name of the first."""
    current: Span | None = None
    for span in spans:
        if current is not None and span.start < current.end:
            current = Span(current.start, max(current.end, span.end), current.name)
        else:
            if current is not None:
                yield current
            current = span
    if current is not None:
        yield current
