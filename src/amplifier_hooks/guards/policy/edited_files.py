"""The file that a tool call changed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from amplifier_hooks.guards.policy.call_outcome import read_success
from amplifier_hooks.guards.policy.editing_tools import find_path
from amplifier_hooks.guards.policy.paths import match_glob, resolve
from amplifier_hooks.machine.text import to_one_line


def _check_globs(patterns: tuple[str, ...]) -> tuple[str, ...]:
    match_glob(Path("/probe"), patterns)
    return patterns


FilePatterns = Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(_check_globs)]


def find_edited_file(data: dict[str, Any], tools: frozenset[str], base: str) -> Path | None:
    """The path of a successful edit; None for everything else."""
    tool = data.get("tool_name")
    if not isinstance(tool, str) or tool not in tools or not read_success(data):
        return None
    try:
        return resolve(find_path(data.get("tool_input")) or "", Path(base))
    except ValueError:
        return None


def format_path(path: Path, base: str) -> str:
    """The path for messages: relative to the working directory, if it is inside."""
    root = Path(base).resolve()
    return to_one_line(str(path.relative_to(root) if path.is_relative_to(root) else path), 300)
