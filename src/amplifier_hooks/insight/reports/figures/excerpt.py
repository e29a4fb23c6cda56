"""Values of a record as text: short enough to keep, with a word about what is missing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from amplifier_hooks.guards.policy.tool_calls import PATH_KEYS

_LONG = 2_000
_MAX_DEPTH = 100
SHORT = 200

KEPT_APART = "(kept apart from the trail, and not here)"
REDACTED = "(redacted)"
MISSING = "(missing, no record of a redaction)"
_GUTTER = "  │ "
TOO_DEEP = "(nested too deeply to be shown)"

# The field that says most about a call, by what our tools and those of others call it.
_MAIN_FIELDS = ("command", *PATH_KEYS, "pattern", "agent", "agent_name", "query", "url", "task")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The beginning of a text, and how many characters are not there."""

    text: str = ""
    left_out: int = 0

    def __bool__(self) -> bool:
        return bool(self.text)


def cut_text(text: str, limit: int = _LONG) -> Excerpt:
    """The beginning of a text."""
    return Excerpt(text[:limit], max(0, len(text) - limit))


def cut_value(value: Any, limit: int = _LONG) -> Excerpt:
    """The beginning of a value, as text."""
    return cut_text(to_text(value), limit)


def to_text(value: Any) -> str:
    """A value of a record as text; values that were cut or kept apart say so."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, Mapping) and (marked := _read_mark(value)) is not None:
        return marked
    if _is_too_deep(value):
        return TOO_DEEP
    if isinstance(value, Mapping) and value:
        return "\n".join(_write_fields(value))
    return json.dumps(value, indent=2, ensure_ascii=False)


def _is_too_deep(value: Any) -> bool:
    """Whether it is nested as no writer nests: the record is forged."""
    level = [value]
    for _ in range(_MAX_DEPTH):
        mappings = [one.values() for one in level if isinstance(one, Mapping)]
        lists = [one for one in level if isinstance(one, list)]
        level = [part for parts in (*mappings, *lists) for part in parts]
        if not level:
            return False
    return True


def _write_fields(value: Mapping[str, Any]) -> Iterable[str]:
    """One line for each field; text of several lines stands below its name, line by line."""
    for key, one in value.items():
        if isinstance(one, str) and "\n" in one:
            yield f"{key}:"
            yield from (f"{_GUTTER}{line}" for line in one.split("\n"))
        elif isinstance(one, str):
            yield f"{key}: {one}"
        else:
            marked = _read_mark(one) if isinstance(one, Mapping) else None
            yield f"{key}: {json.dumps(one, ensure_ascii=False) if marked is None else marked}"


def _read_mark(value: Mapping[str, Any]) -> str | None:
    if "$commitment" in value:
        if value.get("missing"):
            return MISSING
        return REDACTED if value.get("redacted") else KEPT_APART
    if "$cut" in value and isinstance(head := value.get("head"), str):
        return f"{head}… (the trail has no more of it)"
    return None


def summarize(value: Any) -> str:
    """What the input of a call is about, in one line."""
    if not isinstance(value, Mapping) or _read_mark(value) is not None:
        return _take_first_line(to_text(value))
    found = next((value[key] for key in _MAIN_FIELDS if key in value), None)
    if found is None:
        found = next((one for one in value.values() if isinstance(one, str)), "")
    return _take_first_line(to_text(found))


def _take_first_line(text: str) -> str:
    first, _, rest = text.strip().partition("\n")
    return f"{first[: SHORT - 1]}…" if rest or len(first) >= SHORT else first


def join_blocks(content: Any) -> str:
    """The text of a message: its content, or the text of its blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        marked = _read_mark(content)
        return join_blocks(content.get("content", "")) if marked is None else marked
    if not isinstance(content, list):
        return ""
    return "".join(_join_texts(content))


def _join_texts(blocks: Iterable[Any]) -> Iterable[str]:
    for block in blocks:
        if isinstance(block, Mapping) and isinstance(text := block.get("text"), str):
            yield text


def find_message(error: Any) -> Any:
    """What an error says, in whichever form it is told."""
    return error.get("message", error) if isinstance(error, Mapping) else error
