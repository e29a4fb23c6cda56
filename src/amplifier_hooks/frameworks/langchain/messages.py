"""Messages, prompts, requests, replies and results of LangChain in our words, and back."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, TypeAlias

from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
)
from langchain_core.tools import BaseTool
from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages
from langgraph.types import Command
from pydantic import TypeAdapter, ValidationError

from amplifier_core.models import ToolResult
from amplifier_core.utils import describe_error
from amplifier_hooks.external.messages import Placed, Plain, read_text
from amplifier_hooks.external.verdicts import (
    Called,
    Reply,
    ReplyVerdict,
    RequestVerdict,
    TextVerdict,
)
from amplifier_hooks.guards.policy.unread_tools import OfferedTool, says_read_only

Result: TypeAlias = ToolMessage | Command[Any]


def read_result(value: Any) -> ToolResult:
    """What hooks see of what a tool returned."""
    message = find_message(value)
    if message is None:
        return ToolResult(output=None if value is None else str(value))
    if message.status != "error":
        return ToolResult(output=message.content)
    return ToolResult(success=False, output=message.content, error=message.text)


def find_message(value: Any) -> ToolMessage | None:
    """The message for the model in a result, which may also be a command to the graph."""
    if isinstance(value, ToolMessage):
        return value
    if isinstance(value, list):
        return next((found for one in value if (found := find_message(one)) is not None), None)
    if isinstance(value, Command) and isinstance(value.update, Mapping):
        return find_message(list(value.update.get("messages") or ()))
    return None


def change_result(called: Called, call: ToolCall) -> Any:
    """The result for LangChain; exactly what the tool returned if hooks left it alone."""
    if called.untouched:
        return called.value
    message = find_message(called.value)
    if called.result.denied or message is None:
        return refuse_call(call, called.text)
    # What a tool returns beside the text is not for the model, but says the same.
    status = "success" if called.result.success else "error"
    changes = {"content": read_content(called), "artifact": None, "status": status}
    return _put(called.value, message, message.model_copy(update=changes))


def read_content(called: Called) -> Any:
    """Blocks that hooks left are blocks; anything else is a text."""
    output = called.result.output
    are_blocks = isinstance(output, list) and all(isinstance(one, dict) for one in output)
    return output if are_blocks else called.text


def refuse_call(call: ToolCall, reason: str) -> ToolMessage:
    """What the model reads of a call that did not run, or whose result is withheld."""
    return ToolMessage(
        content=reason, tool_call_id=call["id"] or "", name=call["name"], status="error"
    )


def _put(value: Any, message: ToolMessage, changed: ToolMessage) -> Any:
    if value is message:
        return changed
    if isinstance(value, list):
        return [_put(one, message, changed) for one in value]
    if isinstance(value, Command) and isinstance(value.update, Mapping):
        messages = [_put(one, message, changed) for one in value.update.get("messages") or ()]
        if not messages:
            return value
        return replace(value, update={**value.update, "messages": messages})
    return value


ROLES = {"human": "user", "ai": "assistant"}
CALL_BLOCKS = frozenset({"tool_use", "tool_call", "function_call"})
RAW_CALLS = ("tool_calls", "function_call")

_FRAME = re.compile(r"<(?=/?system-note\b)", re.IGNORECASE)


def describe_message(message: BaseMessage) -> Plain:
    """A message as hooks see it."""
    named = message.role if isinstance(message, ChatMessage) else ""
    role = named or ROLES.get(message.type, message.type)
    plain: Plain = {"role": role, "content": message.content}
    if isinstance(message, AIMessage) and message.tool_calls:
        plain["tool_calls"] = [describe_call(call) for call in message.tool_calls]
    if isinstance(message, ToolMessage):
        plain["tool_call_id"] = message.tool_call_id
    if message.name:
        plain["name"] = message.name
    return plain


def describe_call(call: ToolCall) -> dict[str, Any]:
    """A tool call as hooks see it."""
    return {"id": call["id"] or "", "name": call["name"], "arguments": call["args"]}


def replace_text(message: BaseMessage, text: str) -> BaseMessage:
    """A copy that says something else; what is no text in it stays, such as an image."""
    if isinstance(message.content, str):
        return message.model_copy(update={"content": text})
    others = [block for block in message.content if not _is_text(block)]
    content = [{"type": "text", "text": text}, *others]
    return message.model_copy(update={"content": content})


def replace_calls(message: AIMessage, calls: Sequence[dict[str, Any]]) -> AIMessage:
    """A copy with other tool calls, in all the places where a message has them."""
    kept = [
        ToolCall(name=one["name"], args=one["arguments"], id=one["id"], type="tool_call")
        for one in calls
    ]
    raw = {key: value for key, value in message.additional_kwargs.items() if key not in RAW_CALLS}
    changes: dict[str, Any] = {"tool_calls": kept, "additional_kwargs": raw}
    changes["invalid_tool_calls"] = []
    if isinstance(message.content, list):
        changes["content"] = [block for block in message.content if not _is_call(block)]
    return message.model_copy(update=changes)


def place_request(
    system: SystemMessage | None, messages: Sequence[AnyMessage], placed: Sequence[Placed]
) -> tuple[SystemMessage | None, list[AnyMessage]]:
    """What to send, after hooks: the leading system message, and the conversation."""
    own: list[Any] = [*([] if system is None else [system]), *messages]
    sent: list[Any] = []
    leading: SystemMessage | None = None
    for one in placed:
        message = _build(one, own)
        if one.index == 0 and system is not None:
            leading = message
        else:
            sent.append(message)
    return leading, sent


def _build(placed: Placed, own: Sequence[BaseMessage]) -> Any:
    if placed.index is None:
        return build_message(placed.message or {})
    original = own[placed.index]
    return original if placed.message is None else change_message(original, placed.message)


def change_message(original: BaseMessage, plain: Plain) -> BaseMessage:
    """A copy of a message as hooks left it."""
    changed = original.model_copy(update={"content": plain.get("content") or ""})
    calls = plain.get("tool_calls") or []
    if isinstance(changed, AIMessage) and calls != describe_message(original).get("tool_calls", []):
        return replace_calls(changed, calls)
    return changed


def build_message(plain: Plain) -> BaseMessage:
    """A message that a hook added.

    Several models take system messages in front only, so one that comes later is marked text of
    the user's.
    """
    role = plain.get("role")
    content = plain.get("content") or ""
    if role == "assistant":
        calls = plain.get("tool_calls") or []
        return replace_calls(AIMessage(content), calls) if calls else AIMessage(content)
    if role == "tool":
        return ToolMessage(content, tool_call_id=str(plain.get("tool_call_id") or ""))
    if role in ("system", "developer"):
        said = _FRAME.sub("<\\\\", read_text(content))
        content = f"<system-note>\n{said}\n</system-note>"
    return HumanMessage(content)


def _is_text(block: Any) -> bool:
    return isinstance(block, str) or (isinstance(block, dict) and block.get("type") == "text")


def _is_call(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") in CALL_BLOCKS


WITHHELD = "[This prompt was withheld.]"


def read_prompt(messages: Sequence[AnyMessage]) -> str:
    """What people have said since the agent last spoke."""
    return "\n\n".join(read_text(one.content) for one in _find_prompt(messages))


def _find_prompt(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    said = list(takewhile(lambda one: isinstance(one, HumanMessage), reversed(messages)))
    return said[::-1]


def read_task(state: Any) -> str:
    """What an agent was last asked to do, by the state of its graph."""
    messages = state.get("messages") if isinstance(state, Mapping) else state
    messages = messages if isinstance(messages, list) else getattr(state, "messages", [])
    said = (one for one in reversed(messages) if isinstance(one, HumanMessage))
    return next((read_text(one.content) for one in said), "")


def change_prompt(state: Mapping[str, Any], verdict: TextVerdict) -> dict[str, Any] | None:
    """What becomes of the state: nothing, another prompt, or the end of the run.

    A prompt that hooks refused does not stay in the conversation, or the next turn would send it.
    """
    if verdict.allowed and not verdict.changed:
        return None
    found = _find_prompt(state["messages"])
    if verdict.allowed:
        return {"messages": _replace_prompt(found, verdict.text)}
    withheld = _replace_prompt(found, WITHHELD) if found else []
    refused = {"jump_to": "end", "messages": [*withheld, AIMessage(verdict.text)]}
    return {**refused, **_drop_structured(state)}


def _replace_prompt(found: Sequence[BaseMessage], text: str) -> list[BaseMessage]:
    if not found:
        return [HumanMessage(text)]
    *others, last = found
    removed = [RemoveMessage(id=one.id) for one in others if one.id is not None]
    kept = HumanMessage(text, id=last.id) if text == WITHHELD else replace_text(last, text)
    return [*removed, kept]


def read_answer(state: Mapping[str, Any]) -> str:
    """What the caller of the agent gets as its answer."""
    said = _find_answer(state["messages"])
    structured = state.get("structured_response")
    if structured is not None and not (said and isinstance(said[-1], AIMessage)):
        return TypeAdapter(Any).dump_json(structured).decode()
    return read_text(said[-1].content) if said else ""


def _find_answer(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """The last thing that the agent said, with the results that stand behind it, if any do."""
    count = len(messages)
    for index in range(count - 1, -1, -1):
        if isinstance(messages[index], AIMessage):
            return list(messages[index:])
        if not isinstance(messages[index], ToolMessage):
            break
    return []


def change_answer(state: Mapping[str, Any], verdict: TextVerdict) -> dict[str, Any] | None:
    """What becomes of the state before the caller gets it."""
    if verdict.allowed and not verdict.changed:
        return None
    structured = state.get("structured_response")
    if not verdict.allowed or structured is None:
        return {**_say(state, verdict.text), **_drop_structured(state)}
    try:
        parsed = parse_like(structured, verdict.text)
    except ValidationError as error:
        why = f"A hook left no {type(structured).__name__}: {describe_error(error)}"
        return {**_say(state, why), **_drop_structured(state)}
    return {**_say(state, verdict.text), "structured_response": parsed}


def _say(state: Mapping[str, Any], text: str) -> dict[str, Any]:
    said = _find_answer(state["messages"])
    if not said:
        return {"messages": [AIMessage(text)]}
    removed = [RemoveMessage(id=one.id) for one in said[1:] if one.id is not None]
    return {"messages": [*removed, AIMessage(text, id=said[0].id, name=said[0].name)]}


def _drop_structured(state: Mapping[str, Any]) -> dict[str, Any]:
    return {} if state.get("structured_response") is None else {"structured_response": None}


def parse_like(structured: Any, text: str) -> Any:
    """A text as the kind of answer that the agent was asked for; ValidationError if it is none."""
    return TypeAdapter(type(structured)).validate_json(text)


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
        return write_refusal(verdict.reason)
    if not verdict.changed or message is None:
        return response
    if response.structured_response is not None:
        return _change_structured(response, message, verdict)
    return ModelResponse(result=_replace(response, message, _change(message, verdict)))


def describe_failure(provider: str, error: Exception) -> dict[str, Any]:
    """A request that failed, for hooks."""
    kind = type(error).__name__
    return {"provider": provider, "error": {"type": kind, "message": describe_error(error)}}


def write_refusal(reason: str) -> ModelResponse[Any]:
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
        return write_refusal("A hook changed the tool call that LangChain has read as the answer")
    if message.tool_calls:
        result = _replace(response, message, _change(message, verdict))
        return ModelResponse(result=result, structured_response=response.structured_response)
    try:
        parsed = parse_like(response.structured_response, verdict.text or "")
    except ValidationError as error:
        kind = type(response.structured_response).__name__
        return write_refusal(f"A hook left no {kind}: {describe_error(error)}")
    result = _replace(response, message, _change(message, verdict))
    return ModelResponse(result=result, structured_response=parsed)


def _find_message(response: ModelResponse[Any]) -> AIMessage | None:
    return next((one for one in response.result if isinstance(one, AIMessage)), None)


def _replace(
    response: ModelResponse[Any], message: AIMessage, changed: AIMessage
) -> list[BaseMessage]:
    return [changed if one is message else one for one in response.result]


@dataclass(frozen=True, slots=True)
class Kept:
    """A message of a hook; `after` is the id of the one that it stood behind in the request."""

    after: str | None
    message: Plain


def keep(messages: Sequence[AnyMessage], lasting: Sequence[Plain]) -> list[Kept]:
    """What to store of a request's lasting messages, once the run is over."""
    after = messages[-1].id if messages else None
    return [Kept(after, one) for one in lasting]


def store(
    state: Mapping[str, Any], update: dict[str, Any] | None, kept: Sequence[Kept]
) -> dict[str, Any] | None:
    """The update of the state with what hooks added: the next turn of the thread has it too.

    Messages can only be appended or replaced, so the conversation is written anew.
    """
    if not kept:
        return update
    changes = dict(update or {})
    said: Any = add_messages(list(state["messages"]), list(changes.get("messages") or ()))
    written = [RemoveMessage(id=REMOVE_ALL_MESSAGES), *_insert(said, kept)]
    return {**changes, "messages": written}


def _insert(messages: Sequence[BaseMessage], kept: Sequence[Kept]) -> list[BaseMessage]:
    """Each in its place; in front, if what it stood behind is gone."""
    known = {one.id for one in messages}
    written = [build_message(one.message) for one in kept if one.after not in known]
    for message in messages:
        written.append(message)
        written += [build_message(one.message) for one in kept if one.after == message.id]
    return written
