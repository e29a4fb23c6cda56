"""What all wire protocols make of a reply: pieces of text, events, counted tokens."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from amplifier_core.message_models import Usage
from amplifier_foundation.providers.script import Reply, ScriptedCall

_WORD = re.compile(r"\s*\S+|\s+\Z")


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply, to one request: `number` makes its ids distinct."""

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
        return self.reply.usage or Usage(
            input_tokens=_tokens(json.dumps(self.body, ensure_ascii=False)),
            output_tokens=_tokens(
                self.reply.text
                + (self.reply.thinking or "")
                + "".join(map(arguments_of, self.reply.tool_calls))
            ),
        )

    def calls(self, prefix: str) -> list[tuple[str, ScriptedCall]]:
        """The tool calls with their ids."""
        numbered = enumerate(self.reply.tool_calls, 1)
        return [(call.id or f"{prefix}_{self.number}_{n}", call) for n, call in numbered]


def _tokens(text: str) -> int:
    return -(-len(text) // 4)


def arguments_of(call: ScriptedCall) -> str:
    """The arguments as the model writes them, which need not be JSON."""
    if call.arguments is not None:
        return call.arguments
    return json.dumps(call.input, ensure_ascii=False)


def words(text: str) -> list[str]:
    """The text in the pieces it is streamed in."""
    return _WORD.findall(text)


def slices(text: str, size: int = 12) -> Iterator[str]:
    """Arguments in the pieces they are streamed in."""
    return (text[start : start + size] for start in range(0, len(text), size))


def event(data: dict[str, Any] | str, name: str | None = None) -> bytes:
    """One server-sent event."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return f"event: {name}\ndata: {text}\n\n".encode() if name else f"data: {text}\n\n".encode()


def said_last(body: dict[str, Any]) -> str:
    """What was said to the model since its last reply, where a request holds `messages`."""
    return text_since(body["messages"], _is_reply)


def turns(body: dict[str, Any]) -> int:
    """How many replies the conversation has so far, where a request holds `messages`."""
    return sum(map(_is_reply, body["messages"]))


def _is_reply(message: dict[str, Any]) -> bool:
    return message.get("role") == "assistant"


def text_since(items: list[Any], is_reply: Callable[[dict[str, Any]], bool]) -> str:
    """The text of everything behind the model's last reply."""
    behind = list(takewhile(lambda item: not is_reply(item), reversed(items)))
    return "\n".join(text_in(item.get("content") or item.get("output")) for item in behind[::-1])


def text_in(content: Any) -> str:
    """The readable part of a message's content in any of the protocols."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        return ""
    return "".join(_text_of_part(part) for part in content if isinstance(part, dict))


def _text_of_part(part: dict[str, Any]) -> str:
    return str(part.get("text") or "") or text_in(part.get("content") or part.get("output"))
