"""Python objects as JSON values, for hooks to look at."""

from __future__ import annotations

from typing import Any

from pydantic_core import PydanticSerializationError, to_jsonable_python


def to_json_values(value: Any) -> Any:
    """The value as JSON has it; what JSON has no form for is described. Never raises."""
    try:
        return to_jsonable_python(value, serialize_unknown=True)
    except (PydanticSerializationError, ValueError):
        pass  # such as bytes that are no text
    try:
        return to_jsonable_python(value, bytes_mode="base64", serialize_unknown=True)
    except Exception:  # noqa: BLE001 - a foreign serializer may raise anything
        return f"<{type(value).__qualname__} that cannot be shown>"
