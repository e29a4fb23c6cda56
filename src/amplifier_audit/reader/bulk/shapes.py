"""Recognizes records that are built like others which the strict parser has taken.

A shape is the text of such a record, from `time` to `body`, with holes in the places of some
values. A hole takes plain values like those that were met there: texts of printable ASCII in which
surrogates come in pairs only, numbers of at most 15 digits before the point and 17 behind it and
without an exponent, true, false and null. All else is compared byte by byte. So what fits a shape
has the keys, the order and the nesting of a record that was taken, no key twice, and nothing that
the strict parser refuses.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from amplifier_audit.format.own_records import OWN_TYPES
from amplifier_audit.reader.bulk.skeletons import Skeletons
from amplifier_audit.reader.bulk.tokens import KEY, NUMBER, split_tokens

# Only one in so many records without a shape is looked at closely, because that takes a while. A
# prime: what comes again and again in the same order must not always be met at the same place.
EVERY = 7
# A shape is made when so many were looked at, because that takes as long as reading hundreds.
ENOUGH = 6
# Bounds, for records that no two are alike of.
MOST_TOKENS = 300
MOST_SHAPES = 16
MOST_BUILDS = 500
LONG = 64

_INSIDE = rb"[ !#-\[\]-~]*+"
_PLAIN = rb'"%b"' % _INSIDE
_ESCAPED = rb'"%b(?:\\["\\/bfnrt]%b)*+"' % (_INSIDE, _INSIDE)
_UNICODE = (
    rb'"%b(?:\\(?:["\\/bfnrt]|u(?:[0-9a-ce-f][0-9a-f]{3}|d[0-7][0-9a-f]{2}'
    rb'|d[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}))%b)*+"'
) % (_INSIDE, _INSIDE)
_WORD = rb"(?:null|true|false)"
# What was met in a hole, and what it takes then. A text takes the ones before it as well; the more
# a pattern takes, the longer it takes to make.
_TEXTS = {1: _PLAIN, 2: _ESCAPED, 4: _UNICODE}
_OTHERS = {8: NUMBER, 16: _WORD}
_VALUE = rb"(?:%b|%b|%b)" % (_UNICODE, NUMBER, _WORD)
_MEMBERS = re.compile(
    rb'"time":%b(?:,"(?:mono|session|turn|event|hook|registration)":%b){6},"type":(%b),'
    % (_UNICODE, _VALUE, _UNICODE)
)
_TYPE = b',"type":"'
# Where the values of these members stand among the tokens: key, value, comma, and so on.
_TIME, _MONO, _SESSION, _TURN, _KIND = 1, 4, 7, 10, 22
_SELDOM = frozenset({_TIME, _MONO, _SESSION, _TURN})

NOTHING = rb"(?!)"
"""The pattern of a shape that no record has."""

Tokens = tuple[bytes | int, ...]
"""The text of a record in pieces; a number is a hole, and says what was met there."""


class Shape:
    """One shape; `next` is the one that the last record after such a one had."""

    __slots__ = ("fits", "names_session", "next")

    def __init__(self, pattern: bytes, *, names_session: bool = False) -> None:
        self.fits = re.compile(pattern).fullmatch
        self.names_session = names_session
        self.next = self


@dataclass(slots=True)
class _Build:
    """Records that differ in nothing but values: which values never differed, and their shape.

    Those are compared as a part of the shape, which is quicker.
    """

    common: Tokens
    seen: int = 0
    due: int = ENOUGH
    shape: Shape | None = None

    def add(self, tokens: Tokens) -> bool:
        """One more record; whether it is time for a new shape, which is ever less often."""
        self.common = tuple(map(_merge, self.common, tokens))
        self.seen += 1
        if self.seen < self.due:
            return False
        self.due *= 2
        return True


class Shapes:
    """The shapes that were learned; a bounded number, whatever the records are like."""

    __slots__ = ("_builds", "_met", "_shapes", "skeletons")

    def __init__(self) -> None:
        self.skeletons = Skeletons()
        self._met = 0
        self._builds: dict[tuple[bytes, ...], _Build] = {}
        # By type and by how many keys there are, because that is soon told.
        self._shapes: dict[tuple[bytes, int], list[Shape]] = {}

    def find(self, line: bytes, start: int, end: int) -> Shape | None:
        """A shape that this part of a line fits."""
        # The first that looks like the type is it, in whatever has a shape; else none fits.
        at = line.find(_TYPE, start, end) + len(_TYPE) - 1
        kind = line[at : line.find(b'"', at + 1, end) + 1]
        shapes = self._shapes.get((kind, line.count(KEY, start, end)), [])
        for place, shape in enumerate(shapes):
            if shape.fits(line, start, end):
                shapes.insert(0, shapes.pop(place))
                return shape
        return None

    def learn(self, content: bytes, type: str) -> None:
        """The strict parser has taken this, the members from `time` to `body`; no shape fitted.

        The log's own records are all looked at: `type` is as read, since bytes may spell it oddly.
        """
        if type in OWN_TYPES:
            return
        self.skeletons.learn(content)
        self._met += 1
        found = None if self._met % EVERY else _MEMBERS.match(content)
        if found is None:
            return
        tokens = split_tokens(content)
        if 0 < len(tokens) <= MOST_TOKENS:
            self._add(found[1], tokens)

    def _add(self, kind: bytes, tokens: list[bytes]) -> None:
        fixed = tuple(b"" if _is_value(at, token) else token for at, token in enumerate(tokens))
        opened = _open_holes(tokens)
        if len(self._builds) >= MOST_BUILDS and fixed not in self._builds:
            self._builds.clear()
            self._shapes.clear()
        build = self._builds.setdefault(fixed, _Build(opened))
        if build.add(opened):
            keys = sum(token.count(KEY) for token in tokens)
            shapes = self._shapes.setdefault((kind, keys), [])
            if build.shape in shapes:
                shapes.remove(build.shape)
            build.shape = _make_shape(build.common)
            shapes.insert(0, build.shape)
            del shapes[MOST_SHAPES:]


def _make_shape(tokens: Tokens) -> Shape:
    parts = [_make_hole(one) if isinstance(one, int) else re.escape(one) for one in tokens]
    return Shape(b"".join(parts), names_session=tokens[_SESSION] != b"null")


def _make_hole(kinds: int) -> bytes:
    texts = [pattern for kind, pattern in _TEXTS.items() if kind & kinds]
    others = [pattern for kind, pattern in _OTHERS.items() if kind & kinds]
    return rb"(?:%b)" % b"|".join(texts[-1:] + others)


def _merge(old: bytes | int, new: bytes | int) -> bytes | int:
    """The same piece, or a hole for both."""
    return old if old == new else _classify(old) | _classify(new)


def _classify(token: bytes | int) -> int:
    if isinstance(token, int):
        return token
    if token.startswith(b'"'):
        return 4 if b"\\u" in token else 2 if b"\\" in token else 1
    return 16 if token in (b"null", b"true", b"false") else 8


def _is_value(at: int, token: bytes) -> bool:
    """Whether a shape may have a hole here; its type is always a part of it."""
    if at == _KIND or (at == _SESSION and token == b"null"):
        return False
    return token[-1:] not in b":[]{},"


def _open_holes(tokens: list[bytes]) -> Tokens:
    """With holes for what is seldom the same twice."""
    return tuple(
        _classify(token) if (at in _SELDOM or len(token) > LONG) and _is_value(at, token) else token
        for at, token in enumerate(tokens)
    )
