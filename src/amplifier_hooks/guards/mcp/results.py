"""Results on the wire as hooks see them, and back: files as text, no keys that look alike."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from amplifier_core.models import ToolResult
from amplifier_core.utils import digest
from amplifier_core.utils.copying import is_same

_MEDIA_TYPES = ("image", "audio")
_UNREADABLE = ("image/", "audio/", "video/")
_AS_TEXT = "<base64 of this text> "
_STANDARD = str.maketrans("-_", "+/")
_NO_BULK_BELOW = frozenset({"structuredContent", "arguments", "input", "_meta"})
"""Below these keys there are no images and files, only what a server or a model calls so."""


def hide_bulk(value: Any) -> Any:
    """The same with the text that a file has, or the size and a digest of an image or a file."""
    if isinstance(value, list):
        return [hide_bulk(one) for one in value]
    if not isinstance(value, dict):
        return value
    bulk = _find_bulk_key(value)
    return {
        name: _describe_bulk(value, one) if name == bulk else _hide_below(name, one)
        for name, one in value.items()
    }


def _hide_below(name: str, value: Any) -> Any:
    return value if _is_own(name, value) else hide_bulk(value)


def _is_own(name: str, value: Any) -> bool:
    """Whether what stands there is no image and no file, whatever it is called."""
    filled_in = name == "content" and isinstance(value, dict) and "type" not in value
    return name in _NO_BULK_BELOW or filled_in


def _find_bulk_key(value: Mapping[str, Any]) -> str | None:
    """The key with base64; a text that only has such a name is shown to hooks as it is."""
    if value.get("type") in _MEDIA_TYPES and isinstance(value.get("data"), str):
        return "data"
    return "blob" if "uri" in value and isinstance(value.get("blob"), str) else None


def _describe_bulk(owner: Mapping[str, Any], data: str) -> str:
    kind = str(owner.get("mimeType") or "").lower()
    plain = "".join(data.split()).translate(_STANDARD).rstrip("=")
    try:
        found = base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
        if kind.startswith(_UNREADABLE) and "xml" not in kind:
            return _summarize(data)
        return _AS_TEXT + found.decode(errors="replace" if kind.startswith("text/") else "strict")
    except UnicodeDecodeError:
        return _summarize(data)
    except ValueError:
        return data


def _summarize(data: str) -> str:
    return f"<{len(data) * 3 // 4} bytes, sha256 {digest(data)[:32]}>"


def show_bulk(value: Any, before: Any) -> Any:
    """The same with the images and files that it had; what a hook wrote there stays."""
    return _put_back(value, dict(_iterate_bulk(before)))


def _iterate_bulk(value: Any) -> Iterator[tuple[str, str]]:
    """Each as hooks see it, and as it is."""
    if isinstance(value, list):
        for one in value:
            yield from _iterate_bulk(one)
    elif isinstance(value, dict):
        bulk = _find_bulk_key(value)
        if bulk is not None:
            yield _describe_bulk(value, value[bulk]), value[bulk]
        for name, one in value.items():
            if not _is_own(name, one):
                yield from _iterate_bulk(one)


def _put_back(value: Any, known: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_put_back(one, known) for one in value]
    if not isinstance(value, dict):
        return value
    bulk = _find_bulk_key(value)
    return {
        name: _encode(one, known) if name == bulk else _put_back(one, known)
        for name, one in value.items()
    }


def _encode(shown: str, known: Mapping[str, str]) -> str:
    if shown in known or not shown.startswith(_AS_TEXT):
        return known.get(shown, shown)
    return base64.b64encode(shown.removeprefix(_AS_TEXT).encode()).decode()


_KNOWN_KEYS = (
    "action arguments blob code content contents data description inputRequests inputResponses "
    "inputSchema instructions isError items message messages method mimeType model name "
    "nextCursor outputSchema params prompts requestState resourceTemplates resources "
    "resource result resultType role stopReason structuredContent systemPrompt task tasks "
    "text title tools type uri url _meta"
)
"""What clients and servers act upon, or models read."""

_OWN_NAMES_BELOW = frozenset(
    {"structuredContent", "arguments", "inputSchema", "outputSchema", "requestedSchema", "input"}
    | {"_meta", "metadata"}
)
"""Below these keys, names are the server's own."""

_OWN_NAMES_RIGHT_BELOW = frozenset({"inputRequests", "inputResponses"})
"""The names right below these keys are the server's own."""

_KEYS_BY_FOLDED = {one.casefold(): one for one in _KNOWN_KEYS.split()}


def drop_lookalikes(value: Any) -> Any:
    """The same without keys that differ from known ones in case only; itself if it has none."""
    if isinstance(value, list):
        new = [drop_lookalikes(one) for one in value]
        return value if all(a is b for a, b in zip(new, value, strict=True)) else new
    if not isinstance(value, dict):
        return value
    kept = {
        name: _drop_below(name, one)
        for name, one in value.items()
        if _KEYS_BY_FOLDED.get(name.casefold(), name) == name
    }
    return _keep_if_same(value, kept)


def _drop_below(name: str, value: Any) -> Any:
    if name in _OWN_NAMES_BELOW or (
        name == "content" and isinstance(value, dict) and "type" not in value
    ):
        return value  # of an elicitation, what a person has filled in
    if name in _OWN_NAMES_RIGHT_BELOW and isinstance(value, dict):
        return _keep_if_same(value, {key: drop_lookalikes(one) for key, one in value.items()})
    return drop_lookalikes(value)


def _keep_if_same(value: dict[str, Any], kept: dict[str, Any]) -> dict[str, Any]:
    same = len(kept) == len(value) and all(kept[name] is one for name, one in value.items())
    return value if same else kept


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
    output = left.output
    old = before.get("structuredContent")
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
