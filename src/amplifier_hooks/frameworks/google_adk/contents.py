"""Contents of Google's API as texts, and with other texts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from google.genai import types
from pydantic_core import to_jsonable_python

from amplifier_core.models import ToolResult
from amplifier_core.utils import safe_repr


def read_text(parts: Iterable[types.Part] | None) -> str:
    """The text of parts, without the model's thoughts."""
    return "".join(part.text for part in parts or () if is_text(part) and part.text)


def is_text(part: types.Part) -> bool:
    """Whether a part is something that is said."""
    return part.text is not None and not part.thought


def make_content(role: str, text: str) -> types.Content:
    """A content of one text."""
    return types.Content(role=role, parts=[types.Part(text=text)])


def replace_text(content: types.Content, text: str) -> types.Content:
    """The content with this text in the place of its first, and all else that it had."""
    return content.model_copy(update={"parts": replace_text_of(content.parts or [], text)})


def replace_text_of(parts: list[types.Part], text: str) -> list[types.Part]:
    """The parts with this text in the place of their first."""
    place = next((number for number, part in enumerate(parts) if is_text(part)), 0)
    before = [part for part in parts[:place] if not is_text(part)]
    after = [part for part in parts[place:] if not is_text(part)]
    return [*before, *([types.Part(text=text)] if text else []), *after]


def read_value(value: Any) -> ToolResult:
    """What hooks see of what a tool returned."""
    plain = make_plain(value)
    if isinstance(plain, dict) and plain.get("error"):
        return ToolResult(success=False, output=plain, error=str(plain["error"]))
    return ToolResult(output=plain)


def make_plain(value: Any) -> Any:
    """The value as JSON would hold it; what it cannot hold is described."""
    try:
        return to_jsonable_python(value, serialize_unknown=True, bytes_mode="base64")
    except Exception:  # noqa: BLE001 - cycles, and classes that cannot write themselves
        return safe_repr(value)


def write_value(result: ToolResult) -> Any:
    """What the model is given of a result that hooks have changed or refused."""
    if result.denied or (not result.success and not isinstance(result.output, dict)):
        return {"error": result.get_serialized_output()}
    return result.get_serialized_output() if result.output is None else result.output


def read_response(response: types.FunctionResponse) -> str:
    """The text of a tool's result in a request."""
    given = response.response or {}
    if given.keys() == {"result"} and isinstance(given["result"], str):
        return given["result"]
    return json.dumps(make_plain(given), ensure_ascii=False)
