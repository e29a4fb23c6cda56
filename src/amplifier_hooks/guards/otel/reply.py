"""What a span and the metrics say about the reply of a model."""

from __future__ import annotations

from typing import Any

from amplifier_hooks.guards.otel.genai_names import Attribute
from amplifier_hooks.machine.text import to_one_line

Data = dict[str, Any]


def is_number(value: Any) -> bool:
    """Whether a reply's value can be a figure; True and False are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _read_count(usage: Any, *keys: str) -> int | None:
    if not isinstance(usage, dict):
        return None
    found = next((usage[key] for key in keys if is_number(usage.get(key))), None)
    return None if found is None else max(int(found), 0)


def count_tokens(usage: Any) -> dict[str, int]:
    """The token counts that a reply's usage has, by kind."""
    counts = {
        "input": _read_count(usage, "input_tokens"),
        "output": _read_count(usage, "output_tokens"),
    }
    return {kind: count for kind, count in counts.items() if count is not None}


def describe_reply(response: Data, usage: Any) -> Data:
    """What a reply's span says about it."""
    counts = {
        Attribute.INPUT_TOKENS: _read_count(usage, "input_tokens"),
        Attribute.OUTPUT_TOKENS: _read_count(usage, "output_tokens"),
        Attribute.CACHE_READ_TOKENS: _read_count(usage, "cache_read_tokens"),
        Attribute.CACHE_CREATION_TOKENS: _read_count(usage, "cache_write_tokens"),
    }
    told: Data = {name: count for name, count in counts.items() if count is not None}
    if model := response.get("model"):
        told[Attribute.RESPONSE_MODEL] = to_one_line(model, 100)
    if reason := response.get("finish_reason"):
        told[Attribute.FINISH_REASONS] = [to_one_line(reason, 100)]
    return told
