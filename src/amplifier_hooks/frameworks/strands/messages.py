"""Requests, replies and results of Strands: as hooks see them, and as they left them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_core import to_jsonable_python
from strands.middleware import InvokeModelContext, ModelStopReason

from amplifier_core.models import ToolResult
from amplifier_core.utils import safe_repr
from amplifier_core.utils.copying import is_same
from amplifier_hooks.external.messages import Placed, Plain
from amplifier_hooks.external.verdicts import Reply, ReplyVerdict
from amplifier_hooks.guards.policy.unread_tools import OfferedTool

Block = Mapping[str, Any]


def read_text(blocks: Iterable[Block] | None) -> str:
    """The text of blocks, without the model's thoughts."""
    return "".join(str(block["text"]) for block in blocks or () if "text" in block)


def replace_text(blocks: Sequence[Block], text: str) -> list[Any]:
    """The blocks with this text in the place of their first, and all else that they had."""
    place = next((number for number, block in enumerate(blocks) if "text" in block), 0)
    before = [block for block in blocks[:place] if "text" not in block]
    after = [block for block in blocks[place:] if "text" not in block]
    return [*before, *([{"text": text}] if text else []), *after]


def make_plain(value: Any) -> Any:
    """The value as JSON would hold it; what it cannot hold is described."""
    try:
        return to_jsonable_python(
            value, bytes_mode="base64", fallback=safe_repr, by_alias=False, inf_nan_mode="strings"
        )
    except Exception:  # noqa: BLE001 - cycles, and classes that cannot write themselves
        return safe_repr(value)


def read_arguments(given: Any) -> dict[str, Any]:
    """The input of a call as hooks see it; some models send no object."""
    plain = make_plain(given)
    if isinstance(plain, dict):
        return plain
    return {} if plain is None else {"input": plain}


def read_result(result: Any) -> ToolResult:
    """What hooks see of the result of a tool: its text, or its blocks if it has others."""
    if not isinstance(result, dict) or "content" not in result:
        return ToolResult(output=make_plain(result))
    output = read_blocks(result["content"])
    if result.get("status") == "error":
        return ToolResult(success=False, output=output, error=str(output))
    return ToolResult(output=output)


def read_blocks(blocks: Sequence[Block]) -> Any:
    """The text of a result's blocks; the value of one that is JSON; else all of them."""
    if all(block.keys() == {"text"} for block in blocks):
        return "\n".join(str(block["text"]) for block in blocks)
    if len(blocks) == 1 and blocks[0].keys() == {"json"}:
        return make_plain(blocks[0]["json"])
    return make_plain(list(blocks))


def read_block_text(blocks: Sequence[Block]) -> str:
    """The same as text."""
    found = read_blocks(blocks)
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)


def write_result(result: ToolResult, tool_use_id: str) -> Any:
    """What the model is given of a result that hooks have changed or refused."""
    failed = result.denied or not result.success
    return {
        "toolUseId": tool_use_id,
        "status": "error" if failed else "success",
        "content": [_write_block(result)],
    }


def _write_block(result: ToolResult) -> dict[str, Any]:
    if isinstance(result.output, dict) and not result.denied:
        return {"json": result.output}
    return {"text": result.get_serialized_output()}


SYSTEM = -1
"""The place of the system prompt, which is no message."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A message as hooks see it, and the blocks of a message that it stands for."""

    message: Plain
    place: int
    blocks: tuple[Any, ...] = ()


def read_request(context: InvokeModelContext, *, in_full: bool = True) -> list[Piece]:
    """The messages of a request; each tool result is one by itself.

    If not `in_full`, nobody reads them: each message is one piece, known by its number.
    """
    pieces: list[Piece] = []
    if said := read_system(context.system_prompt):
        pieces.append(Piece({"role": "system", "content": said}, SYSTEM))
    for place, message in enumerate(context.messages):
        if in_full:
            pieces += _read_message(message, place)
        else:
            number: Plain = {"role": message["role"], "content": str(place)}
            pieces.append(Piece(number, place, tuple(message["content"])))
    return pieces


