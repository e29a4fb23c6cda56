"""The question to a small model: what it may call, and the conversation in words that it knows."""

from __future__ import annotations

import json
from itertools import takewhile
from typing import Any

from amplifier_core.message_models import (
    ChatRequest,
    ImageBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolSpec,
)
from amplifier_hooks.agent.providers.calls import list_stored_calls
from amplifier_hooks.agent.providers.conversation import Utterance, arrange, render_output

_HOW = (
    'To use a tool write {"tool": its name, "input": its input}. '
    'To answer the user write {"reply": your answer}.'
)


def choose_tools(request: ChatRequest, calls_per_prompt: int) -> list[ToolSpec]:
    """The tools that the model may call now; a small one would call the same one for ever."""
    tools = request.tools or []
    chosen = request.tool_choice not in {None, "auto"}
    if request.tool_choice == "none" or (not chosen and _count_calls(request) >= calls_per_prompt):
        return []
    named = [tool for tool in tools if tool.name == request.tool_choice]
    return named or tools


def _count_calls(request: ChatRequest) -> int:
    """The number of replies with calls since the user last spoke."""
    since = takewhile(lambda message: message.role != "user", reversed(request.messages))
    return sum(bool(list_stored_calls(message)) for message in since)


def build_schema(tools: list[ToolSpec], choice: str | dict[str, Any] | None) -> dict[str, Any]:
    """The schema of what the model may write: one of the calls or, unless one is required, text."""
    forms = [
        _build_object_schema(tool={"const": tool.name}, input=tool.parameters) for tool in tools
    ]
    if choice is None or choice == "auto":
        forms.append(_build_object_schema(reply={"type": "string"}))
    schema = {"name": "answer", "schema": {"anyOf": forms}, "strict": True}
    return {"type": "json_schema", "json_schema": schema}


def _build_object_schema(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def write_messages(
    request: ChatRequest, tools: list[ToolSpec], result_limit: int
) -> list[dict[str, Any]]:
    """The conversation as text, because the model's template knows neither calls nor results."""
    conversation = arrange(request.messages)
    system = "\n\n".join(filter(None, [conversation.system, _introduce_tools(tools)]))
    messages = [{"role": "system", "content": system}] if system else []
    return messages + [_write_message(one, result_limit) for one in conversation.utterances]


def _introduce_tools(tools: list[ToolSpec]) -> str:
    if not tools:
        return ""
    return "\n".join(["You can use these tools:", *map(_describe_tool, tools), _HOW])


def _describe_tool(tool: ToolSpec) -> str:
    first = (tool.description or "").strip().partition("\n")[0]
    inputs = json.dumps(dict.fromkeys(tool.parameters.get("properties", {}), "..."))
    return f"- {tool.name}: {first} Input: {inputs}"


def _write_message(utterance: Utterance, result_limit: int) -> dict[str, Any]:
    said = (_write_block(block, result_limit) for block in utterance.blocks)
    return {"role": utterance.role, "content": "\n\n".join(said)}


def _write_block(block: Any, result_limit: int) -> str:
    if isinstance(block, ToolCallBlock):
        return json.dumps({"tool": block.name, "input": block.input}, ensure_ascii=False)
    if isinstance(block, ToolResultBlock):
        return f"Result of the tool:\n{_shorten(render_output(block), result_limit)}"
    if isinstance(block, ImageBlock):
        return "(A picture that you cannot see.)"
    return block.text if isinstance(block, TextBlock) else ""


def _shorten(text: str, limit: int) -> str:
    """Keep the beginning and the end: a small model reads slowly and has little room."""
    if len(text) <= limit:
        return text
    return f"{text[: limit // 2]}\n[...]\n{text[-(limit // 2) :]}"
