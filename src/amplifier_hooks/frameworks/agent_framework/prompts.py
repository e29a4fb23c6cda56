"""The prompt among the messages that a run is given."""

from __future__ import annotations

from collections.abc import Sequence

from agent_framework import Content, Message

from amplifier_hooks.frameworks.agent_framework.contents import read_texts
from amplifier_hooks.frameworks.agent_framework.messages import copy_message


def read_prompt(messages: Sequence[Message]) -> str:
    """What a user says in a run: all messages since somebody else has spoken.

    It is empty if there is no text, as in the answer to a question.
    """
    said = [read_texts(one.contents) for one in messages[_find_start(messages) :]]
    return "\n".join(text for text in said if text)


def change_prompt(messages: Sequence[Message], text: str) -> list[Message]:
    """The messages of a run with another prompt; those of the caller stay as they are."""
    start = _find_start(messages)
    before, said = list(messages[:start]), list(messages[start:])
    source = said[-1] if said else Message("user")
    others = [one for message in said for one in message.contents if one.type != "text"]
    return [*before, copy_message(source, [Content.from_text(text), *others])]


def _find_start(messages: Sequence[Message]) -> int:
    start = len(messages)
    while start and messages[start - 1].role == "user":
        start -= 1
    return start
