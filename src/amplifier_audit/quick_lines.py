"""Verifying ordinary lines quickly: many at once, by what lines like them were seen to be."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from amplifier_audit.line_verifier import LineVerifier
from amplifier_audit.merkle import LEAF_DIGEST
from amplifier_audit.own_records import OWN_TYPES
from amplifier_audit.record import RECORD_DIGEST, TAIL

LINKS = len(',"prev":""') + 64 + TAIL
"""How long the end of a line is that holds the two hashes."""

# Made once, because to make one takes as long as to cut with it.
_COVERED = slice(-TAIL)
_LEAF = slice(-1)
# How sequences end behind their thousands, which are the same in many that follow each other: to
# put them together takes half as long as to make them.
_BLOCK = 1000
_FIRST = [b"%d," % number for number in range(_BLOCK)]
_LATER = [b"%03d," % number for number in range(_BLOCK)]


def count_alike(size: int) -> int:
    """How many sequences from `size` on have as many digits, and the same thousands."""
    longer: int = 10 ** len(str(size))
    return min(longer - size, _BLOCK - size % _BLOCK)


def are_in_place(lines: Sequence[bytes], start: bytes, size: int) -> bool:
    """Whether the lines begin with `start` and their sequences, which must be alike."""
    thousands, first = divmod(size, _BLOCK)
    before, ends = (start + b"%d" % thousands, _LATER) if thousands else (start, _FIRST)
    expected = before + before.join(ends[first : first + len(lines)])
    head = slice(len(start) + len(str(size)) + 1)
    # One comparison of all: to compare each would take longer.
    return b"".join([line[head] for line in lines]) == expected


def check_links(lines: Sequence[bytes], before: str) -> tuple[list[bytes], str] | None:
    """The leaves of the lines and the hash of the last; None if a link or a hash is wrong."""
    copy_record = RECORD_DIGEST.copy
    copy_leaf = LEAF_DIGEST.copy
    own = before
    leaves: list[bytes] = []
    for line in lines:
        record = copy_record()
        record.update(line[_COVERED])
        stated = record.hexdigest()
        if not line.endswith(f',"prev":"{own}","hash":"{stated}"}}\n'.encode()):
            return None
        own = stated
        leaf = copy_leaf()
        leaf.update(line[_LEAF])
        leaves.append(leaf.digest())
    return leaves, own


NUMBER = rb"-?+(?:0|[1-9][0-9]{0,14}+)(?:\.[0-9]{1,17}+)?+"
"""Numbers about which no two parsers disagree: far from 2^53, and without an exponent."""

KEY = b'":'
"""What a key ends with, and nothing else."""

# Texts, keys with their colon, numbers and words, brackets and commas.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+":?+|[-+.0-9a-zA-Z]++|[][{},]')


def split_tokens(content: bytes) -> list[bytes]:
    """The tokens of what the strict parser has taken; none if there are blanks between them.

    Those are allowed, but no writer makes them.
    """
    tokens = _TOKEN.findall(content)
    return tokens if sum(map(len, tokens)) == len(content) else []


# A close look takes as long as it takes to try some shapes.
OFTEN = 4
# Bounds, for records that no two are alike of: so many skeletons, and none longer than this.
MOST_SKELETONS = 2048
LONGEST = 1024

_ZERO = ord("0")
_SAME_DIGITS = bytes.maketrans(b"0123456789", b"0" * 10)
_has_digit = re.compile(rb"[0-9]").search
_is_plain = re.compile(NUMBER).fullmatch
_has_digits = re.compile(rb"-?+[0-9]{2}").match

Pick = Callable[[bytes], Container[int]]
"""Takes the first digits of all numbers of several digits out of a record with that skeleton."""


class Skeletons:
    """Those that were met often; a bounded number, whatever the records are like."""

    __slots__ = ("_known", "_met")

    def __init__(self) -> None:
        self._known: dict[bytes, Pick] = {}
        # How often those were met that are not known.
        self._met: dict[bytes, int] = {}

    def find_unknown(self, contents: Sequence[bytes]) -> list[int]:
        """The places of the contents of which it is not known that the strict parser takes them."""
        get = self._known.get
        same = _SAME_DIGITS
        zero = _ZERO
        doubt = _doubt
        unknown = [zero in get(one.translate(same), doubt)(one) for one in contents]
        return [place for place, one in enumerate(unknown) if one] if True in unknown else []

    def learn(self, content: bytes) -> None:
        """The strict parser takes this content, and it is none of the log's own records."""
        if len(content) > LONGEST:
            return
        skeleton = content.translate(_SAME_DIGITS)
        met = self._met.get(skeleton, 0) + 1
        if met > OFTEN:
            return
        _make_room(self._met)
        self._met[skeleton] = met
        if met == OFTEN and (pick := _make_pick(content)):
            _make_room(self._known)
            self._known[skeleton] = pick


