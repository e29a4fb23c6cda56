"""The long form of what a bundle may write short."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from amplifier_foundation.bundles.merge import MODULE_LISTS
from amplifier_foundation.bundles.node import Node

_PATH_STARTS = ("./", "../", "/", "~/")


def shaped(document: Node, base: Path) -> Node:
    """Module ids as entries, and paths counted from the folder of the file that wrote them."""
    document = _module_lists(document, base)
    document = _at(document, "session", lambda node: _session(node, base))
    document = _at(document, "audit", lambda node: _at(node, "path", lambda p: _path(p, base)))
    return _at(document, "agents", lambda node: _each(node, lambda agent: _agent(agent, base)))


def _at(node: Node, key: str, change: Callable[[Node], Node]) -> Node:
    child = node.mapping().get(key)
    return node if child is None else node.with_key(key, change(child))


def _each(node: Node, change: Callable[[Node], Node]) -> Node:
    if not isinstance(node.value, dict):
        return node
    return replace(node, value={key: change(child) for key, child in node.value.items()})


def _elements(node: Node, change: Callable[[Node], Node]) -> Node:
    return replace(node, value=tuple(map(change, node.value))) if node.items() else node  # type: ignore[arg-type]


def _module_lists(node: Node, base: Path, keys: tuple[str, ...] = MODULE_LISTS) -> Node:
    for key in keys:
        node = _at(node, key, lambda entries: _elements(entries, lambda e: _entry(e, base)))
    return node


def _session(node: Node, base: Path) -> Node:
    for key in ("orchestrator", "context"):
        node = _at(node, key, lambda entry: _entry(entry, base))
    return node


def _agent(agent: Node, base: Path) -> Node:
    agent = _at(agent, "session", lambda node: _session(node, base))
    agent = _at(agent, "tools", lambda tools: _elements(tools, lambda tool: _tool(tool, base)))
    return _module_lists(agent, base, ("providers", "hooks"))


def _tool(tool: Node, base: Path) -> Node:
    """Tools have names like Read, modules have ids like tool-filesystem."""
    is_module = isinstance(tool.value, dict) or "-" in str(tool.value) or "/" in str(tool.value)
    return _entry(tool, base) if is_module else tool


def _entry(entry: Node, base: Path) -> Node:
    if isinstance(entry.value, str):
        entry = Node({"module": entry}, entry.place)
    module = entry.text("module")
    if module is not None and module.startswith(_PATH_STARTS):
        path = replace(entry.mapping()["module"], value=module)
        stem = Path(module).stem.replace("_", "-")
        entry = entry.with_key("source", path).with_key("module", replace(path, value=stem))
    return _at(entry, "source", lambda node: _path(node, base))


def _path(node: Node, base: Path) -> Node:
    if not isinstance(node.value, str) or not node.value or "://" in node.value:
        return node
    return replace(node, value=str((base / Path(node.value).expanduser()).absolute()))
