"""The tools that change a file, and where the input of a tool names it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

EDITING_TOOLS = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})

TOOLS = EDITING_TOOLS | {"Bash", "Delegate", "Glob", "Grep", "Read", "Todo"}
"""The names of all tools of ours; those of coding agents are translated to these."""

PATH_KEYS = ("file_path", "path", "notebook_path")
"""The keys of the path; some tools of the ecosystem say `path`."""


def find_path(tool_input: Any) -> str | None:
    """The file that a tool call is about, as it was given."""
    if not isinstance(tool_input, Mapping):
        return None
    return next(
        (tool_input[key] for key in PATH_KEYS if isinstance(tool_input.get(key), str)), None
    )
