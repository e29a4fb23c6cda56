"""The interception points of the contract: our event data as their context, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agent_hooks import AgentContext, AgentContextBuilder, InterceptionPoint

from amplifier_core import events
from amplifier_hooks.frameworks.agent_hooks.translation import (
    change_reply,
    restore_messages,
    show_message,
    show_reply,
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