def _doubt(content: bytes) -> Container[int]:
    """The pick of a skeleton that is not known: a 0, as if there were one too many."""
    return (_ZERO,)


def _make_room(skeletons: dict[bytes, Any]) -> None:
    if len(skeletons) >= MOST_SKELETONS:
        skeletons.clear()


def _make_pick(content: bytes) -> Pick | None:
    """None if other digits could make a difference to the strict parser."""
    places = []
    at = 0
    for token in split_tokens(content):
        if not _is_safe(token):
            return None
        if _has_digits(token):
            places.append(at + token.startswith(b"-"))
        at += len(token)
    return _pick_out(places) if at else None


def _pick_out(places: Sequence[int]) -> Pick:
    """Most records have two, and a slice takes them in less time than a tuple."""
    if len(places) > 2:
        return itemgetter(*places)
    first, last = (places[0], places[-1]) if places else (0, -1)
    return itemgetter(slice(first, last + 1, max(last - first, 1)))


def _is_safe(token: bytes) -> bool:
    if token.endswith(KEY):
        return not _has_digit(token)
    if token.startswith(b'"'):
        return b"\\u" not in token
    return not _has_digit(token) or bool(_is_plain(token))


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
_TIME = 1
_MONO = 4
_SESSION = 7
_TURN = 10
_KIND = 22
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
        if b"\\u" in token:
            return 4
        return 2 if b"\\" in token else 1
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


# So many lines are tried at once: few after some that were not all right, then ever more.
FEWEST = 8
MOST = 128


class LineBatches:
    """Takes whole lines, each within the limit."""

    __slots__ = ("_last", "_most", "_shapes", "_verifier")

    def __init__(self, verifier: LineVerifier, shapes: Shapes) -> None:
        self._verifier = verifier
        self._shapes = shapes
        self._last = Shape(NOTHING)
        self._most = MOST

    def take(self, lines: Sequence[bytes], first: int, stop: int) -> int:
        """Check the ordinary lines from `first` on, up to `stop` records; how many they are."""
        start = self._verifier.size
        while self._take_run(lines, first + self._verifier.size - start, stop):
            pass
        return self._verifier.size - start

    def _take_run(self, lines: Sequence[bytes], first: int, stop: int) -> bool:
        """Check some of them; False if there are no more, or one of them is not surely right."""
        verifier = self._verifier
        size = self._verifier.size
        # Only sequences of one length: then all contents begin at the same byte.
        most = min(self._most, verifier.count_ordinary(), stop - size, count_alike(size))
        run = lines[first : first + max(most, 0)]
        if verifier.log is None or not run:
            return False
        fitting = self._count_fitting(run)
        taken = self._check(run[:fitting]) if fitting else 0
        whole = taken == len(run)
        self._most = min(2 * self._most, MOST) if whole else max(2 * taken, FEWEST)
        return whole

    def feed(self, line: bytes) -> None:
        """Check the next line by all rules; Mismatch if another belongs there."""
        verifier = self._verifier
        before = self._verifier.hash
        start = b"%b%d," % (verifier.line_start, verifier.size)
        record = verifier.feed(line)
        end = f',"prev":"{before}","hash":"{verifier.hash}"}}\n'.encode()
        if line.startswith(start) and line.endswith(end):
            self._shapes.learn(line[len(start) : -len(end)], record["type"])

    def _check(self, lines: Sequence[bytes]) -> int:
        """Move the verifier on if all is right around the contents of these lines; how many."""
        verifier = self._verifier
        if not are_in_place(lines, verifier.line_start, verifier.size):
            return 0
        found = check_links(lines, verifier.hash)
        if found is None:
            return 0
        verifier.advance(*found)
        return len(lines)

    def _count_fitting(self, lines: Sequence[bytes]) -> int:
        """How many lines there are up to the first with a content that is not surely right."""
        verifier = self._verifier
        skeletons = self._shapes.skeletons
        begin = len(verifier.line_start) + len(str(verifier.size)) + 1
        inner = slice(begin, -LINKS)
        contents = [line[inner] for line in lines]
        # A skeleton does not say whether it names a session, and the first one must not be missed.
        named = verifier.claims.first_session is not None
        for place in skeletons.find_unknown(contents) if named else range(len(lines)):
            if not self._fits_shape(lines[place], begin, named=named):
                return place
            skeletons.learn(contents[place])
        return len(lines)

    def _fits_shape(self, line: bytes, begin: int, *, named: bool) -> bool:
        last = self._last
        end = len(line) - LINKS
        if not last.next.fits(line, begin, end):
            found = self._shapes.find(line, begin, end)
            if found is None:
                return False
            last.next = found
        self._last = last.next
        return named or not self._last.names_session
