"""Requests to a model and its replies, as hooks see and change them."""

from __future__ import annotations

import time
from typing import Any

from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import BaseTool
from pydantic import ValidationError

from amplifier_core.utils import describe_error
from amplifier_hooks.external.messages import Plain, read_text
from amplifier_hooks.external.verdicts import Reply, ReplyVerdict, RequestVerdict
from amplifier_hooks.frameworks.langchain.messages import (
    describe_call,
    describe_message,
    place_request,
    replace_calls,
    replace_text,
)
from amplifier_hooks.frameworks.langchain.prompts import parse_like
from amplifier_hooks.guards.policy.unread_tools import OfferedTool, says_read_only

TOKENS = ("input_tokens", "output_tokens", "total_tokens")


def describe_request(request: ModelRequest[Any]) -> list[Plain]:
    """The conversation that would be sent."""
    system = [] if request.system_message is None else [request.system_message]
    return [describe_message(one) for one in [*system, *request.messages]]


def name_provider(request: ModelRequest[Any]) -> str:
    """Whose model it is."""
    return str(request.model._llm_type)


def name_model(request: ModelRequest[Any]) -> str | None:
    """Which model it is, if it says so."""
    for key in ("model_name", "model"):
        name = getattr(request.model, key, None)
        if isinstance(name, str):
            return name
    return None


def list_tools(request: ModelRequest[Any]) -> list[str | OfferedTool]:
    """The tools that the model may call; of those at the provider, their type."""
    return [
        _describe_tool(one)
        if isinstance(one, BaseTool)
        else str(one.get("name") or one.get("type"))
        for one in request.tools
    ]


def _describe_tool(tool: BaseTool) -> OfferedTool:
    def make_schema() -> dict[str, Any] | None:
        try:
            found: Any = tool.tool_call_schema
            return found if isinstance(found, dict) else dict(found.model_json_schema())
        except Exception:  # noqa: BLE001 - a type that has no schema; hooks do not need one
            return None

    return OfferedTool(tool.name, make_schema, says_read_only(tool.metadata))


def change_request(request: ModelRequest[Any], verdict: RequestVerdict) -> ModelRequest[Any]:
    """The request as hooks left it; the same object if they left it alone."""
    if not verdict.changed:
        return request
    system, messages = place_request(request.system_message, request.messages, verdict.placed)
    return request.override(system_message=system, messages=messages)


def read_reply(response: ModelResponse[Any], started: float) -> Reply:
    """What the model said, for hooks; `started` is by `perf_counter`."""
    message = _find_message(response)
    if message is None:
        return Reply("")
    told = message.response_metadata
    usage: dict[str, Any] = dict(message.usage_metadata or {})
    return Reply(
        text=read_text(message.content),
        calls=[describe_call(call) for call in message.tool_calls],
        model=told.get("model_name") or told.get("model"),
        usage={key: usage[key] for key in TOKENS if key in usage},
        finish_reason=told.get("finish_reason") or told.get("stop_reason"),
        duration_ms=int((time.perf_counter() - started) * 1000),
    )


def change_reply(response: ModelResponse[Any], verdict: ReplyVerdict) -> ModelResponse[Any]:
    """The reply as hooks left it; the same object if they left it alone."""
    message = _find_message(response)
    if not verdict.allowed:
        return refuse(verdict.reason)
    if not verdict.changed or message is None:
        return response
    if response.structured_response is not None:
        return _change_structured(response, message, verdict)
    return ModelResponse(result=_replace(response, message, _change(message, verdict)))


def describe_failure(provider: str, error: Exception) -> dict[str, Any]:
    """A request that failed, for hooks."""
    kind = type(error).__name__
    return {"provider": provider, "error": {"type": kind, "message": describe_error(error)}}


def refuse(reason: str) -> ModelResponse[Any]:
    """The reply instead of one that nobody gets: it calls no tool, so the turn ends."""
    return ModelResponse(result=[AIMessage(reason)])


def _change(message: AIMessage, verdict: ReplyVerdict) -> AIMessage:
    if verdict.calls is not None:
        message = replace_calls(message, verdict.calls)
    if verdict.text is None:
        return message
    changed = replace_text(message, verdict.text)
    return changed if isinstance(changed, AIMessage) else message


def _change_structured(
    response: ModelResponse[Any], message: AIMessage, verdict: ReplyVerdict
) -> ModelResponse[Any]:
    """LangChain has parsed the reply already: parse the text again, refuse other calls."""
    if verdict.calls is not None:
        return refuse("A hook changed the tool call that LangChain has read as the answer")
    if message.tool_calls:
        result = _replace(response, message, _change(message, verdict))
        return ModelResponse(result=result, structured_response=response.structured_response)
    try:
        parsed = parse_like(response.structured_response, verdict.text or "")
    except ValidationError as error:
        kind = type(response.structured_response).__name__
        return refuse(f"A hook left no {kind}: {describe_error(error)}")
    result = _replace(response, message, _change(message, verdict))
    return ModelResponse(result=result, structured_response=parsed)


def _find_message(response: ModelResponse[Any]) -> AIMessage | None:
    return next((one for one in response.result if isinstance(one, AIMessage)), None)


def _replace(
    response: ModelResponse[Any], message: AIMessage, changed: AIMessage
) -> list[BaseMessage]:
    return [changed if one is message else one for one in response.result]
