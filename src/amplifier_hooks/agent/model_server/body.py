"""The body of a request. A field may be of any JSON type; reading it checks the type."""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile
from typing import Any

from pydantic_core import from_json

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
