"""The file that a tool call changed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from amplifier_foundation.machine.text import to_one_line
from amplifier_foundation.policy.editing_tools import find_path
from amplifier_foundation.policy.paths import match_glob, resolve


def _check_globs(patterns: tuple[str, ...]) -> tuple[str, ...]:
    match_glob(Path("/probe"), patterns)
    return patterns


FilePatterns = Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(_check_globs)]


def find_edited_file(data: dict[str, Any], tools: frozenset[str], base: str) -> Path | None:
    """The path of a successful edit; None for everything else."""
    tool = data.get("tool_name")
    if not isinstance(tool, str) or tool not in tools or not _succeeded(data):
        return None
    try:
        return resolve(find_path(data.get("tool_input")) or "", Path(base))
    except ValueError:
        return None


def _succeeded(data: dict[str, Any]) -> bool:
    """Whether the call succeeded; some loops of the ecosystem say it only in the result."""
    result = data.get("tool_result")
    said = result.get("success") if isinstance(result, dict) else getattr(result, "success", None)
    return bool(data.get("success", said))


def format_path(path: Path, base: str) -> str:
    """The path for messages: relative to the working directory, if it is inside."""
    root = Path(base).resolve()
    return to_one_line(str(path.relative_to(root) if path.is_relative_to(root) else path), 300)
