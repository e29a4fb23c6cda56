"""The messages of a request: as hooks see them, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from agent_framework import AgentResponse, ChatContext, ChatResponse, Content, Message

from amplifier_core.utils.copying import is_same
from amplifier_hooks.external.messages import Placed, Plain
from amplifier_hooks.external.verdicts import Reply, ReplyVerdict


def describe_calls(contents: Sequence[Content]) -> list[dict[str, Any]]:
    """The tool calls among contents that the framework is to run."""
    return [
        {
            "id": one.call_id or "",
            "name": one.name or "",
            "arguments": one.parse_arguments() or {},
        }
        for one in contents
        if is_call(one)
    ]


def is_call(content: Content) -> bool:
    """Whether the framework will run this; others were run by the provider."""
    return content.type == "function_call" and not content.informational_only and not content.hosted


def read_texts(contents: Sequence[Content]) -> str:
    """The text of contents."""
    return "".join(one.text or "" for one in contents if one.type == "text")


def write_contents(plain: Plain, before: Sequence[Content]) -> list[Content]:
    """The contents of a message as hooks left it; what they cannot see stays."""
    text = plain.get("content")
    text = text if isinstance(text, str) else str(text or "")
    if plain.get("role") == "tool":
        kept = before[0] if before else None
        call_id = str(plain.get("tool_call_id") or "")
        return [
            Content.from_function_result(call_id, id=kept.id if kept else None, result=text),
        ]
    contents = [Content.from_text(text)] if text else []
    contents += write_calls(plain.get("tool_calls") or (), before)
    contents += [one for one in before if one.type != "text" and not is_call(one)]
    return contents


def write_calls(calls: Sequence[dict[str, Any]], before: Sequence[Content]) -> list[Content]:
    """Tool calls as hooks left them; one that is as it was stays the framework's own."""
    known = {one.call_id: one for one in before if is_call(one)}
    return [_write_call(one, known.get(one.get("id"))) for one in calls]


def _write_call(call: dict[str, Any], before: Content | None) -> Content:
    name = str(call.get("name") or "")
    arguments = call.get("arguments") or {}
    wanted = {"id": call.get("id"), "name": name, "arguments": arguments}
    if before is not None and is_same(describe_calls([before])[0], wanted):
        return before
    return Content.from_function_call(
        str(call.get("id") or ""),
        name,
        arguments=arguments,
        id=None if before is None else before.id,
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


USAGE = {
    "input_tokens": "input_token_count",
    "output_tokens": "output_token_count",
    "total_tokens": "total_token_count",
}


def describe_reply(response: ChatResponse[Any], duration_ms: int) -> Reply:
    """A reply in our words."""
    contents = read_contents(response.messages)
    usage = dict(response.usage_details or {})
    counts = {ours: usage.get(theirs) for ours, theirs in USAGE.items()}
    reason = response.finish_reason
    return Reply(
        read_texts(contents),
        describe_calls(contents),
        model=response.model,
        usage={name: count for name, count in counts.items() if isinstance(count, int)},
        finish_reason=None if reason is None else str(reason),
        duration_ms=duration_ms,
    )


def read_contents(messages: Sequence[Message]) -> list[Content]:
    """All contents of the messages of a reply."""
    return [one for message in messages for one in message.contents]


def is_answer(response: ChatResponse[Any]) -> bool:
    """Whether the turn ends with this reply: nothing is left to run or to wait for."""
    waits = response.continuation_token is not None
    return not waits and not describe_calls(read_contents(response.messages))


def change_reply(
    response: ChatResponse[Any], verdict: ReplyVerdict, response_format: Any
) -> ChatResponse[Any]:
    """A reply as hooks left it; what they cannot see stays."""
    contents = read_contents(response.messages)
    text = read_texts(contents) if verdict.text is None else verdict.text
    calls = describe_calls(contents) if verdict.calls is None else verdict.calls
    others = [one for one in contents if one.type != "text" and not describe_calls([one])]
    said = [Content.from_text(text)] if text else []
    left = [*others, *said, *write_calls(calls, contents)]
    source = response.messages[-1] if response.messages else Message("assistant")
    return _copy_response(response, copy_message(source, left), response_format)


def refuse_reply(response: ChatResponse[Any], reason: str) -> ChatResponse[Any]:
    """The reason in the place of a reply that nobody gets."""
    return _copy_response(response, Message("assistant", [reason]), None)


def _copy_response(
    response: ChatResponse[Any], message: Message, response_format: Any
) -> ChatResponse[Any]:
    """A reply with another message; what the provider sent as it came is not kept."""
    return ChatResponse(
        messages=[message],
        response_id=response.response_id,
        conversation_id=response.conversation_id,
        model=response.model,
        created_at=response.created_at,
        finish_reason=response.finish_reason,
        usage_details=response.usage_details,
        response_format=response_format,
        continuation_token=response.continuation_token,
    )


def say_in_chat(text: str) -> ChatResponse[Any]:
    """A reply that no model gave."""
    return ChatResponse(messages=[Message("assistant", [text])], finish_reason="stop")


def say_as_agent(text: str) -> AgentResponse[Any]:
    """The response of an agent that was not run."""
    return AgentResponse(messages=[Message("assistant", [text])], finish_reason="stop")


def read_prompt(messages: Sequence[Message]) -> str:
    """What a user says in a run: all messages since somebody else has spoken.

    It is empty if there is no text, as in the answer to a question.
    """
    said = [read_texts(one.contents) for one in messages[_find_start(messages) :]]
    return "\n".join(text for text in said if text)


def change_prompt(messages: Sequence[Message], text: str) -> list[Message]:
    """The messages of a run with another prompt; those of the caller stay as they are."""
    start = _find_start(messages)
    before = list(messages[:start])
    said = list(messages[start:])
    source = said[-1] if said else Message("user")
    others = [one for message in said for one in message.contents if one.type != "text"]
    return [*before, copy_message(source, [Content.from_text(text), *others])]


def _find_start(messages: Sequence[Message]) -> int:
    start = len(messages)
    while start and messages[start - 1].role == "user":
        start -= 1
    return start
