"""Messages and replies: ours and those of the contract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Message = Mapping[str, Any]

_SHOWN = ("role", "content", "tool_call_id", "name")


def show_message(message: Message) -> dict[str, Any]:
    """A message as interceptors see it: without what only a session needs, and never null."""
    shown = {key: message[key] for key in _SHOWN if message.get(key) is not None}
    if message.get("tool_calls"):
        shown["tool_calls"] = [show_call(one) for one in message["tool_calls"]]
    return {"role": "user", "content": "", **shown}


def show_call(call: Message) -> dict[str, Any]:
    """A tool call that a model asked for."""
    return {
        "id": str(call.get("id") or "call"),
        "name": str(call["name"]),
        "args": call.get("arguments") or {},
    }


def read_call(call: Message) -> dict[str, Any]:
    """The same, back."""
    return {"id": str(call.get("id") or "call"), "name": call["name"], "arguments": call["args"]}


def restore_messages(
    ours: Sequence[Message], shown: Sequence[Message], left: Sequence[Message]
) -> list[dict[str, Any]]:
    """Our messages as they were left: one that nobody touched is our own again, wherever it is."""
    unused = list(range(len(shown)))
    restored = []
    for place, message in enumerate(left):
        same = next((i for i in unused if shown[i] == message), None)
        if same is not None:
            unused.remove(same)
            restored.append(dict(ours[same]))
        else:
            restored.append(_change_message(ours, shown, place, message))
    return restored


def _change_message(
    ours: Sequence[Message], shown: Sequence[Message], place: int, message: Message
) -> dict[str, Any]:
    """A changed message keeps its calls, whose results follow, unless they were changed, too."""
    changed = {key: value for key, value in message.items() if key != "tool_calls"}
    if place < len(ours) and shown[place].get("role") == message.get("role"):
        kept = {key: one for key, one in ours[place].items() if key in ("metadata", "timestamp")}
        changed = {**kept, **changed}
    calls = [read_call(one) for one in message.get("tool_calls") or ()]
    return {**changed, "tool_calls": calls} if calls else changed


def show_reply(response: Message) -> dict[str, Any]:
    """A reply of a model as interceptors see it."""
    return {
        "content": _read_text(response.get("content")),
        "tool_calls": [show_call(one) for one in response.get("tool_calls") or ()],
        "finish_reason": str(response.get("finish_reason") or "stop"),
    }


def _read_text(content: Any) -> str | None:
    if content is None or isinstance(content, str):
        return content
    texts = [str(one.get("text") or "") for one in content if one.get("type") == "text"]
    return "".join(texts) if texts else None


def change_reply(response: Message, before: Message, left: Message) -> dict[str, Any]:
    """Our reply with what was changed in theirs."""
    changed = dict(response)
    if left["content"] != before["content"]:
        text = "" if left["content"] is None else str(left["content"])
        # A thought may repeat what was taken out of the text.
        changed["content"] = [{"type": "text", "text": text}]
    if left["tool_calls"] != before["tool_calls"]:
        changed["tool_calls"] = [read_call(one) for one in left["tool_calls"]]
        changed["content"] = [
            one for one in changed.get("content") or () if one.get("type") != "tool_call"
        ]
    changed["finish_reason"] = left["finish_reason"]
    return changed
