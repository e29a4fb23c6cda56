"""Messages of a conversation: one is added to it, and its last answer replaced."""

from __future__ import annotations

from collections.abc import Awaitable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

from amplifier_core.utils.parameters import list_parameters
from amplifier_core.utils.waiting import DONE, PATIENCE, resolve

# Whatever else a loop keeps with a message may repeat its text: thoughts, blocks, the raw reply.
_KEPT = ("role", "timestamp", "metadata")


def replace_last_answer(
    messages: Sequence[Any], said: Collection[str], instead: str
) -> list[Any] | None:
    """The messages with another text in place of the last answer; None if it said none of those.

    A message that called tools keeps its calls: their results would be nobody's without it.
    """
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if _is_answer(message):
            if read_text(message.get("content")) not in said:
                return None
            kept = {key: message[key] for key in (*_KEPT, "tool_calls") if key in message}
            return [*messages[:place], {**kept, "content": instead}, *messages[place + 1 :]]
    return None


def _is_answer(message: Any) -> bool:
    """Whether the agent said it; hooks may inject in its name."""
    if not isinstance(message, Mapping) or message.get("role") != "assistant":
        return False
    metadata = message.get("metadata")
    return not (isinstance(metadata, Mapping) and metadata.get("source") == "hook")


def read_text(content: Any) -> str | None:
    """The text of a message, whether it is kept as one or in blocks."""
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return None
    blocks = [one for one in content if isinstance(one, Mapping) and one.get("type") == "text"]
    return "".join(str(one.get("text") or "") for one in blocks)


async def add_message(context: Any, message: dict[str, Any]) -> None:
    """Add a message to a context of either form: one dict, or role, content and metadata."""
    if (pending := start_adding(context, message)) is not None:
        await pending


def start_adding(context: Any, message: dict[str, Any]) -> Awaitable[Any] | None:
    """The same; what is returned, if anything, has to be awaited."""
    add = context.add_message
    known = _list_parts(getattr(add, "__func__", add))
    if known is None:
        outcome = add(message)
    else:
        extra = {
            key: value
            for key, value in message.items()
            if key not in ("role", "content") and ("**" in known or key in known)
        }
        outcome = add(message["role"], message["content"], **extra)
    return None if outcome is None or outcome is DONE else resolve(outcome, PATIENCE)


@lru_cache(maxsize=64)
def _list_parts(add: Any) -> frozenset[str] | None:
    """Which parts of a message a context takes one by one; None if it takes the message."""
    known = list_parameters(add)
    takes_whole = known is None or "message" in known or not {"role", "content"} & known
    return None if takes_whole else known
