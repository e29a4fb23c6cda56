"""One event as the rules see it; what they share is worked out once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from amplifier_core.utils.nested import is_container, iterate_parts
from amplifier_hooks.guards.bash import Script, unwrap_command
from amplifier_hooks.guards.policy.tool_calls import (
    COMMAND_KEYS,
    FILE_KEYS,
    PATH_KEYS,
    is_reading,
    list_commands,
    list_paths,
)
from amplifier_hooks.machine.text import to_text

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
        keys = dict.fromkeys([*self.path_keys, *FILE_KEYS])
        found = list(list_paths(self.data.get("tool_input"), keys))
        own = self.data.get("path")
        return [*found, own] if isinstance(own, str) else found

    @cached_property
    def scripts(self) -> list[Script]:
        """The shell commands that the event is about, read."""
        return [_read_command(text) for text in self._commands]

    @cached_property
    def runs(self) -> bool:
        """Whether the input has a command, or something in its place."""
        try:
            return bool(self._commands)
        except ValueError:
            return True

    @cached_property
    def changes(self) -> bool:
        """Whether the tool may change a file that its input names."""
        return not is_reading(self.tool) and bool(self.paths)

    @property
    def _commands(self) -> list[str]:
        keys = dict.fromkeys([*self.command_keys, *COMMAND_KEYS])
        return list_commands(self.data.get("tool_input"), list(keys))

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
