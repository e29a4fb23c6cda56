"""Streams of text pieces in which secrets are hidden, also where a piece ends inside one."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

from amplifier_hooks.guards.policy.patterns import PatternError, PatternSet
from amplifier_hooks.guards.policy.secrets.shapes import BOUNDARY

_CATEGORIES = {
    "CATEGORY_DIGIT": r"\d",
    "CATEGORY_NOT_DIGIT": r"\D",
    "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w",
    "CATEGORY_NOT_WORD": r"\W",
}
_PLACES = {
    "AT_BEGINNING": "^",
    "AT_BEGINNING_STRING": r"\A",
    "AT_BOUNDARY": r"\b",
    "AT_NON_BOUNDARY": r"\B",
    "AT_END": "$",
    "AT_END_STRING": r"\z",
}
_MOST_REPEATS = 1000


class Unreadable(ValueError):
    """A pattern that this module cannot take apart."""


def build_prefix(source: str) -> str:
    """An expression that finds, at the end of a text, what may become a match of the pattern.

    Its groups begin where the part to hide begins. Raises Unreadable if the pattern uses what
    only RE2 knows.
    """
    try:
        # The parser is not public, but it is the standard library's own, and a failure to read
        # a pattern only means that more is held back.
        tree = importlib.import_module("re._parser").parse(source)
    except (re.error, ImportError, RecursionError, OverflowError) as wrong:
        raise Unreadable(str(wrong)) from wrong
    items = list(tree)
    if _has_name(items):
        return f"(?:{_hold_named(items, [])})\\z"
    boundary = BOUNDARY if _begins_with_letter(items) else ""
    return f"{boundary}({_begin(items)})\\z"


def _hold_named(items: Sequence[Any], rest: Sequence[Any]) -> str:
    """The pattern up to a named group, and the beginnings of that group and what follows it."""
    for place, item in enumerate(items):
        if not _has_name([item]):
            continue
        before = _render(items[:place])
        behind = [*items[place + 1 :], *rest]
        operation, value = item
        if _name(operation) == "SUBPATTERN" and value[0] is not None:
            return f"{before}({_begin([*value[3], *behind])})"
        inner = _list_alternatives(item)
        choices = "|".join(_hold_named(one, behind) for one in inner if _has_name(one))
        return f"{before}(?{_read_flags(item)}:{choices})"
    raise Unreadable("no named group")


def _list_alternatives(item: Any) -> list[list[Any]]:
    operation, value = item
    if _name(operation) == "BRANCH":
        return [list(one) for one in value[1]]
    if _name(operation) == "SUBPATTERN":
        return [list(value[3])]
    raise Unreadable(f"a named group inside {_name(operation)}")


def _has_name(items: Sequence[Any]) -> bool:
    """Whether a capturing group is in there; those without a name are not used by shapes."""
    for operation, value in items:
        kind = _name(operation)
        if kind == "SUBPATTERN" and (value[0] is not None or _has_name(value[3])):
            return True
        if kind == "BRANCH" and any(_has_name(one) for one in value[1]):
            return True
        if kind in {"MAX_REPEAT", "MIN_REPEAT"} and _has_name(value[2]):
            raise Unreadable("a named group that is repeated")
    return False


def _begins_with_letter(items: Sequence[Any]) -> bool:
    if not items:
        return False
    operation, value = items[0]
    kind = _name(operation)
    if kind == "LITERAL":
        return chr(value).isalnum()
    if kind in {"BRANCH", "SUBPATTERN"}:
        return all(_begins_with_letter(one) for one in _list_alternatives(items[0]))
    return kind == "IN" and all(_name(one) in {"LITERAL", "RANGE"} for one, _ in value)


# Beginnings


def _begin(items: Sequence[Any]) -> str:
    """Every beginning of a sequence, the whole of it and the empty one included."""
    if not items:
        return ""
    first = items[0]
    rest = items[1:]
    whole = _render([first])
    begun = _begin_item(first)
    behind = _begin(rest)
    full = f"{whole}{f'(?:{behind})' if behind else ''}"
    return f"(?:{full}|{begun})" if begun else f"(?:{full})?"


def _begin_item(item: Any) -> str:
    """The beginnings of one item that are not the whole of it; "" is none but the empty one."""
    operation, value = item
    kind = _name(operation)
    if kind in {"SUBPATTERN", "BRANCH"}:
        begun = "|".join(_begin(one) for one in _list_alternatives(item))
        return f"(?{_read_flags(item)}:{begun})"
    if kind in {"MAX_REPEAT", "MIN_REPEAT"}:
        return _begin_repeat(value)
    return ""


def _begin_repeat(value: Any) -> str:
    least, most, inner = value
    body = f"(?:{_render(inner)})"
    below = "*" if int(most) > _MOST_REPEATS else f"{{0,{int(most)}}}"
    begun = _begin(inner) if _is_long(inner) else ""
    return f"{body}{below}{begun}" if least or begun else ""


def _is_long(items: Sequence[Any]) -> bool:
    """Whether there is a beginning between nothing and everything."""
    return len(items) > 1 or any(
        _name(operation) in {"SUBPATTERN", "BRANCH", "MAX_REPEAT", "MIN_REPEAT"}
        for operation, _ in items
    )


# Back to text


def _name(operation: Any) -> str:
    return str(operation)


def _render(items: Sequence[Any]) -> str:
    return "".join(_render_item(item) for item in items)


def _render_item(item: Any) -> str:
    operation, value = item
    kind = _name(operation)
    if kind == "BRANCH":
        return "(?:" + "|".join(_render(one) for one in value[1]) + ")"
    if kind == "SUBPATTERN":
        return f"(?{_read_flags(item)}:{_render(value[3])})"
    if kind in {"MAX_REPEAT", "MIN_REPEAT"}:
        return _render_repeat(kind, value)
    return _render_single(kind, value)


def _read_flags(item: Any) -> str:
    operation, value = item
    flags = value[1] if _name(operation) == "SUBPATTERN" else 0
    known = {re.IGNORECASE: "i", re.MULTILINE: "m", re.DOTALL: "s"}
    return "".join(letter for flag, letter in known.items() if flags & flag)


def _render_repeat(kind: str, value: Any) -> str:
    least, most, inner = value
    top = "" if int(most) > _MOST_REPEATS else str(int(most))
    lazy = "?" if kind == "MIN_REPEAT" else ""
    return f"(?:{_render(inner)}){{{least},{top}}}{lazy}"


def _render_single(kind: str, value: Any) -> str:
    if kind == "LITERAL":
        return _escape(value)
    if kind == "NOT_LITERAL":
        return f"[^{_escape(value)}]"
    if kind == "ANY":
        return "."
    if kind == "IN":
        return "[" + "".join(_render_member(one) for one in value) + "]"
    if kind == "AT":
        return _PLACES[_name(value)]
    raise Unreadable(f"{kind} in a pattern")


def _render_member(member: Any) -> str:
    operation, value = member
    kind = _name(operation)
    if kind == "NEGATE":
        return "^"
    if kind == "LITERAL":
        return _escape(value)
    if kind == "RANGE":
        return f"{_escape(value[0])}-{_escape(value[1])}"
    return _CATEGORIES[_name(value)]


def _escape(code: int) -> str:
    return f"\\x{{{code:x}}}"


MARK = "[secret]"


class LiteralScrubber:
    """Replaces known values; a scrubber for sessions."""

    is_constant = True

    def __init__(self, secrets: Collection[str]) -> None:
        # The longest first: one secret may be the beginning of another.
        self._secrets = sorted((one for one in secrets if one), key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, self._secrets)))

    def __call__(self, text: str) -> str:
        return self._pattern.sub(MARK, text) if self._secrets else text

    def open_stream(self) -> LiteralStream:
        """A stream that hides the values also where they are split over its pieces."""
        return LiteralStream(self, self._secrets)


class LiteralStream:
    """Passes on what is decided, and holds back the beginning of a known value."""

    def __init__(self, scrub: LiteralScrubber, secrets: Collection[str]) -> None:
        self._scrub = scrub
        self._secrets = secrets
        self._held = ""

    def feed(self, piece: str) -> str:
        """Take a piece; returns what can be passed on now, its secrets hidden."""
        text = self._scrub(self._held + piece)
        end = len(text) - max(self._measure_beginnings(text), default=0)
        self._held = text[end:]
        return text[:end]

    def flush(self) -> str:
        """What was held back, now that nothing follows."""
        rest = self._held
        self._held = ""
        return rest

    def _measure_beginnings(self, text: str) -> Iterator[int]:
        """How much of the end of a text may become each of the values."""
        for secret in self._secrets:
            longest = min(len(secret) - 1, len(text))
            yield next((n for n in range(longest, 0, -1) if secret.startswith(text[-n:])), 0)


# What was passed on already and is still looked at: names of settings, schemes of addresses.
CONTEXT = 256
MOST_HELD = 4_096
LATE = frozenset({"private-key-end", "kubernetes-data", "marked-token", "random-token"})
"""Shapes that only their end tells from any text or word: nothing is held back for them."""
_LAST_WORD = r"(\S{1,256})\z"


class Found(Protocol):
    """Where a secret stands, and its name."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def name(self) -> str: ...


