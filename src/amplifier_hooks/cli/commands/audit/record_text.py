"""What stands in a record, as text that may be shown: whatever a hook or a model wrote there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from amplifier_core.records import DispatchRecorded
from amplifier_hooks.text.escape import escape, get_first_line, make_readable
from amplifier_hooks.trails.bodies import read_body

if TYPE_CHECKING:
    from amplifier_audit import Record

MISSING = "(missing, no record of a redaction)"
KEPT_APART = "(stored separately; --reveal shows it)"
_LONGEST = 400
_STREAMS = ("stdout", "stderr")
_TEXTS = ("textResultForLlm", "text_result_for_llm", "llmContent", "file", "content", "filePath")
_DECISIVE = ("action", "decision", "reason")


def read_time(record: Record) -> datetime | None:
    """When, on the clock of whoever reads; None if that is not a time."""
    try:
        return datetime.fromisoformat(str(record["time"])).astimezone()
    except (ValueError, OverflowError):
        return None


def read_text(value: Any) -> str:
    """A value of a record as text, as it is; values that were cut or kept apart say so."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, Mapping):
        return _read_marked(value)
    return json.dumps(value)


def _read_marked(value: Mapping[str, Any]) -> str:
    if "$commitment" in value:
        if value.get("missing"):
            return MISSING
        return "(redacted)" if value.get("redacted") else KEPT_APART
    if "$cut" in value and isinstance(head := value.get("head"), str):
        return f"{head}…"
    return json.dumps(value)


def read_result(output: Any) -> str:
    """What a tool said, out of the forms that coding agents give to results; else all of it."""
    if isinstance(output, list) and output and all(isinstance(one, Mapping) for one in output):
        return "\n".join(read_text(one.get("text", one)) for one in output)
    if not isinstance(output, Mapping):
        return read_text(output)
    if "stdout" in output:
        return "\n".join(filter(None, (read_text(output.get(one)) for one in _STREAMS)))
    for key in _TEXTS:
        if key in output:
            return read_result(output[key])
    return read_text(output)


def read_line(value: Any, limit: int = _LONGEST) -> str:
    """The first line of a value, harmless, and a sign if there are more."""
    text = read_text(value).strip()
    first = get_first_line(text, limit)
    more = make_readable(text).count("\n")
    return f"{first} … {more} more line{'s' * (more != 1)}" if more else first


def read_name(value: Any) -> str:
    """A name, on one line."""
    return escape(read_text(value)) or "?"


def read_map(value: Any) -> Mapping[str, Any]:
    """A part of a record that should be an object."""
    return value if isinstance(value, Mapping) else {}


def summarize_record(record: Record) -> str:
    """Who decided what, and why; else the body, on one line."""
    body = record["body"]
    said = read_body(record)
    decision = [f"{name}={read_text(body[name])}" for name in _DECISIVE if name in body]
    hooks = said.hooks if isinstance(said, DispatchRecorded) else ()
    answers = [f"{one.hook}:{one.action}" for one in hooks if one.action != "continue"]
    return get_first_line(" ".join([*decision, *answers]) or json.dumps(body))
