"""Installed plugins of Claude Code, and the tables of MCP servers that they bring along."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

_SERVERS = "mcpServers"
_SETTINGS = (".claude/settings.json", ".claude/settings.local.json")

Keys = tuple[str, ...]
Table = tuple[str, Path, Keys]
"""The plugin, the file, and the keys that lead to the table in it."""


def list_plugin_tables(home: Path, folders: Sequence[Path]) -> Iterator[Table]:
    """The tables that Claude Code, whose folder is `home`, reads in a project's folders."""
    installed = _read(home / "plugins" / "installed_plugins.json").get("plugins")
    # Which of the folders' settings it reads depends on its version: off is what all switch off.
    switches = [_read_switches(home, one) for one in folders] or [_read_switches(home, home)]
    for name, copies in (installed if isinstance(installed, dict) else {}).items():
        is_off = all(one.get(name) is False for one in switches)
        if is_off or not isinstance(copies, list):
            continue
        for copy in copies:
            if isinstance(copy, dict) and _applies(copy, folders):
                yield from _list_tables(home, name, Path(str(copy.get("installPath"))))


def _list_tables(home: Path, name: str, folder: Path) -> Iterator[Table]:
    manifest = folder / ".claude-plugin" / "plugin.json"
    own = folder / ".mcp.json"
    places = [(manifest, (_SERVERS,), _read(manifest).get(_SERVERS)), *_list_offers(home, name)]
    files = [own]
    for path, keys, said in places:
        for inner, one in _list_said(keys, said):
            if isinstance(one, dict):
                yield name, path, inner
            elif isinstance(one, str):
                files.append(folder / one)
    for path in dict.fromkeys(files):
        found = _read(path)
        if found or (path != own and path.is_file()):  # then nobody here can read it
            yield name, path, (_SERVERS,) if _SERVERS in found else ()


def _list_said(keys: Keys, said: Any) -> Iterator[tuple[Keys, Any]]:
    """One table, the name of a file, or several of both."""
    if not isinstance(said, list):
        yield keys, said
        return
    for number, one in enumerate(said):
        yield (*keys, str(number)), one


def _list_offers(home: Path, name: str) -> Iterator[tuple[Path, Keys, Any]]:
    """What the marketplace says of a plugin's servers."""
    plugin, _, market = name.rpartition("@")
    known = _read(home / "plugins" / "known_marketplaces.json").get(market)
    place = Path(str(known.get("installLocation"))) if isinstance(known, dict) else home
    path = place if place.is_file() else place / ".claude-plugin" / "marketplace.json"
    offers = _read(path).get("plugins")
    for number, one in enumerate(offers if isinstance(offers, list) else []):
        if isinstance(one, dict) and one.get("name") == plugin:
            yield path, ("plugins", str(number), _SERVERS), one.get(_SERVERS)


def _applies(copy: dict[str, Any], folders: Sequence[Path]) -> bool:
    project = copy.get("projectPath")
    return not isinstance(project, str) or Path(project) in folders


def _read_switches(home: Path, folder: Path) -> dict[str, Any]:
    """Which plugins are on or off; what is said for a folder counts before what a person says."""
    found: dict[str, Any] = {}
    for path in (home / "settings.json", *(folder / name for name in _SETTINGS)):
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
