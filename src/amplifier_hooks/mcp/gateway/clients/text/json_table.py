"""A table of servers in JSON, with or without comments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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

Path = tuple[str, ...]


def list_json_servers(text: str, keys: Path) -> dict[str, Any]:
    """The servers of a table, by name; none if there is no such table.

    A key may be the number of an item of an array.
    """
    table = _find_node(text, keys)
    if table is None or table.kind != "object":
        return {}
    names = [str(one.name) for one in table.children]
    return {name: _get_member(text, table, name).node.to_value() for name in names}


def change_json_servers(text: str, keys: Path, wanted: Mapping[str, dict[str, Any]]) -> str:
    """The text with other values of some servers; what is the same in them is not touched."""
    edits = [_write_entry(text, (*keys, name), value) for name, value in wanted.items()]
    for start, end, entry in sorted(edits, reverse=True):
        text = text[:start] + entry + text[end:]
    return text


def _write_entry(text: str, path: Path, wanted: dict[str, Any]) -> tuple[int, int, str]:
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


def _change(text: str, path: Path, wanted: dict[str, Any]) -> str:
    for key, value in wanted.items():
        text = _set(text, path, key, value)
    for key in [str(one.name) for one in _get_node(text, path).children]:
        if key not in wanted:
            node = _get_node(text, path)
            text = remove_child(text, node, _get_member(text, node, key))
    return text


def _set(text: str, path: Path, key: str, value: Any) -> str:
    node = _get_node(text, path)
    if not node.find(key):
        return append_child(text, node, key, value)
    old = _get_member(text, node, key).node
    if old.to_value() == value:
        return text
    if old.kind == "object" and isinstance(value, dict) and value:
        return _change(text, (*path, key), value)
    return replace_value(text, old, value)


def _get_node(text: str, path: Path) -> Node:
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
