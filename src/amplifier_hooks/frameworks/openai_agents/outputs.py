"""Results of the SDK's tools as hooks see them, and back."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel, TypeAdapter

from amplifier_core.models import ToolResult
from amplifier_hooks.external.verdicts import Called


def read_output(value: Any) -> ToolResult:
    """What hooks see of a result."""
    return ToolResult(output=read_value(value))


def read_value(value: Any) -> Any:
    """A value as JSON has it; what JSON cannot hold is text, as the model would read it."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_none=True, warnings=False)
    if isinstance(value, list | tuple):
        return [read_value(one) for one in value]
    try:
        return json.loads(TypeAdapter(type(value)).dump_json(value, warnings=False))
    except Exception:  # noqa: BLE001 - a tool may return anything
        return str(value)


def write_output(called: Called) -> Any:
    """What the SDK gets of a call."""
    if called.untouched:
        return called.value
    result = called.result
    if is_failed(called):
        return called.text
    # A text stays a text; anything else keeps the form that the hook left.
    is_text = isinstance(called.value, str)
    return called.text if is_text or result.output is None else result.output


def is_failed(called: Called) -> bool:
    """Whether the model reads a reason of ours instead of a result."""
    return not called.untouched and (called.result.denied or not called.result.success)
