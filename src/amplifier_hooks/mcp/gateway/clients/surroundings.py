"""Files of a project that set variables for whatever a client starts, also for the gateway."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from amplifier_hooks.mcp.gateway.clients.steering import is_steering

_ASSIGNED = re.compile(r"^\s*(?:export\s+)?([\w.-]+)\s*[=:]", re.MULTILINE)


def find_steering_files(client: str, folder: Path, *, by_name: bool = False) -> Iterator[str]:
    """What such files of a project do to the gateway; those in a person's home are their own."""
    names, read = _FILES.get(client, ((), _read_settings))
    home = Path.home()
    for place in (one for one in (folder, *folder.parents) if one != home):
        for path in (place / name for name in names):
            found = [one for one in _read(path, read) if is_steering(one, by_name=by_name)]
            if found:
                yield (
                    f"{path} sets {found[0]} for what the client starts, so the gateway may not "
                    "judge by your rules; remove that from it"
                )


def _read(path: Path, read: Callable[[str], Iterable[str]]) -> list[str]:
    try:
        # Some people have a pipe there, which would be waited for.
        return list(read(path.read_text("utf-8", "replace"))) if path.is_file() else []
    except (OSError, ValueError, RecursionError):  # the client cannot read it either
        return []


def _read_settings(text: str) -> Iterable[str]:
    said: Any = json.loads(text.removeprefix("\ufeff"))
    env = said.get("env") if isinstance(said, dict) else None
    return env if isinstance(env, dict) else ()


_FILES: dict[str, tuple[tuple[str, ...], Callable[[str], Iterable[str]]]] = {
    "claude": ((".claude/settings.json", ".claude/settings.local.json"), _read_settings),
    "gemini": ((".gemini/.env", ".env"), _ASSIGNED.findall),
}
