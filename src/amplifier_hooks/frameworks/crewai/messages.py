"""Messages and replies of CrewAI's models, as hooks see them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from crewai.utilities.agent_utils import extract_tool_call_info, is_tool_call_list
from pydantic import BaseModel

from amplifier_hooks.external.messages import Placed, Plain
from amplifier_hooks.external.verdicts import Reply, ReplyVerdict


def list_messages(messages: Any) -> list[Any]:
    """The messages of a request; a text alone is one of the user."""
    return [{"role": "user", "content": messages}] if isinstance(messages, str) else list(messages)


def describe_message(message: Any) -> Plain:
    """One of them in plain values."""
    content = message.get("content")
    plain: Plain = {"role": message.get("role", "user"), "content": content or ""}
    calls = message.get("tool_calls")
    if calls:
        plain["tool_calls"] = [_describe_call(one) for one in calls]
    for key in ("tool_call_id", "name"):
        if message.get(key):
            plain[key] = message[key]
    return plain


def place_back(messages: Sequence[Any], placed: Sequence[Placed]) -> list[Any]:
    """What to send: CrewAI's own messages where hooks left them alone."""
    return [_put_back(messages, one) for one in placed]


def _put_back(messages: Sequence[Any], one: Placed) -> Any:
    if one.index is None:
        return dict(one.message or {})
    before = messages[one.index]
    if one.message is None:
        return before
    return {**before, "content": one.message.get("content")}


def list_tools(tools: Any) -> list[str]:
    """The names of the tools that a model is offered."""
    return [str((one.get("function") or one).get("name")) for one in tools or ()]


# Replies


def read_reply(answer: Any, model: str | None, usage: dict[str, Any], spent_ms: int) -> Reply:
    """A reply: a text, a filled form, or tool calls."""
    calls = read_calls(answer)
    text = "" if calls else _read_text(answer)
    return Reply(text, calls=calls, model=model, usage=usage, duration_ms=spent_ms)


def read_calls(answer: Any) -> list[dict[str, Any]]:
    """The tool calls of a reply; none if it is something else."""
    if not isinstance(answer, list) or not is_tool_call_list(answer):
        return []
    return [_describe_call(one) for one in answer]


def _describe_call(call: Any) -> dict[str, Any]:
    call_id, name, given = extract_tool_call_info(call) or ("", "unknown", {})
    return {"id": str(call_id), "name": name, "arguments": _read_arguments(given)}


def _read_arguments(given: Any) -> dict[str, Any]:
    """As an object; what a model wrote wrongly is answered by CrewAI and runs nothing."""
    if isinstance(given, str):
        try:
            given = json.loads(given or "{}")
        except ValueError:
            return {"arguments": given}
    return dict(given) if isinstance(given, dict) else {"arguments": given}


def _read_text(answer: Any) -> str:
    return answer.model_dump_json() if isinstance(answer, BaseModel) else str(answer or "")


def write_reply(answer: Any, verdict: ReplyVerdict) -> Any:
    """The reply as hooks left it; ValueError if CrewAI has no such reply."""
    if verdict.calls:
        if verdict.text:
            raise ValueError("a hook left a text beside tool calls, and CrewAI takes only one")
        return [_write_call(one) for one in verdict.calls]
    if verdict.text is None:
        if verdict.calls is None:
            return answer
        raise ValueError("a hook left neither a text nor a tool call")
    if verdict.calls is None and read_calls(answer):
        raise ValueError("a hook left a text beside tool calls, and CrewAI takes only one")
    if isinstance(answer, BaseModel):
        return type(answer).model_validate_json(verdict.text)
    return verdict.text


def _write_call(call: dict[str, Any]) -> dict[str, Any]:
    function = {"name": call["name"], "arguments": json.dumps(call.get("arguments") or {})}
    return {"id": call["id"], "type": "function", "function": function}
