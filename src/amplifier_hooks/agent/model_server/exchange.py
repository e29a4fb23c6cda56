"""The exchange: one request, and the reply of the script to it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from pydantic_core import from_json

from amplifier_core.message_models import Usage
from amplifier_core.utils.text import estimate_tokens
from amplifier_hooks.agent.providers.conversation import build_usage
from amplifier_hooks.agent.providers.scripted import Reply, ScriptedCall

Object = dict[str, Any]


class Malformed(Exception):
    """A field is not of the type that the protocol wants; the message says which."""


def parse_body(content: bytes) -> Object:
    """The JSON object of a request; an empty one if the body is anything else.

    This parser limits the depth and refuses lone surrogates, so that whatever is read here can be
    searched and sent back.
    """
    try:
        body = from_json(content)
    except ValueError:
        body = None
    return body if isinstance(body, dict) else {}


def read_text(item: Object, name: str) -> str | None:
    """A text that may be missing."""
    value = item.get(name)
    if value is None or isinstance(value, str):
        return value
    raise Malformed(f"{name!r} must be a string, not {_name_type(value)}")


def require_text(item: Object, name: str) -> str:
    """A text that must be there."""
    value = read_text(item, name)
    if value is None:
        raise Malformed(f"{name!r} is missing")
    return value


def read_object(item: Object, name: str) -> Object:
    """An object; an empty one if it is missing."""
    value = item.get(name)
    if value is None or isinstance(value, dict):
        return value or {}
    raise Malformed(f"{name!r} must be an object, not {_name_type(value)}")


def read_objects(item: Object, name: str) -> list[Object]:
    """A list of objects; an empty one if it is missing."""
    value = item.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise Malformed(f"{name!r} must be a list, not {_name_type(value)}")
    for number, element in enumerate(value):
        if not isinstance(element, dict):
            raise Malformed(f"'{name}.{number}' must be an object, not {_name_type(element)}")
    return value


def _name_type(value: object) -> str:
    return {"dict": "an object", "list": "a list", "str": "a string"}.get(
        type(value).__name__, repr(value)
    )


def read_last_words(body: Object) -> str:
    """What was said to the model since its last reply, in a protocol with `messages`."""
    return read_text_since(read_objects(body, "messages"), _is_reply)


def count_replies(body: Object) -> int:
    """The number of replies in the conversation so far, in a protocol with `messages`."""
    return sum(map(_is_reply, read_objects(body, "messages")))


def _is_reply(message: Object) -> bool:
    return message.get("role") == "assistant"


def read_text_since(items: list[Object], is_reply: Callable[[Object], bool]) -> str:
    """The text of everything after the model's last reply."""
    behind = list(takewhile(lambda item: not is_reply(item), reversed(items)))
    return "\n".join(
        _extract_text(item.get("content") or item.get("output")) for item in behind[::-1]
    )


def _extract_text(content: object) -> str:
    """The readable part of a message's content in any of the protocols."""
    if isinstance(content, str):
        return content
    parts = [content] if isinstance(content, dict) else content
    if not isinstance(parts, list):
        return ""
    return "".join(_extract_part(part) for part in parts if isinstance(part, dict))


def _extract_part(part: Object) -> str:
    return str(part.get("text") or "") or _extract_text(part.get("content") or part.get("output"))


def format_event(data: dict[str, Any] | str, name: str | None = None) -> bytes:
    """One event as it is sent."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return f"event: {name}\ndata: {text}\n\n".encode() if name else f"data: {text}\n\n".encode()


def split_arguments(text: str, size: int = 12) -> Iterator[str]:
    """The arguments of a call in pieces of equal size, in the middle of words too."""
    return (text[start : start + size] for start in range(0, len(text), size))


@dataclass(frozen=True, slots=True)
class Exchange:
    """`number` makes the ids in a reply distinct; `body` is the request's."""

    reply: Reply
    number: int
    body: dict[str, Any]

    @property
    def model(self) -> str:
        """The model that was asked for."""
        return str(self.body.get("model") or "scripted")

    @property
    def usage(self) -> Usage:
        """The tokens as written in the script, or an estimate."""
        if self.reply.usage is not None:
            return self.reply.usage
        asked = estimate_tokens(json.dumps(self.body, ensure_ascii=False))
        return build_usage(input_tokens=asked, output_tokens=self.reply.output_tokens)

    def number_calls(self, prefix: str) -> list[tuple[str, ScriptedCall]]:
        """The tool calls with the ids of the script, or with numbered ones."""
        numbered = enumerate(self.reply.tool_calls, 1)
        return [(call.id or f"{prefix}_{self.number}_{n}", call) for n, call in numbered]
