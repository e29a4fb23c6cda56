"""One tool call, as the monitor compares it with others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from amplifier_core.utils import digest
from amplifier_hooks.machine.text import to_one_line


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call; two are the same when tool and input are."""

    tool: str
    fingerprint: int | str
    shown: str = field(compare=False)


def read_call(data: dict[str, Any]) -> Call:
    """The call of an event, whatever its input is made of."""
    return Call(
        get_tool_name(data), compute_fingerprint(data.get("tool_input")), describe_call(data)
    )


def compute_fingerprint(value: Any) -> int | str:
    """Equal for equal inputs; for a megabyte of text far cheaper than a digest."""
    try:
        return hash(_freeze(value))
    except (TypeError, RecursionError):
        return digest(value)


def _freeze(value: Any) -> Any:
    if isinstance(value, dict):
        return frozenset((key, _freeze(entry)) for key, entry in value.items())
    return tuple(map(_freeze, value)) if isinstance(value, list) else value


def identify_call(data: dict[str, Any]) -> tuple[str, Any]:
    """By which a result is known to be of a call; other hooks may have changed its input."""
    return get_tool_name(data), data.get("tool_call_id")


def get_tool_name(data: dict[str, Any]) -> str:
    """The name of the tool that an event is about, on one line."""
    return to_one_line(data.get("tool_name") or "unknown", 60)


def describe_call(data: dict[str, Any]) -> str:
    """The tool and the argument by which people know the call."""
    return f"{get_tool_name(data)}({_find_main_argument(data.get('tool_input'))})"


def _find_main_argument(given: Any) -> str:
    """The part of an input by which people know a call."""
    if not isinstance(given, dict):
        return ""
    for key in ("file_path", "path", "command", "pattern", "url", "query", "task"):
        if isinstance(given.get(key), str):
            return to_one_line(given[key], 60)
    return ""
