"""One settings file of a client: the servers in it, with and without the gateway before them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from amplifier_hooks.coding_agents.installing.editing.json_edit import (
    append_child,
    remove_child,
    replace_value,
)
from amplifier_hooks.coding_agents.installing.editing.json_tree import (
    Child,
    JsonProblem,
    Node,
    count_line,
    parse_json,
)
from amplifier_hooks.coding_agents.installing.settings_file import SettingsError, SettingsFile
from amplifier_hooks.guards.mcp.client_files import CLIENTS, McpPlace
from amplifier_hooks.mcp.clients.entries import DIALECTS, Unbridgeable, Wish, find_line
from amplifier_hooks.mcp.clients.toml_servers import (
    TomlProblem,
    change_toml_servers,
    list_toml_servers,
)

KeyPath = tuple[str, ...]


def list_json_servers(text: str, keys: KeyPath) -> dict[str, Any]:
    """The servers of a table, by name; none if there is no such table.

    A key may be the number of an item of an array.
    """
    table = _find_node(text, keys)
    if table is None or table.kind != "object":
        return {}
    names = [str(one.name) for one in table.children]
    return {name: _get_member(text, table, name).node.to_value() for name in names}


def change_json_servers(text: str, keys: KeyPath, wanted: Mapping[str, dict[str, Any]]) -> str:
    """The text with other values of some servers; what is the same in them is not touched."""
    edits = [_write_entry(text, (*keys, name), value) for name, value in wanted.items()]
    for start, end, entry in sorted(edits, reverse=True):
        text = text[:start] + entry + text[end:]
    return text


def _write_entry(text: str, path: KeyPath, wanted: dict[str, Any]) -> tuple[int, int, str]:
    """Where an entry stands, and its new text.

    It is edited in a small text with the same nesting: the whole may be large.
    """
    node, around = parse_json(text, comments=True, trailing_commas=True), ""
    for name in path:
        child = _get_member(text, node, name)
        around += text[node.start : node.children[0].start] + text[child.start : child.node.start]
        node = child.node
    small = around + text[node.start : node.end] + "}" * len(path)
    changed = _change(small, path, wanted)
    entry = _get_node(changed, path)
    assert entry.to_value() == wanted, path
    return node.start, node.end, changed[entry.start : entry.end]


def _change(text: str, path: KeyPath, wanted: dict[str, Any]) -> str:
    for key, value in wanted.items():
        text = _set(text, path, key, value)
    for key in [str(one.name) for one in _get_node(text, path).children]:
        if key not in wanted:
            node = _get_node(text, path)
            text = remove_child(text, node, _get_member(text, node, key))
    return text


def _set(text: str, path: KeyPath, key: str, value: Any) -> str:
    node = _get_node(text, path)
    if not node.find(key):
        return append_child(text, node, key, value)
    old = _get_member(text, node, key).node
    if old.to_value() == value:
        return text
    if old.kind == "object" and isinstance(value, dict) and value:
        return _change(text, (*path, key), value)
    return replace_value(text, old, value)


def _get_node(text: str, path: KeyPath) -> Node:
    node = _find_node(text, path)
    assert node is not None, path
    return node


def _find_node(text: str, path: Sequence[str]) -> Node | None:
    if not text.strip():
        return None
    node = parse_json(text, comments=True, trailing_commas=True)
    for name in path:
        if node.kind == "array" and name in map(str, range(len(node.children))):
            node = node.children[int(name)].node
        elif node.kind == "object" and node.find(name):
            node = _get_member(text, node, name).node
        else:
            return None
    return node


def _get_member(text: str, parent: Node, name: str) -> Child:
    """The member with a name. Two are refused: nobody knows which one a client reads."""
    found = parent.find(name)
    if len(found) > 1:
        line = count_line(text, found[1].start)
        raise JsonProblem(f"the key {name!r} is here a second time; keep one of them", line)
    return found[0]


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
