"""One event as the rules see it; what they share is worked out once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from amplifier_core.utils.nested import is_container, iterate_parts
from amplifier_foundation.bash import Script, unwrap_command
from amplifier_foundation.machine.text import to_text
from amplifier_foundation.policy.editing_tools import PATH_KEYS
from amplifier_foundation.policy.mcp_tools import (
    MCP_COMMAND_KEYS,
    MCP_PATH_KEYS,
    is_mcp_tool,
    list_mcp_commands,
    list_mcp_paths,
)
from amplifier_foundation.policy.territory import iterate_texts_under

OWNER = "hooks-rules"
_MAX_PARTS = 10_000


@dataclass
class Occasion:
    """An event's name and data, seen from the working directory."""

    event: str
    data: dict[str, Any]
    base: Path
    path_keys: tuple[str, ...] = PATH_KEYS
    command_keys: tuple[str, ...] = ("command",)
    notes: dict[str, str] = field(default_factory=dict)
    """What matching found out, for the templates of the answer: `path`, `program`."""

    @property
    def tool(self) -> str:
        return str(self.data.get("tool_name") or "")

    @cached_property
    def paths(self) -> list[str]:
        """The paths that the event is about, as given."""
        given = self.data.get("tool_input")
        if is_mcp_tool(self.tool):
            found = list(list_mcp_paths(given, {*self.path_keys, *MCP_PATH_KEYS}))
        else:
            found = list(iterate_texts_under(given, self.path_keys))
        own = self.data.get("path")
        return [*found, own] if isinstance(own, str) else found

    @cached_property
    def scripts(self) -> list[Script]:
        """The shell commands that the event is about, read."""
        return [_read_command(text) for text in self._commands]

    @property
    def _commands(self) -> Iterable[str]:
        given = self.data.get("tool_input")
        if is_mcp_tool(self.tool):
            keys = dict.fromkeys([*self.command_keys, *MCP_COMMAND_KEYS])
            return list_mcp_commands(given, list(keys))
        return iterate_texts_under(given, self.command_keys)

    def look_up(self, dotted: str) -> Any:
        """The value at `tool_input.command` and the like; None if there is none."""
        value: Any = self.data
        for step in dotted.split("."):
            if isinstance(value, dict):
                value = value.get(step)
            elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
                value = value[int(step)]
            else:
                return None
        return value

    def iterate_texts(self, value: Any) -> Iterator[str]:
        """Every text in a value, keys included; more than can be looked through is an error."""
        for _, part in iterate_parts(value, _MAX_PARTS):
            if isinstance(part, Mapping):
                yield from map(to_text, part)
            elif part is not None and not is_container(part):
                yield to_text(part)


@lru_cache(maxsize=64)
def _read_command(text: str) -> Script:
    return unwrap_command(text, OWNER)
