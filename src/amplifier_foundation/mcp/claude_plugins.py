"""Installed plugins of Claude Code, and the tables of MCP servers that they bring along."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

_SERVERS = "mcpServers"
_SETTINGS = (".claude/settings.json", ".claude/settings.local.json")

Table = tuple[str, Path, tuple[str, ...]]
"""The plugin, the file, and the keys that lead to the table in it."""


def list_plugin_tables(home: Path, folders: Sequence[Path]) -> Iterator[Table]:
    """The tables that Claude Code, whose folder is `home`, reads in a project's folders."""
    installed = _read(home / "plugins" / "installed_plugins.json").get("plugins")
    switches = _read_switches(home, folders)
    for name, copies in (installed if isinstance(installed, dict) else {}).items():
        if switches.get(name) is False or not isinstance(copies, list):
            continue
        for copy in copies:
            if isinstance(copy, dict) and _applies(copy, folders):
                yield from _list_tables(name, Path(str(copy.get("installPath"))))


def _list_tables(name: str, folder: Path) -> Iterator[Table]:
    manifest = folder / ".claude-plugin" / "plugin.json"
    said = _read(manifest).get(_SERVERS)
    if isinstance(said, dict):
        yield name, manifest, (_SERVERS,)
    for path in dict.fromkeys((folder / ".mcp.json", *_list_named(folder, said))):
        found = _read(path)
        if found:
            yield name, path, (_SERVERS,) if _SERVERS in found else ()


def _list_named(folder: Path, said: Any) -> Iterator[Path]:
    """Files that a manifest names."""
    for one in said if isinstance(said, list) else [said]:
        if isinstance(one, str):
            yield folder / one


def _applies(copy: dict[str, Any], folders: Sequence[Path]) -> bool:
    project = copy.get("projectPath")
    return not isinstance(project, str) or Path(project) in folders


def _read_switches(home: Path, folders: Sequence[Path]) -> dict[str, Any]:
    """Which plugins are on or off; what is said for a folder counts before what is said above."""
    paths = [home / "settings.json"]
    paths += [folder / name for folder in reversed(folders) for name in _SETTINGS]
    found: dict[str, Any] = {}
    for path in paths:
        said = _read(path).get("enabledPlugins")
        found |= said if isinstance(said, dict) else {}
    return found


def _read(path: Path) -> dict[str, Any]:
    """What a file says; nothing, if Claude Code could not read it either."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
