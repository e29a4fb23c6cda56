"""Events, data, verdicts and points of the contract, and ours."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent_hooks import (
    AgentContext,
    AgentContextBuilder,
    Decision,
    InterceptionPoint,
    Transform,
    Verdict,
    Warning,
)

from amplifier_core import events
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


Data = Mapping[str, Any]

ROLES = ("user", "system", "external")
ENDS = {"complete": "completed", "user_exit": "cancelled"}
"""How they call our reasons; whatever else ended a session is an error there."""

_USAGE = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens"}


class UnusableChange(ValueError):
    """An interceptor left something that this host cannot carry out."""


@dataclass(frozen=True, slots=True)
class Point:
    """One point: what of our data may be rewritten there, and what becomes of it."""

    kind: InterceptionPoint
    project: Callable[[Data], Any]
    """What of the data is the target, as values that JSON can hold."""
    open: Callable[[AgentContextBuilder, Any, Data], AgentContext]
    """The context with such a target."""
    merge: Callable[[Data, Any, Any], dict[str, Any]]
    """The data with the target as it was left, given how it was before."""

    def find(self, context: AgentContext) -> Any:
        """The target as the interceptors left it."""
        if self.kind is InterceptionPoint.AGENT_STARTUP:
            return context["target"]["tools_registered"]
        return context["target"]


def _keep(data: Data, before: Any, left: Any) -> dict[str, Any]:
    raise UnusableChange("there is nothing to rewrite here")


# The session


def _list_tools(data: Data) -> list[str]:
    return sorted(str(name) for name in data.get("tools") or ())


def _open_startup(builder: AgentContextBuilder, tools: Any, data: Data) -> AgentContext:
    return builder.agent_startup(tools_registered=tools)


def _read_end(data: Data) -> dict[str, Any]:
    summary: dict[str, Any] = {"reason": ENDS.get(str(data.get("reason")), "error")}
    stats = data.get("stats") or {}
    if isinstance(calls := stats.get("tool_invocations"), int):
        summary["tool_calls"] = calls
    if isinstance(spent := data.get("duration_ms"), int):
        summary["duration_seconds"] = spent / 1000
    return summary


def _open_shutdown(builder: AgentContextBuilder, summary: Any, data: Data) -> AgentContext:
    return builder.agent_shutdown(**summary)


# The prompt and its answer


def _read_prompt(data: Data) -> dict[str, Any]:
    role = (data.get("metadata") or {}).get("role")
    return {"content": data["prompt"], "role": role if role in ROLES else ROLES[0]}


def _open_input(builder: AgentContextBuilder, prompt: Any, data: Data) -> AgentContext:
    return builder.input(**prompt)


def _change_prompt(data: Data, before: Any, left: Any) -> dict[str, Any]:
    if left.get("role") != before["role"]:
        raise UnusableChange(f"the role of a prompt stays {before['role']!r} here")
    return {**data, "prompt": _require_text(left.get("content"), "a prompt")}


def _read_answer(data: Data) -> dict[str, Any]:
    return {"content": data["response"]}


def _open_output(builder: AgentContextBuilder, answer: Any, data: Data) -> AgentContext:
    return builder.output(**answer)


def _change_answer(data: Data, before: Any, left: Any) -> dict[str, Any]:
    return {**data, "response": _require_text(left.get("content"), "an answer")}


def _require_text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise UnusableChange(f"{what} is a text here, got {type(value).__name__}")
    return value


# The model


def _read_messages(data: Data) -> list[dict[str, Any]]:
    return [show_message(one) for one in data["messages"]]


def _open_request(builder: AgentContextBuilder, messages: Any, data: Data) -> AgentContext:
    named = [{"name": str(name)} for name in data.get("tools") or ()]
    return builder.pre_model_call(
        model_id=str(data.get("model") or data["provider"]),
        messages=messages,
        tools=named,
        request_id=data.get("request_id"),
        vendor=str(data["provider"]),
    )


def _change_messages(data: Data, before: Any, left: Any) -> dict[str, Any]:
    if not isinstance(left, list) or not all(isinstance(one, dict) for one in left):
        raise UnusableChange(f"messages are a list of objects, got {type(left).__name__}")
    return {**data, "messages": restore_messages(data["messages"], before, left)}


def _read_reply(data: Data) -> dict[str, Any]:
    return show_reply(data["response"])


def _open_response(builder: AgentContextBuilder, reply: Any, data: Data) -> AgentContext:
    usage = data.get("usage") or {}
    counted = {
        theirs: usage[ours] for theirs, ours in _USAGE.items() if isinstance(usage.get(ours), int)
    }
    return builder.post_model_call(
        model_id=str(data.get("model") or data["provider"]),
        usage=counted or None,
        request_id=data.get("request_id"),
        **reply,
    )


def _change_reply(data: Data, before: Any, left: Any) -> dict[str, Any]:
    try:
        return {**data, "response": change_reply(data["response"], before, left)}
    except (KeyError, TypeError, AttributeError) as error:
        raise UnusableChange(
            f"a reply has content, tool_calls and finish_reason: {error}"
        ) from error


# Tools


def _read_arguments(data: Data) -> Any:
    return data["tool_input"]


def _open_call(builder: AgentContextBuilder, arguments: Any, data: Data) -> AgentContext:
    return builder.pre_tool_call(
        call_id=_name_call(data), name=str(data["tool_name"]), args=arguments
    )


def _change_arguments(data: Data, before: Any, left: Any) -> dict[str, Any]:
    if not isinstance(left, dict):
        raise UnusableChange(f"arguments are an object, got {type(left).__name__}")
    return {**data, "tool_input": left}


def _read_value(data: Data) -> Any:
    result = data["tool_result"]
    return result.get("error") if result.get("output") is None else result["output"]


def _open_result(builder: AgentContextBuilder, value: Any, data: Data) -> AgentContext:
    return builder.post_tool_call(
        call_id=_name_call(data),
        name=str(data["tool_name"]),
        args=data["tool_input"],
        value=value,
        is_error=not data.get("success", True),
        duration_ms=data.get("duration_ms"),
    )


def _change_value(data: Data, before: Any, left: Any) -> dict[str, Any]:
    return {**data, "tool_result": {**data["tool_result"], "output": left}}


def _name_call(data: Data) -> str:
    return str(data.get("tool_call_id") or "call")


POINTS: dict[str, Point] = {
    events.SESSION_START: Point(InterceptionPoint.AGENT_STARTUP, _list_tools, _open_startup, _keep),
    events.PROMPT_SUBMIT: Point(InterceptionPoint.INPUT, _read_prompt, _open_input, _change_prompt),
    events.PROVIDER_REQUEST: Point(
        InterceptionPoint.PRE_MODEL_CALL, _read_messages, _open_request, _change_messages
    ),
    events.PROVIDER_RESPONSE: Point(
        InterceptionPoint.POST_MODEL_CALL, _read_reply, _open_response, _change_reply
    ),
    events.TOOL_PRE: Point(
        InterceptionPoint.PRE_TOOL_CALL, _read_arguments, _open_call, _change_arguments
    ),
    events.TOOL_POST: Point(
        InterceptionPoint.POST_TOOL_CALL, _read_value, _open_result, _change_value
    ),
    events.PROMPT_ANSWER: Point(
        InterceptionPoint.OUTPUT, _read_answer, _open_output, _change_answer
    ),
    events.SESSION_END: Point(InterceptionPoint.AGENT_SHUTDOWN, _read_end, _open_shutdown, _keep),
}
"""The eight points, by our events."""
