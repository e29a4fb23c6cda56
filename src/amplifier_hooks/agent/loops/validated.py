"""The messages of a conversation, validated: what is the same as the last time is not again.

How that is known: a list with a mark that it had the last time has only grown, and nobody could
change what stood in it. Any other list may hold messages that somebody has changed meanwhile, so
each is compared with a copy of what was validated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from amplifier_core.isolation import copy_plain
from amplifier_core.message_models import Message
from amplifier_core.utils.copying import is_equal

Plain = dict[str, Any]
Pair = tuple[Plain | None, Message]
"""A copy of what was validated, None if there is none to compare with, and the result."""


class ValidatedMessages:
    """The messages of the last conversation, in the form that providers take."""

    def __init__(self) -> None:
        self.results: list[Message] = []
        self._mark: object | None = None
        # How many came one by one since all of them were validated.
        self._appended = 0
        # What was validated, from the first time on that comparing is cheaper than validating.
        self._compares = False
        self._ids: list[int] = []
        self._copies: list[Plain | None] = []

    def update(self, messages: Sequence[Plain]) -> int:
        """Take in a conversation; returns how many results at its start are as they were."""
        mark = getattr(messages, "mark", None)
        if mark is not None and mark is self._mark:
            kept = len(self.results)
            self._append(messages[kept:])
            return kept
        if self._compares or mark is None or len(self.results) > 4 * self._appended:
            self._compares = True
            kept = self._compare(messages)
        else:  # the first time, or one of the rare times that a context has made room
            kept, self.results = 0, validate_all(messages)
            self._appended = 0
        self._mark = mark
        return kept

    def _append(self, messages: Sequence[Plain]) -> None:
        fresh = validate_all(messages)  # it may refuse one, and then nothing is new
        if self._compares:
            self._ids += map(id, messages)
            self._copies += map(copy_plain, messages)
        self.results += fresh
        self._appended += len(fresh)

    def _compare(self, messages: Sequence[Plain]) -> int:
        count = len(self._copies)
        if count == len(self.results):
            start = messages[:count]
            if list(map(id, start)) == self._ids and is_equal(start, self._copies):
                self._append(messages[count:])
                return count
        found = zip(self._copies, self.results, strict=False)
        known = dict(zip(self._ids, found, strict=False))
        pairs = [_reuse(message, known.get(id(message))) for message in messages]
        self._ids = list(map(id, messages))
        self._copies = [copy for copy, _ in pairs]
        self.results = [result for _, result in pairs]
        return 0


def _reuse(message: Plain, known: Pair | None) -> Pair:
    # By identity first: contexts keep their messages. That another dict may have got the id of
    # one that is gone does no harm, because what counts is what it says.
    if known is not None and is_equal(message, known[0]):
        return known
    return copy_plain(message), validate(message)


def validate_all(messages: Sequence[Plain]) -> list[Message]:
    """Messages as providers take them."""
    try:
        return list(map(Message.__pydantic_validator__.validate_python, messages))
    except ValidationError:  # perhaps one that `validate` helps to pass
        return list(map(validate, messages))


def validate(message: Plain) -> Message:
    """A message as providers take it."""
    if message.get("content") is None:  # some contexts store a reply that only calls tools so
        message = {**message, "content": ""}
    return Message.model_validate(message)
