"""What hooks added to a conversation for good, stored where the agent keeps it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AnyMessage, BaseMessage, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages

from amplifier_hooks.external.messages import Plain
from amplifier_hooks.frameworks.langchain.messages import build_message


@dataclass(frozen=True, slots=True)
class Kept:
    """A message of a hook; `after` is the id of the one that it stood behind in the request."""

    after: str | None
    message: Plain


def keep(messages: Sequence[AnyMessage], lasting: Sequence[Plain]) -> list[Kept]:
    """What to store of a request's lasting messages, once the run is over."""
    after = messages[-1].id if messages else None
    return [Kept(after, one) for one in lasting]


def store(
    state: Mapping[str, Any], update: dict[str, Any] | None, kept: Sequence[Kept]
) -> dict[str, Any] | None:
    """The update of the state with what hooks added: the next turn of the thread has it too.

    Messages can only be appended or replaced, so the conversation is written anew.
    """
    if not kept:
        return update
    changes = dict(update or {})
    said: Any = add_messages(list(state["messages"]), list(changes.get("messages") or ()))
    written = [RemoveMessage(id=REMOVE_ALL_MESSAGES), *_insert(said, kept)]
    return {**changes, "messages": written}


def _insert(messages: Sequence[BaseMessage], kept: Sequence[Kept]) -> list[BaseMessage]:
    """Each in its place; in front, if what it stood behind is gone."""
    known = {one.id for one in messages}
    written = [build_message(one.message) for one in kept if one.after not in known]
    for message in messages:
        written.append(message)
        written += [build_message(one.message) for one in kept if one.after == message.id]
    return written
