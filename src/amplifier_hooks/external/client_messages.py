"""Messages of OpenAI's and Anthropic's interfaces as hooks see them, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from amplifier_core.utils.conversation import arrange_messages, list_open_ids
from amplifier_hooks.external.messages import Placed, Plain

Style = Literal["chat", "responses", "blocks"]
"""OpenAI's chat completions, OpenAI's responses; Anthropic's messages, or too few to tell."""


def read_messages(messages: Sequence[Any]) -> list[Plain]:
    """Each message as hooks see it: role, content, `tool_calls` with arguments as values.

    Of OpenAI's responses, the calls that stand together are one message.
    """
    return [_read_group([_to_values(one) for one in group]) for group in _group(messages)]


def write_messages(messages: Sequence[Any], placed: Sequence[Placed]) -> list[Any]:
    """What to send: the program's own messages, those that hooks changed, those that they added.

    Nothing stands between a call and its result, even if hooks spoke while the calls ran.
    """
    groups = _group(messages)
    own = read_messages(messages)
    style = _find_style([_to_values(one) for one in messages])
    seen: list[Plain] = []
    written: dict[int, list[Any]] = {}
    for one in placed:
        if one.index is None:
            plain = one.message or {}
            written[id(plain)] = [_write_added(plain, style)]
        elif one.message is None:
            plain = own[one.index]
            written[id(plain)] = groups[one.index]
        else:
            plain = one.message
            written[id(plain)] = _write_changed(groups[one.index], plain)
        seen.append(plain)
    sent = []
    for plain in arrange_messages(seen, list_open_ids(seen), keep_strays=True):
        sent += written.get(id(plain)) or [_write_added(plain, style)]
    return sent


def _group(messages: Sequence[Any]) -> list[list[Any]]:
    groups: list[list[Any]] = []
    in_calls = False
    for message in messages:
        is_call = _get_type(message) == "function_call"
        if is_call and in_calls:
            groups[-1].append(message)
        else:
            groups.append([message])
        in_calls = is_call
    return groups


def _get_type(message: Any) -> Any:
    if isinstance(message, Mapping):
        return message.get("type")
    return getattr(message, "type", None)


def _to_values(message: Any) -> Any:
    """Objects of a client library, also among the blocks of a message, as plain values."""
    if isinstance(message, Mapping):
        return {key: _to_values(value) for key, value in message.items()}
    if isinstance(message, list | tuple):
        return [_to_values(one) for one in message]
    if hasattr(message, "model_dump"):
        return message.model_dump(exclude_none=True)
    return message


def _read_group(group: Sequence[Any]) -> Plain:
    message = group[0]
    if not isinstance(message, dict):
        raise TypeError(
            "A message is a dict or an object of a client library with model_dump(), "
            f"not {message!r:.80}"
        )
    if message.get("type") == "function_call":
        return {
            "role": "assistant",
            "content": "",
            "tool_calls": [_read_item(one) for one in group],
        }
    if message.get("type") == "function_call_output":
        output = message.get("output")
        return {"role": "tool", "tool_call_id": message.get("call_id"), "content": output}
    if "role" not in message:  # reasoning and other items that only the model reads
        return {"role": "assistant", "content": ""}
    plain = dict(message)
    if plain.get("tool_calls"):
        plain["tool_calls"] = [_read_call(one) for one in plain["tool_calls"]]
    return plain


def _read_item(item: dict[str, Any]) -> dict[str, Any]:
    arguments = _parse_arguments(item.get("arguments"))
    return {"id": item.get("call_id"), "name": item.get("name"), "arguments": arguments}


def _read_call(call: dict[str, Any]) -> dict[str, Any]:
    function = call.get("function")
    if function is None:
        return call
    arguments = _parse_arguments(function.get("arguments"))
    return {"id": call.get("id"), "name": function.get("name"), "arguments": arguments}


def _parse_arguments(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text


def _find_style(messages: Sequence[Mapping[str, Any]]) -> Style:
    if any(one.get("type") in ("function_call", "function_call_output") for one in messages):
        return "responses"
    roles = {one.get("role") for one in messages}
    if roles & {"system", "developer", "tool"} or any("tool_calls" in one for one in messages):
        return "chat"
    return "blocks"


def _write_changed(group: Sequence[Any], changed: Plain) -> list[Any]:
    """The program's messages with what hooks left of them."""
    own = [_to_values(one) for one in group]
    first = own[0]
    if first.get("type") == "function_call":
        calls = changed.get("tool_calls", [])
        return [
            {**one, "arguments": _write_arguments(call["arguments"])}
            for one, call in zip(own, calls, strict=True)
        ]
    if first.get("type") == "function_call_output":
        return [{**first, "output": changed.get("content")}]
    written = {**first, "content": changed.get("content")}
    if first.get("tool_calls"):
        written["tool_calls"] = [_write_call(one) for one in changed.get("tool_calls", [])]
    return [written]


def _write_call(call: dict[str, Any]) -> dict[str, Any]:
    function = {"name": call["name"], "arguments": _write_arguments(call["arguments"])}
    return {"id": call["id"], "type": "function", "function": function}


def _write_arguments(arguments: Any) -> str:
    if isinstance(arguments, str):
        return arguments
    return json.dumps(arguments, ensure_ascii=False)


def _write_added(message: Plain, style: Style) -> dict[str, Any]:
    """A message of a hook, or the kernel's result for a call that has none."""
    call = message.get("tool_call_id")
    content = message["content"]
    if call and style == "responses":
        return {"type": "function_call_output", "call_id": call, "output": content}
    if call and style == "blocks":
        result = {"type": "tool_result", "tool_use_id": call, "content": content}
        return {"role": "user", "content": [result]}
    if call:
        return {"role": "tool", "tool_call_id": call, "content": content}
    role = message["role"]
    if style == "blocks" and role != "assistant":
        role = "user"
    return {"role": role, "content": content}
