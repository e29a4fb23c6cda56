"""Recognizes records that differ from others which the strict parser has taken in digits only.

The skeleton of a record is its text, from `time` to `body`, with a 0 in the place of each digit. To
look it up takes less time than to compare a shape, and it is learned at once; but a text that is
never the same makes a new skeleton each time, and is left to the shapes.

A record with a known skeleton has the keys, the order and the nesting of one that was taken. Other
digits could do harm in few places only. In a key they could make two keys the same, in a `\\u` they
could make half a surrogate, in an exponent or in a very long number they could make it too large:
what has any of these is never learned. And a number of several digits could begin with a 0, which
is looked at in each record.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Sequence
from operator import itemgetter
from typing import Any

from amplifier_audit.reader.bulk.tokens import KEY, NUMBER, split_tokens

# Bounds, for records that no two are alike of: so many skeletons, and none longer than this.
MOST = 2048
LONGEST = 1024

_ZERO = ord("0")
_SAME_DIGITS = bytes.maketrans(b"0123456789", b"0" * 10)
_has_digit = re.compile(rb"[0-9]").search
_is_plain = re.compile(NUMBER).fullmatch
_has_digits = re.compile(rb"-?+[0-9]{2}").match

Pick = Callable[[bytes], Container[int]]
"""Takes the first digits of all numbers of several digits out of a record with that skeleton."""


class Skeletons:
    """Those that were met at least twice; a bounded number, whatever the records are like."""

    __slots__ = ("_known", "_met")

    def __init__(self) -> None:
        self._known: dict[bytes, Pick] = {}
        # Whether those that were met were looked at closely.
        self._met: dict[bytes, bool] = {}

    def find_unknown(self, contents: Sequence[bytes]) -> list[int]:
        """The places of the contents of which it is not known that the strict parser takes them."""
        get, same, zero, doubt = self._known.get, _SAME_DIGITS, _ZERO, _doubt
        unknown = [zero in get(one.translate(same), doubt)(one) for one in contents]
        return [place for place, one in enumerate(unknown) if one] if True in unknown else []

    def learn(self, content: bytes) -> None:
        """The strict parser takes this content, and it is none of the log's own records."""
        if len(content) > LONGEST:
            return
        skeleton = content.translate(_SAME_DIGITS)
        looked = self._met.get(skeleton)
        if looked:
            return
        _make_room(self._met)
        self._met[skeleton] = looked is not None
        if looked is not None and (pick := _make_pick(content)):
            _make_room(self._known)
            self._known[skeleton] = pick


def _doubt(content: bytes) -> Container[int]:
    """The pick of a skeleton that is not known: a 0, as if there were one too many."""
    return (_ZERO,)


def _make_room(skeletons: dict[bytes, Any]) -> None:
    if len(skeletons) >= MOST:
        skeletons.clear()


def _make_pick(content: bytes) -> Pick | None:
    """None if other digits could make a difference to the strict parser."""
    places, at = [], 0
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
