"""Content blocks of Strands as texts, and with other texts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic_core import to_jsonable_python

from amplifier_core.models import ToolResult
from amplifier_core.utils import safe_repr

Block = Mapping[str, Any]


def read_text(blocks: Iterable[Block] | None) -> str:
    """The text of blocks, without the model's thoughts."""
    return "".join(str(block["text"]) for block in blocks or () if "text" in block)


def replace_text(blocks: Sequence[Block], text: str) -> list[Any]:
    """The blocks with this text in the place of their first, and all else that they had."""
    place = next((number for number, block in enumerate(blocks) if "text" in block), 0)
    before = [block for block in blocks[:place] if "text" not in block]
    after = [block for block in blocks[place:] if "text" not in block]
    return [*before, *([{"text": text}] if text else []), *after]


def make_plain(value: Any) -> Any:
    """The value as JSON would hold it; what it cannot hold is described."""
    try:
        return to_jsonable_python(
            value, bytes_mode="base64", fallback=safe_repr, by_alias=False, inf_nan_mode="strings"
        )
    except Exception:  # noqa: BLE001 - cycles, and classes that cannot write themselves
        return safe_repr(value)


def read_arguments(given: Any) -> dict[str, Any]:
    """The input of a call as hooks see it; some models send no object."""
    plain = make_plain(given)
    if isinstance(plain, dict):
        return plain
    return {} if plain is None else {"input": plain}


def read_result(result: Any) -> ToolResult:
    """What hooks see of the result of a tool: its text, or its blocks if it has others."""
    if not isinstance(result, dict) or "content" not in result:
        return ToolResult(output=make_plain(result))
    output = read_blocks(result["content"])
    if result.get("status") == "error":
        return ToolResult(success=False, output=output, error=str(output))
    return ToolResult(output=output)


def read_blocks(blocks: Sequence[Block]) -> Any:
    """The text of a result's blocks; the value of one that is JSON; else all of them."""
    if all(block.keys() == {"text"} for block in blocks):
        return "\n".join(str(block["text"]) for block in blocks)
    if len(blocks) == 1 and blocks[0].keys() == {"json"}:
        return make_plain(blocks[0]["json"])
    return make_plain(list(blocks))


def read_block_text(blocks: Sequence[Block]) -> str:
    """The same as text."""
    found = read_blocks(blocks)
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)


def write_result(result: ToolResult, tool_use_id: str) -> Any:
    """What the model is given of a result that hooks have changed or refused."""
    failed = result.denied or not result.success
    return {
        "toolUseId": tool_use_id,
        "status": "error" if failed else "success",
        "content": [_write_block(result)],
    }


def _write_block(result: ToolResult) -> dict[str, Any]:
    if isinstance(result.output, dict) and not result.denied:
        return {"json": result.output}
    return {"text": result.get_serialized_output()}
