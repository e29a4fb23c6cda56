"""The arguments of a tool call: the JSON that hooks judge, and the objects that the tool gets."""

from __future__ import annotations

import inspect
from typing import Any

from pydantic import ValidationError
from pydantic_ai import RunContext, ToolFailed, ToolsetTool
from pydantic_ai.messages import ToolCallPart
from pydantic_core import to_json

from amplifier_core.utils.copying import is_same
from amplifier_hooks.frameworks.pydantic_ai.translation.json_values import to_json_values

Arguments = dict[str, Any]


def describe(
    call: ToolCallPart | None,
    validated: Arguments,
    tool: ToolsetTool[Any] | None,
    ctx: RunContext[Any],
) -> Arguments:
    """The arguments as JSON: the model's own, if they are still what would run."""
    said = None if call is None else call.args_as_dict()
    if said is not None and means(said, validated, tool, ctx):
        return said
    return {name: to_json_values(value) for name, value in validated.items()}


def means(
    said: Arguments, validated: Arguments, tool: ToolsetTool[Any] | None, ctx: RunContext[Any]
) -> bool:
    """Whether the tool's validator makes these objects of this JSON."""
    if is_same(said, validated):
        return True
    if tool is None:
        return False
    try:
        return bool(_parse(said, tool, ctx) == validated)
    except Exception:  # noqa: BLE001 - a foreign validator or a foreign comparison: show the objects
        return False


def _parse(given: Arguments, tool: ToolsetTool[Any], ctx: RunContext[Any]) -> Arguments:
    parsed: Arguments = tool.args_validator.validate_json(
        to_json(given), context=ctx.validation_context
    )
    return parsed


async def validate(
    given: Arguments, tool: ToolsetTool[Any] | None, ctx: RunContext[Any]
) -> Arguments:
    """The objects for arguments that a hook or a person wrote, checked as those of a model."""
    name = ctx.tool_name
    if tool is None:
        raise ToolFailed(f"The changed arguments of {name} cannot be checked, so it was not run.")
    try:
        parsed = _parse(given, tool, ctx)
    except ValidationError as error:
        raise ToolFailed(
            f"{name} was not run: a hook or a person changed its arguments to "
            f"{to_json(given).decode()}, which it does not take: {_explain(error)}"
        ) from error
    if tool.args_validator_func is not None:
        found = tool.args_validator_func(ctx, **parsed)
        if inspect.isawaitable(found):
            await found
    return parsed


def _explain(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(f"{'.'.join(map(str, one['loc'])) or 'all'}: {one['msg']}" for one in found)
