"""Tool calls as models write them: their arguments may be anything."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from amplifier_core.message_models import ChatResponse, Message, ToolCall, ToolCallBlock
from amplifier_hooks.machine.text import clip_text


def read_call(id: str | None, name: str, arguments: Any) -> ToolCall:
    """A call, with `parse_error` instead of an exception when the arguments cannot be read."""
    call_id = id or f"call_{uuid4().hex[:24]}"
    try:
        value = json.loads(arguments or "{}") if isinstance(arguments, str | None) else arguments
    except (ValueError, RecursionError) as failure:
        return _make_unreadable(call_id, name, arguments, failure)
    if isinstance(value, dict):
        return ToolCall(id=call_id, name=name, arguments=value)
    problem = f"a JSON object is needed, not {type(value).__name__}"
    return _make_unreadable(call_id, name, arguments, problem)


def _make_unreadable(call_id: str, name: str, arguments: Any, problem: object) -> ToolCall:
    shown = clip_text(str(arguments), 200)
    sentence = f"The arguments for {name!r} cannot be read ({problem}): {shown}"
    return ToolCall(id=call_id, name=name, arguments={}, parse_error=sentence)


def find_calls(response: ChatResponse) -> list[ToolCall]:
    """The tool calls of a reply, wherever it keeps them."""
    if response.tool_calls is not None:
        return list(response.tool_calls)
    blocks = (block for block in response.content if isinstance(block, ToolCallBlock))
    return [ToolCall(id=block.id, name=block.name, arguments=block.input) for block in blocks]


def list_stored_calls(message: Message) -> list[ToolCall]:
    """The calls that a loop stored beside the content of a reply, in whatever form it writes."""
    stored = (message.model_extra or {}).get("tool_calls")
    return [_read_stored(call) for call in stored] if isinstance(stored, list) else []


def _read_stored(call: Any) -> ToolCall:
    if isinstance(call, ToolCall):
        return call
    facts = call if isinstance(call, Mapping) else {}
    if isinstance(function := facts.get("function"), Mapping):
        facts = {**facts, **function}
    name = facts.get("name") or facts.get("tool") or ""
    return read_call(facts.get("id"), str(name), facts.get("arguments", facts.get("input")))
