"""The optional `when` of a rule: an expression in CEL, checked when it is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NoReturn

from amplifier_core.utils.nested import convert
from amplifier_hooks.guards.policy.patterns import replace_surrogates
from amplifier_hooks.modules.extras import require

_LARGEST = 2**63 - 1
_DEEPEST = 64


class ConditionError(ValueError):
    """An expression that is not valid, or that has no answer."""


class Condition:
    """A compiled expression over `event`, `tool_name`, `tool_input` and `data`."""

    def __init__(self, source: str, owner: str) -> None:
        self._cel = require("cel_expr_python.cel", owner)
        environment = _make_environment(self._cel)
        try:
            self._expression = environment.compile(source)
        except RuntimeError as wrong:
            raise ConditionError(_get_first_line(wrong)) from None
        kind = self._expression.return_type()
        if kind not in [self._cel.Type.BOOL, self._cel.Type.DYN]:
            raise ConditionError(f"its answer is {kind.name()}, not true or false")

    def holds(self, event: str, data: Mapping[str, Any]) -> bool:
        """Its answer; everything but true or false is a ConditionError."""
        tool_input = data.get("tool_input")
        values = {
            "event": event,
            "tool_name": str(data.get("tool_name") or ""),
            "tool_input": tool_input if isinstance(tool_input, dict) else {},
            "data": data,
        }
        try:
            result = self._expression.eval(data=_convert(values))
        except RuntimeError as wrong:
            raise ConditionError(_get_first_line(wrong)) from None
        # An error is a value here, and a truthy one.
        if result.type() != self._cel.Type.BOOL:
            raise ConditionError(str(result.value()))
        return bool(result.value())


@cache
def _make_environment(cel: Any) -> Any:
    kinds = cel.Type
    variables = {
        "event": kinds.STRING,
        "tool_name": kinds.STRING,
        "tool_input": kinds.Map(kinds.STRING, kinds.DYN),
        "data": kinds.Map(kinds.STRING, kinds.DYN),
    }
    return cel.NewEnv(variables=variables)


def _convert(values: dict[str, Any]) -> Any:
    """The same in kinds that CEL has; what it has none for, as text."""
    return convert(
        values, _convert_leaf, key=_convert_key, max_depth=_DEEPEST, at_limit=_refuse_depth
    )


def _refuse_depth() -> NoReturn:
    raise ConditionError("the event's data is nested too deep for an expression")


def _convert_key(key: Any) -> Any:
    return key if isinstance(key, bool) else _convert_leaf(key)


def _convert_leaf(value: Any) -> Any:
    if value is None or isinstance(value, bool | float | bytes):
        return value
    if isinstance(value, int):
        return value if -_LARGEST <= value <= _LARGEST else float(value)
    return replace_surrogates(value if isinstance(value, str) else str(value))


def _get_first_line(wrong: Exception) -> str:
    text = str(wrong).partition("[INVALID_ARGUMENT]")[0]
    return " ".join(text.replace("INVALID_ARGUMENT: ERROR:", "").split())
