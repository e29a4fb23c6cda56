"""The result of a tool: as hooks see it, and as they left it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pydantic_ai import SkipToolExecution, ToolDenied, ToolFailed, ToolReturn

from amplifier_core.models import ToolResult
from amplifier_hooks.external.verdicts import Called
from amplifier_hooks.frameworks.pydantic_ai.translation.json_values import to_json_values

RETURNED, CONTENT = "return_value", "content"
"""The two texts of a `ToolReturn` that the model reads."""


def describe(value: Any) -> ToolResult:
    """A result as hooks see it."""
    if isinstance(value, ToolDenied):
        return ToolResult(success=False, output=value.message, error={"message": value.message})
    if not isinstance(value, ToolReturn):
        return ToolResult(output=to_json_values(value))
    returned = to_json_values(value.return_value)
    if not value.content:
        return ToolResult(output=returned)
    return ToolResult(output={RETURNED: returned, CONTENT: to_json_values(value.content)})


def restore(called: Called) -> Any:
    """What the framework goes on with; a denial is raised, so that nobody works with it."""
    if called.untouched:
        return called.value
    if called.result.denied:
        raise SkipToolExecution(ToolDenied(called.text))
    if not called.result.success:
        raise ToolFailed(called.text)
    output = called.result.output
    if isinstance(called.value, ToolReturn):
        return _restore_return(called.value, output)
    return output


def _restore_return(value: ToolReturn[Any], output: Any) -> ToolReturn[Any]:
    if not isinstance(output, dict) or not value.content or {RETURNED, CONTENT} - output.keys():
        return replace(value, return_value=output, content=None)
    content = output[CONTENT]
    if content == to_json_values(value.content):
        return replace(value, return_value=output[RETURNED])
    return replace(value, return_value=output[RETURNED], content=_read_content(content))


def _read_content(content: Any) -> str | Sequence[str]:
    if isinstance(content, list) and all(isinstance(one, str) for one in content):
        return content
    return str(content)