def read_tools(context: InvokeModelContext) -> list[OfferedTool]:
    """The tools that the model is offered."""
    return [
        OfferedTool(spec["name"], (spec.get("inputSchema") or {}).get("json"))
        for spec in context.tool_specs or ()
    ]


def read_model_name(context: InvokeModelContext) -> str | None:
    """The model's own name, if it has one."""
    config = getattr(context.model, "config", None)
    return config.get("model_id") if isinstance(config, dict) else None


def read_system(said: Any) -> str:
    """The text of a system prompt."""
    return said if isinstance(said, str) else read_text(said)


def _read_message(message: Any, place: int) -> list[Piece]:
    blocks = message["content"]
    results = [block for block in blocks if "toolResult" in block]
    rest = tuple(block for block in blocks if "toolResult" not in block)
    pieces = [_read_result(block, place) for block in results]
    if rest or not pieces:
        pieces.append(_read_speech(message["role"], rest, place))
    return pieces


def _read_result(block: Any, place: int) -> Piece:
    result = block["toolResult"]
    message: Plain = {
        "role": "tool",
        "content": read_block_text(result["content"]),
        "tool_call_id": result["toolUseId"],
    }
    return Piece(message, place, (block,))


def _read_speech(role: str, blocks: tuple[Any, ...], place: int) -> Piece:
    message: Plain = {"role": role, "content": read_text(blocks)}
    if calls := read_calls(blocks):
        message["tool_calls"] = calls
    return Piece(message, place, blocks)


def read_calls(blocks: Sequence[Any]) -> list[Plain]:
    """The calls that a model made, as hooks see them."""
    uses = [block["toolUse"] for block in blocks if "toolUse" in block]
    return [
        {"id": use["toolUseId"], "name": use["name"], "arguments": read_arguments(use["input"])}
        for use in uses
    ]


@dataclass(slots=True)
class _Built:
    """A message of the new request."""

    role: str
    blocks: list[Any]
    place: int | None
    rest: dict[str, Any]


def change_request(
    context: InvokeModelContext, pieces: Sequence[Piece], placed: Sequence[Placed]
) -> InvokeModelContext:
    """The request with what hooks left; the conversation of the agent stays as it was."""
    system = _find_system(pieces, placed)
    built: list[_Built] = []
    for one in placed:
        piece = None if one.index is None else pieces[one.index]
        if piece is None or piece.place != SYSTEM:
            _add(built, _build(context, piece, one.message))
    messages: Any = [
        {**one.rest, "role": one.role, "content": one.blocks} for one in built if one.blocks
    ]
    if system == read_system(context.system_prompt):
        return context.replace(messages=messages)
    return context.replace(messages=messages, system_prompt=system or None)


def keep_messages(conversation: list[Any], lasting: Sequence[Plain]) -> None:
    """Put what hooks added for good into the conversation of an agent, for later turns too."""
    for said in lasting:
        role = "assistant" if said.get("role") == "assistant" else "user"
        block: Any = {"text": str(said.get("content") or "")}
        if conversation and conversation[-1]["role"] == role:
            conversation[-1]["content"].append(block)  # some models want roles to take turns
        else:
            conversation.append({"role": role, "content": [block]})


def _find_system(pieces: Sequence[Piece], placed: Sequence[Placed]) -> str:
    for one in placed:
        if one.index is not None and pieces[one.index].place == SYSTEM:
            return str((one.message or pieces[one.index].message).get("content") or "")
    return ""


def _build(context: InvokeModelContext, piece: Piece | None, message: Plain | None) -> _Built:
    if piece is None:
        said = message or {}
        role = "assistant" if said.get("role") == "assistant" else "user"
        return _Built(role, [{"text": str(said.get("content") or "")}], None, {})
    whole = context.messages[piece.place]
    rest = {key: value for key, value in whole.items() if key not in ("role", "content")}
    return _Built(whole["role"], _change_blocks(piece, message), piece.place, rest)


def _add(built: list[_Built], new: _Built) -> None:
    """Put a message behind the others; what hooks add joins its neighbour of the same role.

    Some models want users and assistants to take turns.
    """
    last = built[-1] if built else None
    joins = last is not None and last.role == new.role
    if last is not None and joins and (last.place == new.place or None in (last.place, new.place)):
        last.blocks += new.blocks
        last.place = new.place if last.place is None else last.place
    else:
        built.append(new)


