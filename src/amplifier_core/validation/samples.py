"""Payloads for trying hooks: every field of an event, with a value of its type."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin, get_type_hints, is_typeddict

from amplifier_core.events import payload_type
from amplifier_core.utils import timestamp

_TYPICAL = {
    "session_id": "sample-session",
    "tool_name": "Write",
    "tool_input": {"file_path": "sample.txt", "content": "hello\n"},
    "tool_result": {"success": True, "output": "Created sample.txt", "error": None},
    "success": True,
    "prompt": "Say hello",
    "messages": [{"role": "user", "content": "Say hello"}],
    "response": {"content": [{"type": "text", "text": "hello"}], "tool_calls": None},
    "usage": {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12},
}
_PLAIN: dict[Any, Any] = {str: "sample", int: 1, float: 1.0, bool: True}


def sample_payload(event: str, **known: Any) -> dict[str, Any]:
    """A complete payload of an event; `known` fields are taken as they are."""
    payload = payload_type(event)
    hints = {} if payload is None else get_type_hints(payload)
    sample = {name: _TYPICAL.get(name, _sample_of(kind)) for name, kind in hints.items()}
    for absent in ("parent_id", "judged_again", "denied_by"):
        sample.pop(absent, None)
    return {**sample, "session_id": "sample-session", "timestamp": timestamp(), **known}


def _sample_of(kind: Any) -> Any:
    if is_typeddict(kind):
        return {name: _sample_of(part) for name, part in get_type_hints(kind).items()}
    if get_origin(kind) is Literal:
        return get_args(kind)[0]
    if kind in _PLAIN:
        return _PLAIN[kind]
    if get_origin(kind) in (dict, list):
        return get_origin(kind)()
    return _sample_of(get_args(kind)[0])  # the first of a union
