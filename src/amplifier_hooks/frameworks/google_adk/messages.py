"""Requests, replies and answers: as hooks see them, and as they left them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types
from pydantic_core import to_jsonable_python

from amplifier_core.models import ToolResult
from amplifier_core.utils import safe_repr
from amplifier_core.utils.copying import is_same
from amplifier_hooks.external.messages import Placed, Plain
from amplifier_hooks.external.verdicts import Reply, ReplyVerdict


def read_text(parts: Iterable[types.Part] | None) -> str:
    """The text of parts, without the model's thoughts."""
    return "".join(part.text for part in parts or () if is_text(part) and part.text)


def is_text(part: types.Part) -> bool:
    """Whether a part is something that is said."""
    return part.text is not None and not part.thought


def make_content(role: str, text: str) -> types.Content:
    """A content of one text."""
    return types.Content(role=role, parts=[types.Part(text=text)])


def replace_text(content: types.Content, text: str) -> types.Content:
    """The content with this text in the place of its first, and all else that it had."""
    return content.model_copy(update={"parts": replace_text_of(content.parts or [], text)})


def replace_text_of(parts: list[types.Part], text: str) -> list[types.Part]:
    """The parts with this text in the place of their first."""
    place = next((number for number, part in enumerate(parts) if is_text(part)), 0)
    before = [part for part in parts[:place] if not is_text(part)]
    after = [part for part in parts[place:] if not is_text(part)]
    return [*before, *([types.Part(text=text)] if text else []), *after]


def read_value(value: Any) -> ToolResult:
    """What hooks see of what a tool returned."""
    plain = make_plain(value)
    if isinstance(plain, dict) and plain.get("error"):
        return ToolResult(success=False, output=plain, error=str(plain["error"]))
    return ToolResult(output=plain)


def make_plain(value: Any) -> Any:
    """The value as JSON would hold it; what it cannot hold is described."""
    try:
        return to_jsonable_python(value, serialize_unknown=True, bytes_mode="base64")
    except Exception:  # noqa: BLE001 - cycles, and classes that cannot write themselves
        return safe_repr(value)


def write_value(result: ToolResult) -> Any:
    """What the model is given of a result that hooks have changed or refused."""
    if result.denied or (not result.success and not isinstance(result.output, dict)):
        return {"error": result.get_serialized_output()}
    return result.get_serialized_output() if result.output is None else result.output


def read_response(response: types.FunctionResponse) -> str:
    """The text of a tool's result in a request."""
    given = response.response or {}
    if given.keys() == {"result"} and isinstance(given["result"], str):
        return given["result"]
    return json.dumps(make_plain(given), ensure_ascii=False)


SYSTEM = -1
"""The place of the instructions, which are no content."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A message, and the parts of a content that it stands for."""

    message: Plain
    place: int
    parts: tuple[types.Part, ...] = ()


def read_request(request: LlmRequest, *, in_full: bool = True) -> list[Piece]:
    """The messages of a request; each tool result is one by itself.

    If not `in_full`, nobody reads them: each content is one piece, known by its number.
    """
    pieces: list[Piece] = []
    if said := _read_instructions(request):
        pieces.append(Piece({"role": "system", "content": said}, SYSTEM))
    for place, content in enumerate(request.contents):
        if in_full:
            pieces += _read_content(content, place)
        else:
            number: Plain = {"role": _read_role(content), "content": str(place)}
            pieces.append(Piece(number, place, tuple(content.parts or ())))
    return pieces


def read_tool_names(request: LlmRequest) -> list[str]:
    """The tools that the model is offered."""
    return list(request.tools_dict)


def _read_instructions(request: LlmRequest) -> str:
    said = request.config.system_instruction
    if said is None or isinstance(said, str):
        return said or ""
    if isinstance(said, types.Content):
        return read_text(said.parts)
    several = said if isinstance(said, list) else [said]
    parts = [types.Part(text=one) if isinstance(one, str) else one for one in several]
    return read_text(part for part in parts if isinstance(part, types.Part))


def _read_role(content: types.Content) -> str:
    return "assistant" if content.role == "model" else "user"


def _read_content(content: types.Content, place: int) -> list[Piece]:
    parts = content.parts or []
    results = [part for part in parts if part.function_response]
    rest = tuple(part for part in parts if not part.function_response)
    pieces = [_read_result(part, place) for part in results]
    if rest or not pieces:
        pieces.append(_read_speech(_read_role(content), rest, place))
    return pieces


def _read_result(part: types.Part, place: int) -> Piece:
    response = part.function_response or types.FunctionResponse()
    message: Plain = {
        "role": "tool",
        "content": read_response(response),
        "tool_call_id": response.id or "",
        "name": response.name or "",
    }
    return Piece(message, place, (part,))


def _read_speech(role: str, parts: tuple[types.Part, ...], place: int) -> Piece:
    message: Plain = {"role": role, "content": read_text(parts)}
    if calls := read_calls(parts):
        message["tool_calls"] = calls
    return Piece(message, place, parts)


def read_calls(parts: Sequence[types.Part]) -> list[Plain]:
    """The calls that a model made, as hooks see them; one without an id is known by its number."""
    calls = [part.function_call for part in parts if part.function_call]
    return [
        {
            "id": call.id or f"call-{number}",
            "name": call.name or "",
            "arguments": make_plain(call.args or {}),
        }
        for number, call in enumerate(calls)
    ]


