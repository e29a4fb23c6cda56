"""One settings file of a client: the servers in it, with and without the gateway before them."""

from __future__ import annotations

import datetime
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from amplifier_hooks.coding_agents.installing.json_edit import (
    Child,
    JsonProblem,
    Node,
    append_child,
    count_line,
    parse_json,
    remove_child,
    replace_value,
)
from amplifier_hooks.coding_agents.installing.settings_file import SettingsError, SettingsFile
from amplifier_hooks.guards.mcp.client_files import CLIENTS, McpPlace
from amplifier_hooks.mcp.clients.entries import DIALECTS, GatewayOptions, Unbridgeable, find_line

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(r"""(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[A-Za-z0-9_-]+|[ \t]*\.[ \t]*)+""")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|'
    r"'''.*?'{3,5}|"
    r'"(?:[^"\\\n]|\\.)*"|'
    r"'[^'\n]*'",
    re.DOTALL,
)
_WORD = re.compile(r"[^\s,\]}#=\[{\"']+(?: (?=\d{2}:)[^\s,\]}#]+)?")
_OPEN = "[{"
_CLOSE = "]}"


@dataclass(frozen=True, slots=True)
class Statement:
    """A header, or a key with its value. The text of both is from `start` to `end`."""

    table: tuple[str, ...]
    """The table that it is in; of a header, the one that it begins."""
    key: tuple[str, ...]
    """Below that table; empty for a header."""
    start: int
    value: int
    """Where the value begins."""
    end: int

    @property
    def path(self) -> tuple[str, ...]:
        """From the root of the document."""
        return (*self.table, *self.key)


def list_statements(text: str) -> list[Statement]:
    """All of them, in order. Tables of a list have the list's name."""
    return list(_read(text))


def _read(text: str) -> Iterator[Statement]:
    at = 0
    table = tuple[str, ...]()
    while (at := _BLANK.match(text, at).end()) < len(text):  # type: ignore[union-attr]
        if text[at] == "[":
            found = _read_header(text, at)
            table = found.table
        else:
            found = _read_pair(text, at, table)
        yield found
        at = found.end


def _read_header(text: str, at: int) -> Statement:
    start = at + len(re.match(r"\[+[ \t]*", text[at:]).group())  # type: ignore[union-attr]
    end = _match(_KEY, text, start)
    close = _match(re.compile(r"[ \t]*\]+"), text, end)
    return Statement(_read_key(text[start:end]), (), at, close, close)


def _read_pair(text: str, at: int, table: tuple[str, ...]) -> Statement:
    end = _match(_KEY, text, at)
    value = _match(re.compile(r"[ \t]*=[ \t]*"), text, end)
    return Statement(table, _read_key(text[at:end]), at, value, _skip_value(text, value))


def _skip_value(text: str, at: int) -> int:
    """Where a value ends."""
    depth = 0
    while True:
        if text[at] in "\"'":
            at = _match(_STRING, text, at)
        elif text[at] in _OPEN:
            depth = depth + 1
            at = at + 1
        elif text[at] in _CLOSE:
            depth = depth - 1
            at = at + 1
        else:
            at = _match(_WORD, text, at)
        if depth == 0:
            return at
        at = _skip_between(text, at)


def _skip_between(text: str, at: int) -> int:
    """Past what separates values within brackets: commas, comments, the names of members."""
    separators = re.compile(r"(?:[ \t\r\n,]|#[^\n]*)*")
    at = _match(separators, text, at)
    member = re.compile(_KEY.pattern + r"[ \t]*=[ \t]*").match(text, at)
    return at if member is None else member.end()


