"""The SDK's input items as messages that hooks read, and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

from agents import TResponseInputItem

from amplifier_core.utils.copying import is_same
from amplifier_hooks.external.messages import Placed, Plain, read_text

Item = dict[str, Any]
_TEXTS = ("input_text", "output_text", "text", "refusal", "summary_text", "reasoning_text")
_CALLS = ("function_call", "custom_tool_call")


class CannotWrite(ValueError):
    """A hook left something that the SDK has no item for."""


def read_arguments(raw: str) -> dict[str, Any]:
    """The arguments of a call, or its text where they are no JSON object."""
    try:
        found = json.loads(raw) if raw.strip() else {}
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {"input": raw}


def write_arguments(given: dict[str, Any], raw: str) -> str:
    """The arguments as the SDK wants them: the very text, if nobody changed them."""
    if is_same(given, read_arguments(raw)):
        return raw
    return json.dumps(given, ensure_ascii=False)


def list_items(given: str | Sequence[TResponseInputItem]) -> list[Item]:
    """The items of an input."""
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return [cast(Item, one) for one in given]


# Reading


def read_items(instructions: str | None, items: Sequence[Item]) -> list[Plain]:
    """One message for the instructions, if there are some, and one for each item."""
    said = [read_item(one) for one in items]
    return said if instructions is None else [{"role": "system", "content": instructions}, *said]


def read_item(item: Item) -> Plain:
    """What hooks see of an item."""
    kind = str(item.get("type") or "message")
    if "role" in item:
        return {"role": item["role"], "content": _read_content(item.get("content"))}
    if kind in _CALLS:
        raw = item.get("arguments") if kind == "function_call" else item.get("input")
        return _read_call(item, str(item.get("name")), read_arguments(str(raw or "")))
    if kind.endswith("_output"):
        content = _read_content(item.get("output"))
        return {"role": "tool", "tool_call_id": item.get("call_id"), "content": content}
    if kind.endswith("_call"):
        return _read_call(item, kind.removesuffix("_call"), _read_rest(item))
    return {"role": "assistant", "content": read_text(item.get("summary") or ""), "kind": kind}


def _read_call(item: Item, name: str, arguments: dict[str, Any]) -> Plain:
    call = {"id": item.get("call_id") or item.get("id"), "name": name, "arguments": arguments}
    return {"role": "assistant", "content": "", "tool_calls": [call]}


def _read_rest(item: Item) -> dict[str, Any]:
    known = ("type", "id", "call_id", "status")
    return {key: value for key, value in item.items() if key not in known}


def _read_content(content: Any) -> Any:
    if not isinstance(content, list):
        return content if content is None or isinstance(content, str) else json.dumps(content)
    parts = [_read_part(one) for one in content]
    if all(one.get("type") == "text" for one in parts):
        return "".join(one["text"] for one in parts)
    return parts


def _read_part(part: Any) -> dict[str, Any]:
    if isinstance(part, dict) and part.get("type") in _TEXTS:
        return {"type": "text", "text": str(part.get("text") or part.get("refusal") or "")}
    return part if isinstance(part, dict) else {"type": "text", "text": str(part)}


# Writing


def write_items(
    placed: Sequence[Placed], instructions: str | None, items: Sequence[Item]
) -> tuple[str | None, list[TResponseInputItem]]:
    """The instructions and the items that go out."""
    if instructions is None:
        return None, [_write(one, items, 0) for one in placed]
    kept = [one for one in placed if one.index == 0]
    others = [_write(one, items, 1) for one in placed if one.index != 0]
    if not kept:
        return None, others
    changed = kept[0].message
    return instructions if changed is None else read_text(changed.get("content")), others


def _write(placed: Placed, items: Sequence[Item], offset: int) -> TResponseInputItem:
    if placed.index is None:
        made = make_item(placed.message or {})
    elif placed.message is None:
        made = items[placed.index - offset]
    else:
        made = change_item(items[placed.index - offset], placed.message)
    return cast(TResponseInputItem, made)


def make_item(message: Plain) -> Item:
    """An item for what a hook added."""
    role, text = message.get("role"), read_text(message.get("content"))
    if role in ("user", "assistant", "system", "developer"):
        return {"role": role, "content": text}
    raise CannotWrite(
        f"a hook added a message with the role {role!r}; have user, assistant, system"
    )


def change_item(item: Item, message: Plain) -> Item:
    """An item with what a hook made of it."""
    kind = str(item.get("type") or "message")
    if "role" in item:
        return {**item, "content": _write_content(item.get("content"), message.get("content"))}
    if kind == "function_call":
        return {**item, **_write_call(item, message)}
    if kind == "function_call_output":
        return {**item, "output": _write_content(item.get("output"), message.get("content"))}
    raise CannotWrite(f"a hook changed an item of type {kind!r}, which has to stay as it is")


def _write_call(item: Item, message: Plain) -> Item:
    calls = message.get("tool_calls") or []
    if len(calls) != 1 or calls[0].get("id") != item.get("call_id"):
        raise CannotWrite("a hook changed which call a message of the model is about")
    raw = str(item.get("arguments") or "")
    return {"name": calls[0]["name"], "arguments": write_arguments(calls[0]["arguments"], raw)}


def _write_content(before: Any, after: Any) -> Any:
    """Content in the form it had: a text, or parts with the other parts kept."""
    if not isinstance(before, list):
        return read_text(after)
    if isinstance(after, list):
        return [_write_part(before, one) for one in after]
    others = [one for one in before if not _is_text(one)]
    return [_write_part(before, {"type": "text", "text": str(after)}), *others]


def _write_part(before: list[Any], part: Any) -> Any:
    if not isinstance(part, dict) or part.get("type") != "text":
        return part
    # Parts of the model's own messages have a type of their own.
    kind = next((one["type"] for one in before if _is_text(one)), "input_text")
    made = {"type": "output_text" if kind == "refusal" else kind, "text": part["text"]}
    return {**made, "annotations": []} if made["type"] == "output_text" else made


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") in _TEXTS
