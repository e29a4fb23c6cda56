"""Where a tool call really happens: an agent may have gone elsewhere since its session began."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from amplifier_hooks.coding_agents.dialects.incoming import Incoming
from amplifier_hooks.guards.policy.tool_calls import PATH_KEYS
from amplifier_hooks.machine.snapshot import normalize
from amplifier_hooks.modules.guarding import read_command

Part = dict[str, Any]


def find_elsewhere(incoming: Incoming, folder: Path) -> tuple[Part, ...]:
    """The call and its parts as they look from `folder`, if they start from another one.

    Hooks take every path as seen from the folder of the session.
    """
    if not incoming.cwd or normalize(Path(incoming.cwd)) == normalize(folder):
        return ()
    calls = (incoming.data, *incoming.also)
    return tuple(part for call in calls for part in _move(call, incoming.cwd))


def _move(call: Part, cwd: str) -> Iterator[Part]:
    given = call["tool_input"]
    command = read_command(given.get("command")) if call["tool_name"] == "Bash" else None
    if command:
        there = {"command": f"cd {shlex.quote(cwd)} && {command}"}
        yield {"tool_name": "Bash", "tool_input": {**given, **there}}
        return
    moved = {key: str(Path(cwd, given[key])) for key in PATH_KEYS if _is_relative(given.get(key))}
    if moved:
        yield {"tool_name": call["tool_name"], "tool_input": {**given, **moved}}


def _is_relative(path: Any) -> bool:
    return isinstance(path, str) and bool(path.strip()) and not path.startswith(("/", "~"))
