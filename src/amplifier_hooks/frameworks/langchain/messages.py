"""Messages of LangChain in our words, and back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
)

from amplifier_hooks.external.messages import Placed, Plain, read_text

ROLES = {"human": "user", "ai": "assistant"}
CALL_BLOCKS = frozenset({"tool_use", "tool_call", "function_call"})
RAW_CALLS = ("tool_calls", "function_call")

_FRAME = re.compile(r"<(?=/?system-note\b)", re.IGNORECASE)


def describe_message(message: BaseMessage) -> Plain:
    """A message as hooks see it."""
    named = message.role if isinstance(message, ChatMessage) else ""
    role = named or ROLES.get(message.type, message.type)
    plain: Plain = {"role": role, "content": message.content}
    if isinstance(message, AIMessage) and message.tool_calls:
        plain["tool_calls"] = [describe_call(call) for call in message.tool_calls]
    if isinstance(message, ToolMessage):
        plain["tool_call_id"] = message.tool_call_id
    if message.name:
        plain["name"] = message.name
    return plain


def describe_call(call: ToolCall) -> dict[str, Any]:
    """A tool call as hooks see it."""
    return {"id": call["id"] or "", "name": call["name"], "arguments": call["args"]}


def replace_text(message: BaseMessage, text: str) -> BaseMessage:
    """A copy that says something else; what is no text in it stays, such as an image."""
    if isinstance(message.content, str):
        return message.model_copy(update={"content": text})
    others = [block for block in message.content if not _is_text(block)]
    content = [{"type": "text", "text": text}, *others]
    return message.model_copy(update={"content": content})


def replace_calls(message: AIMessage, calls: Sequence[dict[str, Any]]) -> AIMessage:
    """A copy with other tool calls, in all the places where a message has them."""
    kept = [
        ToolCall(name=one["name"], args=one["arguments"], id=one["id"], type="tool_call")
        for one in calls
    ]
    raw = {key: value for key, value in message.additional_kwargs.items() if key not in RAW_CALLS}
    changes: dict[str, Any] = {"tool_calls": kept, "additional_kwargs": raw}
    changes["invalid_tool_calls"] = []
    if isinstance(message.content, list):
        changes["content"] = [block for block in message.content if not _is_call(block)]
    return message.model_copy(update=changes)


def place_request(
    system: SystemMessage | None, messages: Sequence[AnyMessage], placed: Sequence[Placed]
) -> tuple[SystemMessage | None, list[AnyMessage]]:
    """What to send, after hooks: the leading system message, and the conversation."""
    own: list[Any] = [*([] if system is None else [system]), *messages]
    sent: list[Any] = []
    leading: SystemMessage | None = None
    for one in placed:
        message = _build(one, own)
        if one.index == 0 and system is not None:
            leading = message
        else:
            sent.append(message)
    return leading, sent


def _build(placed: Placed, own: Sequence[BaseMessage]) -> Any:
    if placed.index is None:
        return build_message(placed.message or {})
    original = own[placed.index]
    return original if placed.message is None else change_message(original, placed.message)


def change_message(original: BaseMessage, plain: Plain) -> BaseMessage:
    """A copy of a message as hooks left it."""
    changed = original.model_copy(update={"content": plain.get("content") or ""})
    calls = plain.get("tool_calls") or []
    if isinstance(changed, AIMessage) and calls != describe_message(original).get("tool_calls", []):
        return replace_calls(changed, calls)
    return changed


def build_message(plain: Plain) -> BaseMessage:
    """A message that a hook added.

    Several models take system messages in front only, so one that comes later is marked text of
    the user's.
    """
    role, content = plain.get("role"), plain.get("content") or ""
    if role == "assistant":
        calls = plain.get("tool_calls") or []
        return replace_calls(AIMessage(content), calls) if calls else AIMessage(content)
    if role == "tool":
        return ToolMessage(content, tool_call_id=str(plain.get("tool_call_id") or ""))
    if role in ("system", "developer"):
        said = _FRAME.sub("<\\\\", read_text(content))
        content = f"<system-note>\n{said}\n</system-note>"
    return HumanMessage(content)


def _is_text(block: Any) -> bool:
    return isinstance(block, str) or (isinstance(block, dict) and block.get("type") == "text")


def _is_call(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") in CALL_BLOCKS
