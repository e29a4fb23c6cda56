"""Results of tools, as hooks see and change them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from langchain_core.messages import ToolCall, ToolMessage
from langgraph.types import Command

from amplifier_core.models import ToolResult
from amplifier_hooks.external.verdicts import Called

Result: TypeAlias = ToolMessage | Command[Any]


def read_result(value: Any) -> ToolResult:
    """What hooks see of what a tool returned."""
    message = find_message(value)
    if message is None:
        return ToolResult(output=None if value is None else str(value))
    if message.status != "error":
        return ToolResult(output=message.content)
    return ToolResult(success=False, output=message.content, error=message.text)


def find_message(value: Any) -> ToolMessage | None:
    """The message for the model in a result, which may also be a command to the graph."""
    if isinstance(value, ToolMessage):
        return value
    if isinstance(value, list):
        return next((found for one in value if (found := find_message(one)) is not None), None)
    if isinstance(value, Command) and isinstance(value.update, Mapping):
        return find_message(list(value.update.get("messages") or ()))
    return None


def change_result(called: Called, call: ToolCall) -> Any:
    """The result for LangChain; exactly what the tool returned if hooks left it alone."""
    if called.untouched:
        return called.value
    message = find_message(called.value)
    if called.result.denied or message is None:
        return refuse(call, called.text)
    # What a tool returns beside the text is not for the model, but says the same.
    status = "success" if called.result.success else "error"
    changes = {"content": read_content(called), "artifact": None, "status": status}
    return _put(called.value, message, message.model_copy(update=changes))


def read_content(called: Called) -> Any:
    """Blocks that hooks left are blocks; anything else is a text."""
    output = called.result.output
    are_blocks = isinstance(output, list) and all(isinstance(one, dict) for one in output)
    return output if are_blocks else called.text


def refuse(call: ToolCall, reason: str) -> ToolMessage:
    """What the model reads of a call that did not run, or whose result is withheld."""
    return ToolMessage(
        content=reason, tool_call_id=call["id"] or "", name=call["name"], status="error"
    )


def _put(value: Any, message: ToolMessage, changed: ToolMessage) -> Any:
    if value is message:
        return changed
    if isinstance(value, list):
        return [_put(one, message, changed) for one in value]
    if isinstance(value, Command) and isinstance(value.update, Mapping):
        messages = [_put(one, message, changed) for one in value.update.get("messages") or ()]
        if not messages:
            return value
        return replace(value, update={**value.update, "messages": messages})
    return value
