"""Tool calls as models write them: their arguments may be anything."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

from amplifier_core.message_models import ChatResponse, ToolCall, ToolCallBlock
from amplifier_foundation.machine.text import clip_text


def read_call(id: str | None, name: str, arguments: Any) -> ToolCall:
    """A call, with `parse_error` instead of an exception when the arguments cannot be read."""
    call_id = id or f"call_{uuid4().hex[:24]}"
    try:
        value = json.loads(arguments or "{}") if isinstance(arguments, str | None) else arguments
    except (ValueError, RecursionError) as failure:
        return ToolCall(
            id=call_id, name=name, parse_error=_describe_problem(name, arguments, failure)
        )
    if isinstance(value, dict):
        return ToolCall(id=call_id, name=name, arguments=value)
    problem = f"a JSON object is needed, not {type(value).__name__}"
    return ToolCall(id=call_id, name=name, parse_error=_describe_problem(name, arguments, problem))


def _describe_problem(name: str, arguments: Any, problem: object) -> str:
    shown = clip_text(str(arguments), 200)
    return f"The arguments for {name!r} cannot be read ({problem}): {shown}"


def find_calls(response: ChatResponse) -> list[ToolCall]:
    """The tool calls of a reply, wherever it keeps them."""
    if response.tool_calls is not None:
        return list(response.tool_calls)
    blocks = (block for block in response.content if isinstance(block, ToolCallBlock))
    return [ToolCall(id=block.id, name=block.name, arguments=block.input) for block in blocks]