def _match(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    if found is None:
        raise ValueError(f"line {text.count(chr(10), 0, at) + 1}: this TOML is new to us")
    return found.end()


def _read_key(text: str) -> tuple[str, ...]:
    value: Any = tomllib.loads(f"{text} = 0")
    names = []
    while isinstance(value, dict):
        ((name, value),) = value.items()
        names.append(name)
    return tuple(names)


_BARE = re.compile(r"[A-Za-z0-9_-]+")


def write_value(value: Any) -> str:
    """The value, as `tomllib` reads it back."""
    if isinstance(value, dict):
        members = (f"{write_key(key)} = {write_value(one)}" for key, one in value.items())
        inner = ", ".join(members)
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(write_value, value))}]"
    if isinstance(value, str):
        return _write_text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return repr(value)


def write_key(*names: str) -> str:
    """A key, with dots between its parts."""
    return ".".join(one if _BARE.fullmatch(one) else _write_text(one) for one in names)


def _write_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


KeyPath = tuple[str, ...]


class TomlProblem(ValueError):
    """The text cannot be read, or an entry in it cannot be changed without changing others."""


def list_toml_servers(text: str, keys: KeyPath) -> dict[str, Any]:
    """The servers of a table, by name; none if there is no such table."""
    value = _follow(_load_toml(text), keys)
    return value if isinstance(value, dict) else {}


def change_toml_servers(text: str, keys: KeyPath, wanted: Mapping[str, dict[str, Any]]) -> str:
    """The text with other values of some servers; what is the same in them is not touched."""
    for name, value in wanted.items():
        text = _change_server(text, keys, name, value)
    return text


def _change_server(text: str, keys: KeyPath, name: str, wanted: dict[str, Any]) -> str:
    expected = _load_toml(text)
    old = _follow(expected, (*keys, name))
    table = _follow(expected, keys)
    try:
        changed = _change_table(text, (*keys, name), old, wanted, expected)
    except ValueError as error:
        raise TomlProblem(str(error)) from error
    table[name] = wanted
    if _load_toml(changed) != expected:
        section = write_key(*keys, name)
        raise TomlProblem(f"the server {name!r} cannot be edited; write it as [{section}]")
    return changed


def _change_table(
    text: str, path: KeyPath, old: dict[str, Any], wanted: dict[str, Any], document: Any
) -> str:
    whole = _find_whole(text, path)
    if whole is not None:
        return _replace_within(text, whole, path, wanted, document)
    for key, value in wanted.items():
        if key not in old:
            text = _insert_key(text, path, key, value)
        elif old[key] != value:
            text = _set_key(text, (*path, key), old[key], value, document)
    for key in old:
        if key not in wanted:
            text = _remove_key(text, (*path, key))
    return text


def _set_key(text: str, path: KeyPath, old: Any, value: Any, document: Any) -> str:
    if any(one.path == path and one.key for one in list_statements(text)):
        return _change_table(text, path, {}, value, document)
    if isinstance(old, dict) and isinstance(value, dict) and value:
        return _change_table(text, path, old, value, document)
    return _insert_key(_remove_key(text, path), path[:-1], path[-1], value)


def _find_whole(text: str, path: KeyPath) -> Statement | None:
    """The key whose value is all of this, or even more: what is inside an inline table."""
    found = (one for one in list_statements(text) if one.key and one.path == path[: len(one.path)])
    return next(found, None)


def _replace_within(text: str, whole: Statement, path: KeyPath, wanted: Any, document: Any) -> str:
    """Write an inline table anew, with the wanted value in it."""
    inner = path[len(whole.path) :]
    value = _replace(_follow(document, whole.path), inner, wanted) if inner else wanted
    return text[: whole.value] + write_value(value) + text[whole.end :]


def _replace(value: dict[str, Any], path: KeyPath, wanted: Any) -> dict[str, Any]:
    first, *rest = path
    return {**value, first: _replace(value[first], tuple(rest), wanted) if rest else wanted}


