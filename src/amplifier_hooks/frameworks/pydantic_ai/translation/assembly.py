"""Putting the messages of a request together again from their parts."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import cast

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelRequestPart, ModelResponse

Place = tuple[int | None, int | None]


class Assembly:
    """Takes what is to be sent in order; parts of one request stay together.

    Parts that hooks are not shown go with the others of their request, and a request that has
    nothing but such parts always stays.
    """

    def __init__(self, messages: Sequence[ModelMessage], shown: AbstractSet[Place]) -> None:
        self._messages = messages
        self._shown = shown
        self._seen = {number for number, _ in shown}
        self._made: list[ModelMessage] = []
        self._source: int | None = None
        self._parts: list[ModelRequestPart] = []
        self._next_part = 0
        self._next_message = 0

    def keep_part(self, number: int, place: int, changed: ModelRequestPart | None) -> None:
        """Put a part of a request, or what a hook made of it."""
        if number != self._source:
            self._close()
            self._pass_unseen(number)
            self._source, self._next_part = number, 0
        self._pass_hidden(place)
        self._next_part = max(self._next_part, place + 1)
        kept = self._get_request(number).parts[place]
        self._parts.append(kept if changed is None else changed)

    def keep_response(self, number: int, changed: ModelResponse | None) -> None:
        """Put a reply of the model, or what a hook made of it."""
        self._close()
        self._pass_unseen(number)
        self._made.append(self._messages[number] if changed is None else changed)

    def add(self, message: ModelMessage) -> None:
        """Put a message that was not there; what is asked joins the request that is open."""
        if isinstance(message, ModelRequest) and (self._parts or self._source is not None):
            self._parts.extend(message.parts)
            return
        self._close()
        self._made.append(message)

    def finish(self) -> list[ModelMessage]:
        """All messages."""
        self._close()
        self._pass_unseen(len(self._messages))
        return self._made

    def _get_request(self, number: int) -> ModelRequest:
        return cast(ModelRequest, self._messages[number])

    def _pass_hidden(self, until: int) -> None:
        """Put the parts that hooks are not shown, up to a place."""
        if self._source is None:
            return
        parts = self._get_request(self._source).parts
        for place in range(self._next_part, until):
            if (self._source, place) not in self._shown:
                self._parts.append(parts[place])

    def _pass_unseen(self, until: int) -> None:
        """Put the messages of which hooks are shown nothing, up to a place."""
        for number in range(self._next_message, until):
            if number not in self._seen:
                self._made.append(self._messages[number])
        self._next_message = max(self._next_message, until)

    def _close(self) -> None:
        """End the request that is open."""
        if self._source is None:
            return
        source = self._get_request(self._source)
        self._pass_hidden(len(source.parts))
        same = len(self._parts) == len(source.parts) and all(
            one is other for one, other in zip(self._parts, source.parts, strict=True)
        )
        self._made.append(source if same else replace(source, parts=self._parts))
        self._source, self._parts, self._next_part = None, [], 0
