"""What is said in AGENT-HOOKS, in our words, and our answers in its."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agent_hooks import Decision, Transform, Verdict, Warning

from amplifier_core.answers import Outcome
from amplifier_core.approval import ApprovalQuestion
from amplifier_core.dispatch import Answer
from amplifier_core.utils.copying import is_same

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


def read_text(content: Any) -> str:
    """What a person would read of it; a shape that nobody knows as JSON."""
    if content is None or isinstance(content, str):
        return content or ""
    place = _find_message(content)
    if place is not None:
        return read_text(content[place]["content"])
    if _has_blocks(content):
        return "".join(str(one["text"]) for one in content if _is_text(one))
    return json.dumps(content, ensure_ascii=False)


def replace_text(content: Any, text: str) -> Any:
    """The content with another text, and everything else as it was."""
    if text == read_text(content):
        return content
    place = None if isinstance(content, str) else _find_message(content)
    if place is not None:
        message = {**content[place], "content": replace_text(content[place]["content"], text)}
        return [*content[:place], message, *content[place + 1 :]]
    if not isinstance(content, str) and _has_blocks(content):
        first = next(place for place, one in enumerate(content) if _is_text(one))
        others = [one for one in content[first + 1 :] if not _is_text(one)]
        return [*content[:first], {**content[first], "text": text}, *others]
    return text


def _find_message(content: Any) -> int | None:
    """Where the last message with a text is, if these are messages."""
    if not isinstance(content, list):
        return None
    for place in range(len(content) - 1, -1, -1):
        one = content[place]
        if isinstance(one, dict) and "role" in one and _holds_text(one.get("content")):
            return place
    return None


def _holds_text(content: Any) -> bool:
    return bool(content) if isinstance(content, str) else _has_blocks(content)


def _has_blocks(content: Any) -> bool:
    return isinstance(content, list) and any(map(_is_text, content))


def _is_text(block: Any) -> bool:
    return (
        isinstance(block, dict)
        and block.get("type") == "text"
        and isinstance(block.get("text"), str)
    )


_NAME = re.compile(r"[A-Za-z0-9_-]+")
CHANGED_AND_ASKED = (
    "a hook changed this and another one asks about it; the contract can carry a change or a "
    "question, not both"
)


def write_denial(outcome: Outcome) -> Verdict:
    """A denial; what a failed hook raised stays in our own trail."""
    failed = any(one.error is not None and one.hook == outcome.hook for one in outcome.answers)
    message = f"hook '{outcome.hook}' failed" if failed else outcome.reason or "no reason given"
    return Verdict(
        decision=Decision.DENY,
        reason=name_reason(outcome.hook),
        message=message,
        warnings=list_warnings(outcome.answers),
    )


def write_question(questions: Sequence[ApprovalQuestion], answers: Iterable[Answer]) -> Verdict:
    """A denial that the host's resolver may lift, with everything that was asked."""
    return Verdict(
        decision=Decision.DENY,
        reason=name_reason(questions[0].hook),
        message="; ".join(one.prompt for one in questions),
        warnings=list_warnings(answers),
        approval={"questions": [_describe_question(one) for one in questions]},
    )


def _describe_question(question: ApprovalQuestion) -> dict[str, Any]:
    return {
        "hook": question.hook,
        "prompt": question.prompt,
        "options": list(question.options),
        "digest": question.digest,
    }


def write_permission(before: Any, left: Any, answers: Iterable[Answer]) -> Verdict:
    """Allowed as it was, or with what the hooks made of it."""
    warnings = list_warnings(answers)
    if is_same(left, before):
        return Verdict(decision=Decision.ALLOW, warnings=warnings)
    return write_change(*find_change(before, left), warnings)


def write_change(path: str, value: Any, warnings: tuple[Warning, ...]) -> Verdict:
    """Allowed with a change."""
    change = Transform(path=path, value=value)
    return Verdict(decision=Decision.TRANSFORM, transform=change, warnings=warnings)


def find_change(before: Any, left: Any, path: str = "$target") -> tuple[str, Any]:
    """The smallest part that holds every difference, as a path, and what is there now."""
    if isinstance(before, dict) and isinstance(left, dict) and before.keys() == left.keys():
        keys: list[Any] = [key for key in before if not is_same(before[key], left[key])]
        if len(keys) == 1 and isinstance(keys[0], str) and _NAME.fullmatch(keys[0]):
            return find_change(before[keys[0]], left[keys[0]], f"{path}.{keys[0]}")
    if isinstance(before, list) and isinstance(left, list) and len(before) == len(left):
        places = [place for place, one in enumerate(before) if not is_same(one, left[place])]
        if len(places) == 1:
            place = places[0]
            return find_change(before[place], left[place], f"{path}[{place}]")
    return path, left


def name_reason(hook: str) -> str:
    """The code of a reason: which of our hooks gave it."""
    return f"amplifier:{hook or 'hook'}"


def list_warnings(answers: Iterable[Answer]) -> tuple[Warning, ...]:
    """The warnings that hooks have for the person."""
    return tuple(
        Warning(reason=name_reason(one.hook), message=one.result.user_message)
        for one in answers
        if one.result.user_message and one.result.user_message_level != "info"
    )