def _insert_key(text: str, path: KeyPath, key: str, value: Any) -> str:
    """Add a key to a table, behind what is in it already."""
    statements = list_statements(text)
    inside = [one for one in statements if one.key and _is_below(one.path, path)]
    near = [one for one in inside if len(one.table) <= len(path)]
    headers = [one for one in statements if not one.key and one.path == path]
    anchor = (near or headers)[-1] if near or headers else None
    if anchor is None:
        raise ValueError(f"there is no place for {write_key(*path, key)}")
    start = text.rfind("\n", 0, anchor.start) + 1
    indent = text[start : len(text) - len(text[start:].lstrip(" \t"))]
    end = _find_line_end(text, anchor.end)
    newline = "\r\n" if "\r\n" in text else "\n"
    before = text[:end] if text[:end].endswith("\n") else text[:end] + newline
    relative = (*path, key)[len(anchor.table) :]
    return f"{before}{indent}{write_key(*relative)} = {write_value(value)}{newline}{text[end:]}"


def _remove_key(text: str, path: KeyPath) -> str:
    """Take out a key, and all tables below it."""
    gone: Callable[[Statement], bool] = lambda one: one.path == path or _is_below(one.path, path)  # noqa: E731
    for one in reversed([one for one in list_statements(text) if gone(one)]):
        start = text.rfind("\n", 0, one.start) + 1
        text = text[:start] + text[_find_line_end(text, one.end) :]
    return text


def _is_below(path: KeyPath, parent: KeyPath) -> bool:
    return len(path) > len(parent) and path[: len(parent)] == parent


def _find_line_end(text: str, at: int) -> int:
    """Behind the end of the line, with the comment on it."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _follow(value: Any, path: KeyPath) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _load_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TomlProblem(str(error)) from error


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
    node = parse_json(text, comments=True, trailing_commas=True)
    around = ""
    for name in path:
        child = _get_member(text, node, name)
        around += text[node.start : node.children[0].start] + text[child.start : child.node.start]
        node = child.node
    small = around + text[node.start : node.end] + "}" * len(path)
    changed = _change_object(small, path, wanted)
    entry = _get_node(changed, path)
    assert entry.to_value() == wanted, path
    return node.start, node.end, changed[entry.start : entry.end]


def _change_object(text: str, path: KeyPath, wanted: dict[str, Any]) -> str:
    for key, value in wanted.items():
        text = _set_member(text, path, key, value)
    for key in [str(one.name) for one in _get_node(text, path).children]:
        if key not in wanted:
            node = _get_node(text, path)
            text = remove_child(text, node, _get_member(text, node, key))
    return text


def _set_member(text: str, path: KeyPath, key: str, value: Any) -> str:
    node = _get_node(text, path)
    if not node.find(key):
        return append_child(text, node, key, value)
    old = _get_member(text, node, key).node
    if old.to_value() == value:
        return text
    if old.kind == "object" and isinstance(value, dict) and value:
        return _change_object(text, (*path, key), value)
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

    def add(self, options: GatewayOptions) -> bytes:
        """The content with the gateway before every server where that can be."""
        dialect = DIALECTS[self.client]

        def wrap(place: McpPlace, name: str, entry: Any) -> Any:
            try:
                return dialect.wrap(name, entry, replace(options, folder=place.folder))
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
        for name, entry in _find_reader(place.path)(text, place.keys).items()
        if not place.only or (name == place.only and entry)
    ]


def _change_text(text: str, places: Sequence[McpPlace], change: Change) -> str:
    for place in places:
        write = change_toml_servers if _is_toml(place.path) else change_json_servers
        servers = _find_reader(place.path)(text, place.keys)
        changed = {name: change(place, name, entry) for name, entry in servers.items()}
        wanted = {name: entry for name, entry in changed.items() if entry != servers[name]}
        text = write(text, place.keys, wanted) if wanted else text
    return text


def _find_reader(path: Path) -> Callable[[str, tuple[str, ...]], dict[str, Any]]:
    return list_toml_servers if _is_toml(path) else list_json_servers


def _is_toml(path: Path) -> bool:
    return path.suffix == ".toml"
