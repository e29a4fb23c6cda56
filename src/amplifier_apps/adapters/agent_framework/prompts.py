"""The prompt among the messages that a run is given."""

from __future__ import annotations

from collections.abc import Sequence

from agent_framework import Content, Message

from amplifier_apps.adapters.agent_framework.contents import read_texts
from amplifier_apps.adapters.agent_framework.messages import copy_message


def find_prompt(messages: Sequence[Message]) -> int | None:
    """Where the prompt is among the messages of a run: what a user said last."""
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].role == "user":
            return index
    return None


def read_prompt(messages: Sequence[Message]) -> str:
    """The prompt of a run; empty if a user said nothing, as in an answer to a question."""
    index = find_prompt(messages)
    return "" if index is None else read_texts(messages[index].contents)


def change_prompt(messages: Sequence[Message], text: str) -> list[Message]:
    """The messages of a run with another prompt; those of the caller stay as they are."""
    changed, index = list(messages), find_prompt(messages)
    if index is None:
        return [*changed, Message("user", [text])]
    others = [one for one in changed[index].contents if one.type != "text"]
    changed[index] = copy_message(changed[index], [Content.from_text(text), *others])
    return changed