def _change_blocks(piece: Piece, message: Plain | None) -> list[Any]:
    if message is None:
        return list(piece.blocks)
    content = message.get("content")
    if piece.message["role"] == "tool":
        return [_change_result(block, content) for block in piece.blocks]
    blocks = list(piece.blocks)
    if content != piece.message["content"]:
        blocks = replace_text(blocks, str(content or ""))
    wanted = message.get("tool_calls")
    if wanted != piece.message.get("tool_calls"):
        blocks = change_calls(blocks, wanted or [])
    return blocks


def _change_result(block: Any, content: Any) -> Any:
    given = {"json": content} if isinstance(content, dict) else {"text": str(content)}
    return {**block, "toolResult": {**block["toolResult"], "content": [given]}}


def change_calls(blocks: Sequence[Any], wanted: Sequence[Plain]) -> list[Any]:
    """The blocks with these calls in the place of theirs; an equal one stays the same object."""
    known = {block["toolUse"]["toolUseId"]: block for block in blocks if "toolUse" in block}
    said = [block for block in blocks if "toolUse" not in block]
    return [*said, *(_change_call(known.get(call.get("id")), call) for call in wanted)]


def _change_call(block: Any, call: Plain) -> Any:
    before = {} if block is None else block["toolUse"]
    name = call.get("name")
    arguments = call.get("arguments") or {}
    if before and before["name"] == name and is_same(arguments, read_arguments(before["input"])):
        return block
    changed = {**before, "toolUseId": call.get("id"), "name": name, "input": arguments}
    return {"toolUse": changed}


_TOKENS = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "totalTokens": "total_tokens",
    "cacheReadInputTokens": "cache_read_tokens",
    "cacheWriteInputTokens": "cache_write_tokens",
}


def read_reply(stop: ModelStopReason, model: str | None, duration_ms: int) -> Reply:
    """What hooks see of a reply."""
    blocks = stop.message["content"]
    usage: dict[str, Any] = dict(stop.usage)
    return Reply(
        text=read_text(blocks),
        calls=read_calls(blocks),
        model=model,
        usage={ours: usage[theirs] for theirs, ours in _TOKENS.items() if theirs in usage},
        finish_reason=stop.stop_reason,
        duration_ms=duration_ms,
    )


def is_answer(stop: ModelStopReason) -> bool:
    """Whether the agent answers with this reply: it wants no tool."""
    return not any("toolUse" in block for block in stop.message["content"])


def write_refusal(reason: str, stop: ModelStopReason | None = None) -> ModelStopReason:
    """A reply that ends the turn, with what the model's own has cost."""
    if stop is not None:
        return _rebuild(stop, [{"text": reason}])
    return ModelStopReason(
        stop_reason="end_turn",
        message={"role": "assistant", "content": [{"text": reason}]},
        usage={"inputTokens": 0, "outputTokens": 0, "totalTokens": 0},
        metrics={"latencyMs": 0},
    )


def change_reply(stop: ModelStopReason, verdict: ReplyVerdict) -> ModelStopReason:
    """The reply with what hooks left of it."""
    blocks: list[Any] = list(stop.message["content"])
    if verdict.text is not None:
        blocks = replace_text(blocks, verdict.text)
    if verdict.calls is not None:
        blocks = change_calls(blocks, verdict.calls)
    return _rebuild(stop, blocks)


def change_answer(stop: ModelStopReason, text: str) -> ModelStopReason:
    """The reply with another text."""
    return _rebuild(stop, replace_text(stop.message["content"], text))


def _rebuild(stop: ModelStopReason, blocks: list[Any]) -> ModelStopReason:
    reason = stop.stop_reason
    if any("toolUse" in block for block in blocks):
        reason = "tool_use"
    elif reason == "tool_use":
        reason = "end_turn"
    message: Any = {**stop.message, "content": blocks}
    return ModelStopReason(reason, message, stop.usage, stop.metrics)
