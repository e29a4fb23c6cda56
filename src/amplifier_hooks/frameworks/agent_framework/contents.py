"""Contents of a message: text, tool calls and their results, as hooks see them and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent_framework import Content

from amplifier_core.utils.copying import is_same
from amplifier_hooks.external.messages import Plain


def describe_calls(contents: Sequence[Content]) -> list[dict[str, Any]]:
    """The tool calls among contents that the framework is to run."""
    return [
        {
            "id": one.call_id or "",
            "name": one.name or "",
            "arguments": one.parse_arguments() or {},
        }
        for one in contents
        if is_call(one)
    ]


def is_call(content: Content) -> bool:
    """Whether the framework will run this; others were run by the provider."""
    return content.type == "function_call" and not content.informational_only and not content.hosted


def read_texts(contents: Sequence[Content]) -> str:
    """The text of contents."""
    return "".join(one.text or "" for one in contents if one.type == "text")


def write_contents(plain: Plain, before: Sequence[Content]) -> list[Content]:
    """The contents of a message as hooks left it; what they cannot see stays."""
    text = plain.get("content")
    text = text if isinstance(text, str) else str(text or "")
    if plain.get("role") == "tool":
        kept = before[0] if before else None
        call_id = str(plain.get("tool_call_id") or "")
        return [
            Content.from_function_result(call_id, id=kept.id if kept else None, result=text),
        ]
    contents = [Content.from_text(text)] if text else []
    contents += write_calls(plain.get("tool_calls") or (), before)
    contents += [one for one in before if one.type != "text" and not is_call(one)]
    return contents


def write_calls(calls: Sequence[dict[str, Any]], before: Sequence[Content]) -> list[Content]:
    """Tool calls as hooks left them; one that is as it was stays the framework's own."""
    known = {one.call_id: one for one in before if is_call(one)}
    return [_write_call(one, known.get(one.get("id"))) for one in calls]


def _write_call(call: dict[str, Any], before: Content | None) -> Content:
    name, arguments = str(call.get("name") or ""), call.get("arguments") or {}
    wanted = {"id": call.get("id"), "name": name, "arguments": arguments}
    if before is not None and is_same(describe_calls([before])[0], wanted):
        return before
    return Content.from_function_call(
        str(call.get("id") or ""),
        name,
        arguments=arguments,
        id=None if before is None else before.id,
    )
