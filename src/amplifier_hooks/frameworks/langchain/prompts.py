"""The prompt of a run in the state of its agent, and the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    ToolMessage,
)
from pydantic import TypeAdapter, ValidationError

from amplifier_core.utils import describe_error
from amplifier_hooks.external.messages import read_text
from amplifier_hooks.external.verdicts import TextVerdict
from amplifier_hooks.frameworks.langchain.messages import replace_text

WITHHELD = "[This prompt was withheld.]"


def read_prompt(messages: Sequence[AnyMessage]) -> str:
    """What people have said since the agent last spoke."""
    return "\n\n".join(read_text(one.content) for one in _find_prompt(messages))


def _find_prompt(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    said = list(takewhile(lambda one: isinstance(one, HumanMessage), reversed(messages)))
    return said[::-1]


def change_prompt(state: Mapping[str, Any], verdict: TextVerdict) -> dict[str, Any] | None:
    """What becomes of the state: nothing, another prompt, or the end of the run.

    A prompt that hooks refused does not stay in the conversation, or the next turn would send it.
    """
    if verdict.allowed and not verdict.changed:
        return None
    found = _find_prompt(state["messages"])
    if verdict.allowed:
        return {"messages": _replace_prompt(found, verdict.text)}
    withheld = _replace_prompt(found, WITHHELD) if found else []
    refused = {"jump_to": "end", "messages": [*withheld, AIMessage(verdict.text)]}
    return {**refused, **_drop_structured(state)}


def _replace_prompt(found: Sequence[BaseMessage], text: str) -> list[BaseMessage]:
    if not found:
        return [HumanMessage(text)]
    *others, last = found
    removed = [RemoveMessage(id=one.id) for one in others if one.id is not None]
    kept = HumanMessage(text, id=last.id) if text == WITHHELD else replace_text(last, text)
    return [*removed, kept]


def read_answer(state: Mapping[str, Any]) -> str:
    """What the caller of the agent gets as its answer."""
    said = _find_answer(state["messages"])
    structured = state.get("structured_response")
    if structured is not None and not (said and isinstance(said[-1], AIMessage)):
        return TypeAdapter(Any).dump_json(structured).decode()
    return read_text(said[-1].content) if said else ""


def _find_answer(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """The last thing that the agent said, with the results that stand behind it, if any do."""
    count = len(messages)
    for index in range(count - 1, -1, -1):
        if isinstance(messages[index], AIMessage):
            return list(messages[index:])
        if not isinstance(messages[index], ToolMessage):
            break
    return []


def change_answer(state: Mapping[str, Any], verdict: TextVerdict) -> dict[str, Any] | None:
    """What becomes of the state before the caller gets it."""
    if verdict.allowed and not verdict.changed:
        return None
    structured = state.get("structured_response")
    if not verdict.allowed or structured is None:
        return {**_say(state, verdict.text), **_drop_structured(state)}
    try:
        parsed = parse_like(structured, verdict.text)
    except ValidationError as error:
        why = f"A hook left no {type(structured).__name__}: {describe_error(error)}"
        return {**_say(state, why), **_drop_structured(state)}
    return {**_say(state, verdict.text), "structured_response": parsed}


def _say(state: Mapping[str, Any], text: str) -> dict[str, Any]:
    said = _find_answer(state["messages"])
    if not said:
        return {"messages": [AIMessage(text)]}
    removed = [RemoveMessage(id=one.id) for one in said[1:] if one.id is not None]
    return {"messages": [*removed, AIMessage(text, id=said[0].id, name=said[0].name)]}


def _drop_structured(state: Mapping[str, Any]) -> dict[str, Any]:
    return {} if state.get("structured_response") is None else {"structured_response": None}


def parse_like(structured: Any, text: str) -> Any:
    """A text as the kind of answer that the agent was asked for; ValidationError if it is none."""
    return TypeAdapter(type(structured)).validate_json(text)
