"""The file in which an agent keeps its conversation: which tools ran, whatever hooks were told.

A session that tells of prompts and turns, but of no tool call, may have had none, or may be in a
mode in which the agent does not call hooks before its tools. And a call that was denied may have
a result all the same. The agent's own file shows both.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from amplifier_hooks.coding_agents.known import KNOWN
from amplifier_hooks.machine.files import SnapshotError, read_regular

_LONGEST_TAIL = 4_000_000
_NOT_TOLD = frozenset({"write_stdin", "complete_task"})
"""Tools of which their agents never tell, in any mode: docs/guests.md says so."""


def measure(path: str) -> int:
    """How long the file is; what is in it by now is of a time before us."""
    try:
        return Path(path).stat().st_size if path else 0
    except OSError:
        return 0


def list_calls(agent: str, path: str, start: int = 0) -> list[str]:
    """The names of the tools that have given a result, behind a place in the file.

    Nothing where the form of the file is not known, or it cannot be read.
    """
    known = KNOWN.get(agent)
    read = None if known is None else known.list_results
    if read is None or not os.path.isabs(path):  # noqa: PTH117 - a text of the agent
        return []
    try:
        lines = read_regular(Path(path))[start:].splitlines()
    except (OSError, SnapshotError):
        return []
    found = (name for line in lines for name in _read_line(read, line))
    return [name for name in dict.fromkeys(found) if name not in _NOT_TOLD]


def read_results(transcript: Path) -> dict[str, bool]:
    """By the id of each call in the end of a transcript of Claude Code: whether it succeeded."""
    try:
        if not transcript.is_file():
            return {}
        with transcript.open("rb") as file:
            file.seek(max(transcript.stat().st_size - _LONGEST_TAIL, 0))
            lines = file.read(_LONGEST_TAIL).splitlines()
    except OSError:
        return {}
    found: dict[str, bool] = {}
    for line in lines:
        if b'"tool_result"' in line:
            found.update(_list_results(line))
    return found


def _list_results(line: bytes) -> Iterator[tuple[str, bool]]:
    try:
        entry = json.loads(line)
        parts = entry["message"]["content"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return  # half a line, or something else
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict) and part.get("type") == "tool_result":
            yield str(part.get("tool_use_id")), part.get("is_error") is not True


def _read_line(read: Callable[[Mapping[str, Any]], Iterator[str]], line: bytes) -> list[str]:
    try:
        value = json.loads(line)
        return list(read(value)) if isinstance(value, dict) else []
    except (ValueError, RecursionError, AttributeError, TypeError, KeyError):
        return []
