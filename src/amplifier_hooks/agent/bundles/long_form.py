"""The long form of what a bundle may abbreviate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from amplifier_core.mount_plan import EXAMPLES, LISTS
from amplifier_hooks.yaml_files.node import Node

_PATH_STARTS = ("./", "../", "/", "~/")


def write_out(document: Node, base: Path) -> Node:
    """Turn module ids into entries, and make paths absolute, from the folder of their file."""
    document = _change_lists(document, base)
    document = _change_key(document, "session", lambda node: _write_session(node, base))
    for section, key in (("audit", "path"), ("approval", "store")):
        document = _resolve_key(document, section, key, base)
    document = _change_key(document, "sandbox", lambda node: _write_sandbox(node, base))
    return _change_key(
        document,
        "agents",
        lambda node: _change_values(node, lambda agent: _write_agent(agent, base)),
    )


def _resolve_key(document: Node, section: str, key: str, base: Path) -> Node:
    return _change_key(
        document, section, lambda node: _change_key(node, key, lambda p: _resolve_path(p, base))
    )


def _change_key(node: Node, key: str, change: Callable[[Node], Node]) -> Node:
    child = node.mapping().get(key)
    return node if child is None else node.with_key(key, change(child))


def _change_values(node: Node, change: Callable[[Node], Node]) -> Node:
    if not isinstance(node.value, dict):
        return node
    return replace(node, value={key: change(child) for key, child in node.value.items()})


def _change_items(node: Node, change: Callable[[Node], Node]) -> Node:
    return replace(node, value=tuple(map(change, node.value))) if node.items() else node  # type: ignore[arg-type]


def _change_lists(node: Node, base: Path, keys: tuple[str, ...] = LISTS) -> Node:
    for key in keys:
        node = _change_key(
            node, key, lambda entries: _change_items(entries, lambda e: _write_entry(e, base))
        )
    return node


def _write_sandbox(node: Node, base: Path) -> Node:
    if not isinstance(node.value, dict):
        node = Node({"mode": node}, node.place)
    # In YAML `off` is a way to write false.
    node = _change_key(
        node, "mode", lambda mode: replace(mode, value="off") if mode.value is False else mode
    )
    return _change_key(
        node, "write", lambda paths: _change_items(paths, lambda path: _resolve_path(path, base))
    )


def _write_session(node: Node, base: Path) -> Node:
    for key in EXAMPLES:
        node = _change_key(node, key, lambda entry: _write_entry(entry, base))
    return node


def _write_agent(agent: Node, base: Path) -> Node:
    agent = _change_key(agent, "session", lambda node: _write_session(node, base))
    agent = _change_key(
        agent, "tools", lambda tools: _change_items(tools, lambda tool: _write_tool(tool, base))
    )
    return _change_lists(agent, base, ("providers", "hooks"))


def _write_tool(tool: Node, base: Path) -> Node:
    """Tools have names like Read, modules have ids like tool-filesystem."""
    is_module = isinstance(tool.value, dict) or "-" in str(tool.value) or "/" in str(tool.value)
    return _write_entry(tool, base) if is_module else tool


def _write_entry(entry: Node, base: Path) -> Node:
    if isinstance(entry.value, str):
        entry = Node({"module": entry}, entry.place)
    module = entry.text("module")
    if module is not None and module.startswith(_PATH_STARTS):
        path = replace(entry.mapping()["module"], value=module)
        stem = Path(module).stem.replace("_", "-")
        entry = entry.with_key("source", path).with_key("module", replace(path, value=stem))
    return _change_key(entry, "source", lambda node: _resolve_path(node, base))


def _resolve_path(node: Node, base: Path) -> Node:
    if not isinstance(node.value, str) or not node.value or "://" in node.value:
        return node
    return replace(node, value=str((base / Path(node.value).expanduser()).absolute()))