def build_holds(shapes: Mapping[str, str], owner: str) -> PatternSet:
    """The expressions for what may become a secret; of a pattern nobody can read, any word may."""
    return _build_set(tuple(source for name, source in shapes.items() if name not in LATE), owner)


# A tenth of a second of work, which every session whose model streams would do again.
@lru_cache(maxsize=16)
def _build_set(shapes: tuple[str, ...], owner: str) -> PatternSet:
    sources = dict.fromkeys(_build_hold(source, owner) for source in shapes)
    return PatternSet(list(sources), owner)


def _build_hold(source: str, owner: str) -> str:
    try:
        hold = build_prefix(source)
        PatternSet([hold], owner)
    except (Unreadable, PatternError):
        return _LAST_WORD
    return hold


class HeldStream:
    """Passes on what is decided, and holds back what may be the beginning of a secret."""

    def __init__(
        self,
        holds: PatternSet,
        find: Callable[[str], Sequence[Found]],
        make_mark: Callable[[str], str],
    ) -> None:
        self._holds = holds
        self._find = find
        self._make_mark = make_mark
        self._text = ""
        self._passed = 0
        """How much of the text was passed on; it is kept as context."""

    def feed(self, piece: str) -> str:
        """Take a piece; returns what can be passed on now, its secrets hidden."""
        self._text += piece
        spans = self._find(self._text)
        end = self._choose_end(spans)
        if len(self._text) - end > MOST_HELD:
            end = self._shorten(end, spans)
        return self._pass_on(end, spans)

    def flush(self) -> str:
        """What was held back, now that nothing follows."""
        rest = self._pass_on(len(self._text), self._find(self._text))
        self._text = ""
        self._passed = 0
        return rest

    def _choose_end(self, spans: Sequence[Found]) -> int:
        """Where the part ends that nothing to come can make a secret."""
        starts = [
            start
            for _, pattern in self._holds.find_candidates(self._text)
            for start in pattern.find_group_starts(self._text)
        ]
        end = max(self._passed, min(starts, default=len(self._text)))
        crossing = [one.start for one in spans if one.start < end < one.end]
        return max(self._passed, min(crossing, default=end))

    def _shorten(self, end: int, spans: Sequence[Found]) -> int:
        """Keep memory bounded: cut the middle out of a secret, let go of what is none."""
        half = MOST_HELD // 2
        if any(one.start <= end < one.end for one in spans):
            self._text = self._text[: end + half // 2] + self._text[-half // 2 :]
            return end
        return len(self._text) - half

    def _pass_on(self, end: int, spans: Sequence[Found]) -> str:
        pieces = []
        position = self._passed
        for span in spans:
            if span.end > position and span.start < end:
                pieces += [self._text[position : span.start], self._make_mark(span.name)]
                position = max(position, span.end)
        pieces.append(self._text[position:end])
        cut = max(0, max(end, position) - CONTEXT)
        self._passed = max(end, position) - cut
        self._text = self._text[cut:]
        return "".join(pieces)
