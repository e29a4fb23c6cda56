"""The messages of a request: as hooks see them, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

from agent_framework import ChatContext, Content, Message

from amplifier_hooks.external.messages import Placed, Plain
from amplifier_hooks.frameworks.agent_framework.contents import (
    describe_calls,
    read_texts,
    write_contents,
)

INSTRUCTIONS = "instructions"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a request that is one message to hooks.

    A message with the results of several calls has a piece for each.
    """

    plain: Plain
    message: Message | None = None
    """The framework's own message; None stands for the instructions of the agent."""
    contents: tuple[Content, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """What a model will be sent."""

    pieces: list[Piece] = field(default_factory=list)

    @property
    def plain(self) -> list[Plain]:
        """As hooks see it."""
        return [one.plain for one in self.pieces]

    def place(self, context: ChatContext, placed: Sequence[Placed]) -> None:
        """Put what hooks left into the request; the stored conversation stays as it is."""
        sent = list(placed)
        if self.pieces and self.pieces[0].message is None:
            sent = [one for one in sent if one.index != 0]
            kept = next((one for one in placed if one.index == 0), None)
            self._place_instructions(context, kept)
        parts = [self._make_part(one) for one in sent]
        context.messages = _join_parts(parts)

    def _place_instructions(self, context: ChatContext, kept: Placed | None) -> None:
        options = dict(context.options or {})
        if kept is None:
            options.pop(INSTRUCTIONS, None)
        elif kept.message is not None:
            options[INSTRUCTIONS] = str(kept.message.get("content") or "")
        context.options = options

    def _make_part(self, placed: Placed) -> tuple[Message | None, Sequence[Content] | Message]:
        if placed.index is None:
            return None, write_message(placed.message or {})
        piece = self.pieces[placed.index]
        if placed.message is None:
            return piece.message, piece.contents
        return piece.message, write_contents(placed.message, piece.contents)


def read_request(context: ChatContext) -> Request:
    """The instructions and messages that a model will be sent."""
    pieces: list[Piece] = []
    instructions = (context.options or {}).get(INSTRUCTIONS)
    if isinstance(instructions, str) and instructions:
        pieces.append(Piece({"role": "system", "content": instructions}))
    for message in context.messages:
        pieces += _split_message(message)
    return Request(pieces)


def count_request(context: ChatContext) -> Request:
    """The same without a word: for requests that nobody looks at, but that injections go into.

    Only the last message is read: an injection may be put behind a tool's result.
    """
    pieces = [
        Piece({"role": message.role, "number": number}, message, tuple(message.contents))
        for number, message in enumerate(context.messages[:-1])
    ]
    for last in context.messages[-1:]:
        pieces += _split_message(last)
    return Request(pieces)


def _split_message(message: Message) -> list[Piece]:
    results = [one for one in message.contents if one.type == "function_result"]
    if len(results) < len(message.contents) or not results:
        return [Piece(describe_message(message), message, tuple(message.contents))]
    return [Piece(_describe_result(one), message, (one,)) for one in results]


def describe_message(message: Message) -> Plain:
    """A message in our words."""
    plain: Plain = {"role": str(message.role), "content": read_texts(message.contents)}
    if calls := describe_calls(message.contents):
        plain["tool_calls"] = calls
    if message.author_name:
        plain["name"] = message.author_name
    return plain


def _describe_result(content: Content) -> Plain:
    text = "" if content.result is None else str(content.result)
    return {"role": "tool", "tool_call_id": content.call_id or "", "content": text}


def write_message(plain: Plain) -> Message:
    """A message that a hook added."""
    role = str(plain.get("role") or "system")
    return Message("system" if role == "developer" else role, write_contents(plain, ()))


def _join_parts(
    parts: Sequence[tuple[Message | None, Sequence[Content] | Message]],
) -> list[Message]:
    """Messages of parts: neighbours that came from one message are one message again."""
    messages: list[Message] = []
    for _, group in groupby(parts, key=lambda part: id(part[0] or part[1])):
        members = list(group)
        source, first = members[0]
        if isinstance(first, Message) or source is None:
            messages += [one for _, one in members if isinstance(one, Message)]
            continue
        contents = [one for _, found in members for one in _as_contents(found)]
        messages.append(_copy_message(source, contents))
    return messages


def _as_contents(found: Sequence[Content] | Message) -> Sequence[Content]:
    return found.contents if isinstance(found, Message) else found


def _copy_message(source: Message, contents: list[Content]) -> Message:
    same = len(contents) == len(source.contents) and all(
        one is other for one, other in zip(contents, source.contents, strict=True)
    )
    return source if same else copy_message(source, contents)


def copy_message(source: Message, contents: Sequence[Content]) -> Message:
    """A message with other contents; what the provider sent as it came is not kept."""
    return Message(
        source.role,
        list(contents),
        author_name=source.author_name,
        message_id=source.message_id,
        additional_properties=source.additional_properties,
    )
