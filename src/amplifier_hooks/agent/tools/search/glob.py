"""Glob: files by the pattern of their path."""

from __future__ import annotations

import os
import threading
from pathlib import Path, PurePosixPath
from typing import ClassVar

from pydantic import BaseModel, Field

from amplifier_core.models import ToolResult
from amplifier_hooks.agent.tools.base import Refused
from amplifier_hooks.agent.tools.roots import Place, format_path
from amplifier_hooks.agent.tools.search.scan import require_glob
from amplifier_hooks.agent.tools.search.search_tool import SearchTool, format_answer, run_in_thread
from amplifier_hooks.agent.tools.search.walk import Entry, Walk
from amplifier_hooks.guards.policy.paths import match_glob

_WILDCARDS = frozenset("*?[{")


class GlobInput(BaseModel):
    """What Glob is told."""

    pattern: str = Field(description="Such as `**/*.py`, `src/*.{ts,tsx}` or `docs/**`")
    path: str = Field(".", description="Directory to search; the working directory by default")


class Glob(SearchTool[GlobInput]):
    """Finds files by name."""

    name = "Glob"
    description = (
        "Find files by the pattern of their path: `*` and `?` stay within a name, `**` spans "
        "directories, `{a,b}` and `[abc]` work as in a shell, letter case makes no difference. The "
        "paths come one per line, the file changed last first. `*.py` finds only files in the "
        "directory itself, `**/*.py` also those below."
    )
    input_model: ClassVar[type[BaseModel]] = GlobInput

    async def run(self, given: GlobInput) -> ToolResult:
        """Find the files in a thread; the newest come first."""
        pattern, path = split_pattern(given.pattern, given.path)
        require_glob(pattern)
        place = self._locate(path)
        found, notes = await run_in_thread(lambda stop: self._find(place, pattern, stop))
        if not found:
            hint = "" if "**" in pattern else f"; `**/{pattern}` also looks further down"
            sentence = f"No file matches {pattern!r} in {path!r}{hint}"
            return ToolResult(output=format_answer([sentence], notes))
        shown = found[: self._config.max_results]
        if len(found) > len(shown):
            notes.append(f"{len(found)} files match, the {len(shown)} changed last are shown")
        return ToolResult(output=format_answer(shown, notes))

    def _find(
        self, place: Place, pattern: str, stop: threading.Event
    ) -> tuple[list[str], list[str]]:
        """The paths, and what to say about them."""
        walk = Walk(place, self._config.skip, self._config.max_files, self._config.seconds, stop)
        found = [
            (-_get_time_of_change(entry), format_path(place.path / entry.path))
            for entry in walk
            if match_glob(Path("/", entry.path), ["/" + pattern])
        ]
        return [path for _, path in sorted(found)], [walk.unfinished] if walk.unfinished else []


def split_pattern(pattern: str, path: str) -> tuple[str, str]:
    """An absolute pattern names its own directory: the part before the first wildcard."""
    if not pattern.strip() or "\0" in pattern:
        raise Refused(f"The pattern {pattern!r} names no file; use `**` for all files")
    parts = PurePosixPath(pattern).parts
    if ".." in parts:
        raise Refused(f"The pattern {pattern!r} has a `..`; give the directory as `path` instead")
    if not pattern.startswith("/"):
        return pattern, path
    plain = next((n for n, part in enumerate(parts) if _WILDCARDS & set(part)), len(parts) - 1)
    return str(PurePosixPath(*parts[plain:])), str(PurePosixPath(*parts[:plain]))


def _get_time_of_change(entry: Entry) -> int:
    try:
        return os.stat(entry.name, dir_fd=entry.parent, follow_symlinks=False).st_mtime_ns
    except OSError:  # gone meanwhile
        return 0
