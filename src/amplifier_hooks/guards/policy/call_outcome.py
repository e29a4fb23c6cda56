"""How a tool call ended, in the words of any loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def read_success(data: Mapping[str, Any]) -> bool | None:
    """Whether a call succeeded; None if nobody says so.

    Loops of the ecosystem say it in the result only, and some call that `result`.
    """
    if "success" in data:
        return bool(data["success"])
    result = data.get("tool_result", data.get("result"))
    said = (
        result.get("success") if isinstance(result, Mapping) else getattr(result, "success", None)
    )
    return said if isinstance(said, bool) else None
