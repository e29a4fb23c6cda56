"""One settings file of a client: the servers in it, with and without the gateway before them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from amplifier_hooks.coding_agents.installing.editing.json_tree import JsonProblem
from amplifier_hooks.coding_agents.installing.settings_file import SettingsError, SettingsFile
from amplifier_hooks.guards.mcp.client_files import CLIENTS, McpPlace
from amplifier_hooks.mcp.gateway.clients.dialects import DIALECTS
from amplifier_hooks.mcp.gateway.clients.entry import Unbridgeable, Wish, find_line
from amplifier_hooks.mcp.gateway.clients.text.json_table import (
    change_json_servers,
    list_json_servers,
)
from amplifier_hooks.mcp.gateway.clients.text.toml_table import (
    TomlProblem,
    change_toml_servers,
    list_toml_servers,
)

Change = Callable[[McpPlace, str, Any], Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ServersFile:
    """A file as it was read. Every method raises SettingsError, or works."""

    client: str
    file: SettingsFile
    places: tuple[McpPlace, ...]
    """The tables in it that are asked about."""

    def list_servers(self) -> list[tuple[McpPlace, str, Any]]:
        """Every server, with the table it is in."""
        return self._edit(_list_servers)

    def add(self, wish: Wish) -> bytes:
        """The content with the gateway before every server where that can be."""
        dialect = DIALECTS[self.client]

        def wrap(place: McpPlace, name: str, entry: Any) -> Any:
            try:
                return dialect.wrap(name, entry, replace(wish, folder=place.folder))
            except Unbridgeable:
                return entry

        return self._change(wrap)

    def remove(self) -> bytes:
        """The content without the gateway."""
        dialect = DIALECTS[self.client]
        return self._change(lambda place, name, entry: dialect.unwrap(entry))

    def has_ours(self) -> bool:
        """Whether the gateway stands before one of the servers, and we have put it there."""
        return any(find_line(entry) for _, _, entry in self.list_servers())

    def _change(self, change: Change) -> bytes:
        text = self._edit(lambda text, places: _change_text(text, places, change))
        return self.file.encode(text)

    def _edit(self, edit: Callable[[str, Sequence[McpPlace]], T]) -> T:
        path = self.file.path
        end = (
            f"Correct the file, which {CLIENTS[self.client]} may not read either, and try again; "
            "nothing was changed"
        )
        try:
            return edit(self.file.text, self.places)
        except JsonProblem as problem:
            raise SettingsError(f"{path}, line {problem.line}: {problem.what}. {end}") from problem
        except TomlProblem as problem:
            raise SettingsError(f"{path}: {problem}. {end}") from problem


def _list_servers(text: str, places: Sequence[McpPlace]) -> list[tuple[McpPlace, str, Any]]:
    return [
        (place, name, entry)
        for place in places
        for name, entry in _read(place.path)(text, place.keys).items()
        if not place.only or (name == place.only and entry)
    ]


def _change_text(text: str, places: Sequence[McpPlace], change: Change) -> str:
    for place in places:
        write = change_toml_servers if _is_toml(place.path) else change_json_servers
        servers = _read(place.path)(text, place.keys)
        changed = {name: change(place, name, entry) for name, entry in servers.items()}
        wanted = {name: entry for name, entry in changed.items() if entry != servers[name]}
        text = write(text, place.keys, wanted) if wanted else text
    return text


def _read(path: Path) -> Callable[[str, tuple[str, ...]], dict[str, Any]]:
    return list_toml_servers if _is_toml(path) else list_json_servers


def _is_toml(path: Path) -> bool:
    return path.suffix == ".toml"
