"""A table of servers in TOML, in whichever of its forms: headers, dotted keys, inline tables."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from amplifier_hooks.mcp.gateway.clients.text.toml_text import Statement, list_statements
from amplifier_hooks.mcp.gateway.clients.text.toml_value import write_key, write_value

Path = tuple[str, ...]


class TomlProblem(ValueError):
    """The text cannot be read, or an entry in it cannot be changed without changing others."""


def list_toml_servers(text: str, keys: Path) -> dict[str, Any]:
    """The servers of a table, by name; none if there is no such table."""
    value = _get(_load(text), keys)
    return value if isinstance(value, dict) else {}


def change_toml_servers(text: str, keys: Path, wanted: Mapping[str, dict[str, Any]]) -> str:
    """The text with other values of some servers; what is the same in them is not touched."""
    for name, value in wanted.items():
        text = _change_server(text, keys, name, value)
    return text


def _change_server(text: str, keys: Path, name: str, wanted: dict[str, Any]) -> str:
    expected = _load(text)
    old, table = _get(expected, (*keys, name)), _get(expected, keys)
    try:
        changed = _change(text, (*keys, name), old, wanted, expected)
    except ValueError as error:
        raise TomlProblem(str(error)) from error
    table[name] = wanted
    if _load(changed) != expected:
        section = write_key(*keys, name)
        raise TomlProblem(f"the server {name!r} cannot be edited; write it as [{section}]")
    return changed


def _change(
    text: str, path: Path, old: dict[str, Any], wanted: dict[str, Any], document: Any
) -> str:
    whole = _find_whole(text, path)
    if whole is not None:
        return _replace_within(text, whole, path, wanted, document)
    for key, value in wanted.items():
        if key not in old:
            text = _insert(text, path, key, value)
        elif old[key] != value:
            text = _set(text, (*path, key), old[key], value, document)
    for key in old:
        if key not in wanted:
            text = _remove(text, (*path, key))
    return text


def _set(text: str, path: Path, old: Any, value: Any, document: Any) -> str:
    if any(one.path == path and one.key for one in list_statements(text)):
        return _change(text, path, {}, value, document)
    if isinstance(old, dict) and isinstance(value, dict) and value:
        return _change(text, path, old, value, document)
    return _insert(_remove(text, path), path[:-1], path[-1], value)


def _find_whole(text: str, path: Path) -> Statement | None:
    """The key whose value is all of this, or even more: what is inside an inline table."""
    found = (one for one in list_statements(text) if one.key and one.path == path[: len(one.path)])
    return next(found, None)


def _replace_within(text: str, whole: Statement, path: Path, wanted: Any, document: Any) -> str:
    """Write an inline table anew, with the wanted value in it."""
    inner = path[len(whole.path) :]
    value = _put(_get(document, whole.path), inner, wanted) if inner else wanted
    return text[: whole.value] + write_value(value) + text[whole.end :]


def _put(value: dict[str, Any], path: Path, wanted: Any) -> dict[str, Any]:
    first, *rest = path
    return {**value, first: _put(value[first], tuple(rest), wanted) if rest else wanted}


def _insert(text: str, path: Path, key: str, value: Any) -> str:
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


def _remove(text: str, path: Path) -> str:
    """Take out a key, and all tables below it."""
    gone: Callable[[Statement], bool] = lambda one: one.path == path or _is_below(one.path, path)  # noqa: E731
    for one in reversed([one for one in list_statements(text) if gone(one)]):
        start = text.rfind("\n", 0, one.start) + 1
        text = text[:start] + text[_find_line_end(text, one.end) :]
    return text


def _is_below(path: Path, parent: Path) -> bool:
    return len(path) > len(parent) and path[: len(parent)] == parent


def _find_line_end(text: str, at: int) -> int:
    """Behind the end of the line, with the comment on it."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _get(value: Any, path: Path) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _load(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TomlProblem(str(error)) from error
