"""Completing the data of an event, so that a case names only what matters to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_core.events import payload_type
from amplifier_core.validation.samples import sample_payload
from amplifier_hooks.insight.cases.tool_calls import TYPICAL, choose_tool

_STAMPED = ("timestamp", "session_id")
"""What the registry and the session add themselves."""


def complete_data(event: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The given fields, and a sample of each that is missing; so within mappings, one level deep.

    What is missing of a tool's input is taken from an ordinary call of that tool.
    """
    sample = sample_payload(event) if payload_type(event) is not None else {}
    for name in _STAMPED:
        sample.pop(name, None)
    if "tool_input" in sample:
        sample |= _sample_call(given)
    return {**sample, **{name: _fill(sample.get(name), value) for name, value in given.items()}}


def _sample_call(given: Mapping[str, Any]) -> dict[str, Any]:
    """An ordinary call of the tool that is named, or that the given input is for."""
    wanted = given.get("tool_input")
    name = given.get("tool_name") or choose_tool(wanted if isinstance(wanted, Mapping) else {})
    return {"tool_name": name, "tool_input": dict(TYPICAL.get(str(name), {}))}


def _fill(sample: Any, given: Any) -> Any:
    if isinstance(sample, Mapping) and isinstance(given, Mapping):
        return {**sample, **given}
    return given
