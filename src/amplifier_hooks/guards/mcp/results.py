"""Results on the wire: as hooks see them, and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from amplifier_core.models import ToolResult
from amplifier_core.utils.copying import is_same
from amplifier_hooks.guards.mcp.bulk import hide_bulk, show_bulk

_WRAPPED = "result"
"""The only key of the structured content that servers make of a value that is no object."""

_MARKS: tuple[str, ...] = ("_meta", "resultType")
_PLAIN = frozenset({"type", "text", "_meta"})
_LONGEST_NUMBER = 25

Wire = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Form:
    """How the results of one method are read for hooks, and written again."""

    read: Callable[[Wire], ToolResult]
    write: Callable[[Wire, ToolResult], Wire]


# Tools


def read_call(result: Wire) -> ToolResult:
    """The value of a tool's result; its parts, if it says more than one thing."""
    failed = bool(result.get("isError"))
    output = _read_value(result)
    return ToolResult(success=not failed, output=output, error=str(output) if failed else None)


def _read_value(result: Wire) -> Any:
    said = _read_blocks(_list(result.get("content")))
    structured = result.get("structuredContent")
    if structured is None:
        return said
    wrapped = isinstance(structured, dict) and set(structured) == {_WRAPPED}
    inner = structured[_WRAPPED] if wrapped else structured
    if repeats(said, inner) or repeats(said, structured):
        return inner
    return {"content": said, "structuredContent": structured}


def _read_blocks(blocks: Sequence[Any]) -> Any:
    if all(_is_plain_text(one) for one in blocks):
        return "\n".join(one["text"] for one in blocks)
    return [hide_bulk(one) for one in blocks]


def _is_plain_text(block: Any) -> bool:
    """Whether a block has a text and nothing else that a model could read."""
    is_text = isinstance(block, dict) and block.get("type") == "text"
    return is_text and isinstance(block.get("text"), str) and set(block) <= _PLAIN


def repeats(said: Any, value: Any) -> bool:
    """Whether the text of a result is no more than its value written down."""
    if is_same(said, value):
        return True
    try:
        read = json.loads(said, object_pairs_hook=_build_once, parse_float=_read_short)
        return is_same(read, value)
    except (TypeError, ValueError, RecursionError):
        return False


def _build_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice, and the value has only one of them")
    return found


def _read_short(text: str) -> float:
    if len(text) > _LONGEST_NUMBER:
        raise ValueError("a number has digits that its value has not")
    return float(text)


def write_call(before: Wire, left: ToolResult) -> Wire:
    """A tool's result with what hooks left of it; of the old one only its marks go out."""
    output, old = left.output, before.get("structuredContent")
    marks: Wire = {name: before[name] for name in _MARKS if name in before}
    if not left.success:
        text = left.get_serialized_output()
        return {**marks, "content": [make_text(text)], "isError": True}
    if old is None:
        return {**marks, "content": _write_blocks(output, before)}
    if isinstance(output, dict) and set(output) == {"content", "structuredContent"}:
        content = _write_blocks(output["content"], before)
        return {**marks, "content": content, "structuredContent": output["structuredContent"]}
    wrapped = isinstance(old, dict) and set(old) == {_WRAPPED}
    value = {_WRAPPED: output} if wrapped or not isinstance(output, dict) else output
    return {**marks, "content": _write_blocks(output, before), "structuredContent": value}


def _write_blocks(output: Any, before: Wire) -> list[Wire]:
    if isinstance(output, list) and output and all(_is_block(one) for one in output):
        return [show_bulk(one, _list(before.get("content"))) for one in output]
    text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    return [make_text(text)]


def _is_block(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def make_text(text: str) -> Wire:
    """A block of text."""
    return {"type": "text", "text": text}


def make_error(text: str, *, modern: bool = False) -> Wire:
    """The result of a tool call that was not carried out."""
    mark = {"resultType": "complete"} if modern else {}
    return {**mark, "content": [make_text(text)], "isError": True}


def add_texts(result: Wire, texts: Sequence[str]) -> Wire:
    """A tool's result with more to read for the agent."""
    if not texts:
        return result
    more = [make_text(one) for one in texts]
    return {**result, "content": [*_list(result.get("content")), *more]}


# Everything else


def read_whole(result: Wire) -> ToolResult:
    """A result that hooks see as it is, but for what is bulky."""
    return ToolResult(output=hide_bulk(result))


def write_whole(before: Wire, left: ToolResult) -> Wire:
    """A result as hooks left it; TypeError if that is no result."""
    if not isinstance(left.output, dict):
        kind = type(left.output).__name__
        raise TypeError(f"a hook left a {kind} where the protocol wants an object")
    written: Wire = show_bulk(left.output, before)
    return written


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


TOOL = Form(read_call, write_call)
WHOLE = Form(read_whole, write_whole)