def change_request(request: LlmRequest, pieces: Sequence[Piece], placed: Sequence[Placed]) -> None:
    """Put what hooks left into the request, in place: the framework goes on with this object."""
    instructions: str | None = None
    groups: list[tuple[int | None, list[types.Part], types.Content]] = []
    for one in placed:
        piece = None if one.index is None else pieces[one.index]
        if piece is not None and piece.place == SYSTEM:
            instructions = str((one.message or piece.message).get("content") or "")
            continue
        if piece is None:
            made = _make_content(one.message or {})
            groups.append((None, list(made.parts or ()), made))
            continue
        parts = _change_parts(piece, one.message)
        if groups and groups[-1][0] == piece.place:
            groups[-1][1].extend(parts)
        else:
            groups.append((piece.place, parts, request.contents[piece.place]))
    if instructions != (_read_instructions(request) or None):
        request.config.system_instruction = instructions
    request.contents = [_keep_or_copy(content, parts) for _, parts, content in groups]


def _keep_or_copy(content: types.Content, parts: list[types.Part]) -> types.Content:
    before = content.parts or []
    if len(before) == len(parts) and all(any(one is other for other in before) for one in parts):
        return content
    return content.model_copy(update={"parts": parts})


def _make_content(message: Plain) -> types.Content:
    """A message that a hook added; in the middle of a conversation, only users speak for others."""
    role = "model" if message.get("role") == "assistant" else "user"
    return make_content(role, str(message.get("content") or ""))


async def keep_messages(invocation: InvocationContext, lasting: Sequence[Plain]) -> None:
    """Put what hooks added for good into the session of the framework, for later turns too."""
    for said in lasting:
        event = Event(
            invocation_id=invocation.invocation_id,
            author="user",
            branch=invocation.branch,
            content=_make_content(said),
        )
        await invocation.session_service.append_event(session=invocation.session, event=event)


def _change_parts(piece: Piece, message: Plain | None) -> list[types.Part]:
    if message is None:
        return list(piece.parts)
    content = message.get("content")
    if piece.message["role"] == "tool":
        return [_change_result(part, content) for part in piece.parts]
    parts = list(piece.parts)
    if content != piece.message["content"]:
        parts = replace_text_of(parts, str(content or ""))
    wanted = message.get("tool_calls")
    if wanted != piece.message.get("tool_calls"):
        parts = change_calls(parts, wanted or [])
    return parts


def _change_result(part: types.Part, content: object) -> types.Part:
    response = part.function_response or types.FunctionResponse()
    given = content if isinstance(content, dict) else {"result": content}
    changed = response.model_copy(update={"response": given})
    return part.model_copy(update={"function_response": changed})


def change_calls(parts: Sequence[types.Part], wanted: Sequence[Plain]) -> list[types.Part]:
    """The parts with these calls in the place of theirs; an equal one stays the same object."""
    known = {
        call["id"]: part
        for call, part in zip(
            read_calls(parts), (part for part in parts if part.function_call), strict=True
        )
    }
    said = [part for part in parts if not part.function_call]
    return [*said, *(_change_call(known.get(str(call.get("id"))), call) for call in wanted)]


def _change_call(part: types.Part | None, call: Plain) -> types.Part:
    before = None if part is None else part.function_call
    name = call.get("name")
    arguments = call.get("arguments") or {}
    if part is None or before is None:
        return types.Part(function_call=types.FunctionCall(name=name, args=arguments))
    if before.name == name and is_same(arguments, make_plain(before.args or {})):
        return part
    # What else the model put beside the call, such as a signature, stays there.
    changed = before.model_copy(update={"name": name, "args": arguments})
    return part.model_copy(update={"function_call": changed})


def read_reply(response: LlmResponse, duration_ms: int) -> Reply:
    """What hooks see of a reply."""
    parts = (response.content.parts if response.content else None) or []
    reason = response.finish_reason
    return Reply(
        text=read_text(parts),
        calls=read_calls(parts),
        model=response.model_version,
        usage=_read_usage(response.usage_metadata),
        finish_reason=None if reason is None else reason.value.lower(),
        duration_ms=duration_ms,
    )


def _read_usage(usage: types.GenerateContentResponseUsageMetadata | None) -> dict[str, Any]:
    if usage is None:
        return {}
    known = {
        "input_tokens": usage.prompt_token_count,
        "output_tokens": usage.candidates_token_count,
        "total_tokens": usage.total_token_count,
        "cache_read_tokens": usage.cached_content_token_count,
        "reasoning_tokens": usage.thoughts_token_count,
    }
    return {name: count for name, count in known.items() if count is not None}


def write_refusal(reason: str) -> LlmResponse:
    """A reply that ends the turn."""
    return LlmResponse(content=make_content("model", reason))


def change_reply(response: LlmResponse, verdict: ReplyVerdict) -> LlmResponse:
    """The reply with what hooks left of it."""
    content = response.content or types.Content(role="model")
    parts = list(content.parts or ())
    if verdict.text is not None:
        parts = replace_text_of(parts, verdict.text)
    if verdict.calls is not None:
        parts = change_calls(parts, verdict.calls)
    return response.model_copy(update={"content": content.model_copy(update={"parts": parts})})


def read_answer(event: Event) -> str:
    """The text that an agent answers with, if this event is its answer."""
    if event.partial or event.author == "user" or not event.is_final_response():
        return ""
    return read_text(event.content.parts if event.content else None)


def change_answer(event: Event, before: str, after: str) -> Event:
    """The event with another answer, also where the framework has copied it to."""
    content = event.content or types.Content(role="model")
    delta = {key: _swap(value, before, after) for key, value in event.actions.state_delta.items()}
    actions = event.actions.model_copy(update={"state_delta": delta})
    return event.model_copy(
        update={
            "content": replace_text(content, after),
            "actions": actions,
            "output": _swap(event.output, before, after),
        }
    )


def _swap(value: Any, before: str, after: str) -> Any:
    """What the framework keeps under the agent's `output_key`."""
    return after if value == before else value
