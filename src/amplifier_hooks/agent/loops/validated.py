"""The messages of a conversation, validated: what is the same as the last time is not again.

Anybody may have changed a message meanwhile, so each is compared with a copy of what was validated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amplifier_core.message_models import Message
from amplifier_core.utils.copying import copy_plain, is_equal

Plain = dict[str, Any]
Pair = tuple[Plain | None, Message]
"""A copy of what was validated, None if there is none to compare with, and the result."""


class ValidatedMessages:
    """The messages of the last conversation, in the form that providers take."""

    def __init__(self) -> None:
        self._known: dict[int, Pair] = {}
        """By the identity of what was validated, because contexts keep their messages."""

    def update(self, messages: Sequence[Plain]) -> list[Message]:
        """The messages of a conversation, as providers take them."""
        pairs = [_reuse(message, self._known.get(id(message))) for message in messages]
        self._known = dict(zip(map(id, messages), pairs, strict=True))
        return [result for _, result in pairs]


def _reuse(message: Plain, known: Pair | None) -> Pair:
    # By identity first: contexts keep their messages. That another dict may have got the id of
    # one that is gone does no harm, because what counts is what it says.
    if known is not None and is_equal(message, known[0]):
        return known
    return copy_plain(message), validate(message)


def validate(message: Plain) -> Message:
    """A message as providers take it."""
    if message.get("content") is None:  # some contexts store a reply that only calls tools so
        message = {**message, "content": ""}
    return Message.model_validate(message)
