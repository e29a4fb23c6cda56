"""Files in which MCP clients keep their servers, for a person and for a project."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from amplifier_hooks.machine.locations import find_config_home

_PLUGIN_SERVERS = "mcpServers"
_PLUGIN_SETTINGS = (".claude/settings.json", ".claude/settings.local.json")

Keys = tuple[str, ...]
Table = tuple[str, Path, Keys]
"""The plugin, the file, and the keys that lead to the table in it."""


def list_plugin_tables(home: Path, folders: Sequence[Path]) -> Iterator[Table]:
    """The tables that Claude Code, whose folder is `home`, reads in a project's folders."""
    installed = _read_json(home / "plugins" / "installed_plugins.json").get("plugins")
    # Which of the folders' settings it reads depends on its version: off is what all switch off.
    switches = [_read_switches(home, one) for one in folders] or [_read_switches(home, home)]
    for name, copies in (installed if isinstance(installed, dict) else {}).items():
        is_off = all(one.get(name) is False for one in switches)
        if is_off or not isinstance(copies, list):
            continue
        for copy in copies:
            if isinstance(copy, dict) and _is_for(copy, folders):
                yield from _list_tables(home, name, Path(str(copy.get("installPath"))))


def _list_tables(home: Path, name: str, folder: Path) -> Iterator[Table]:
    manifest = folder / ".claude-plugin" / "plugin.json"
    own = folder / ".mcp.json"
    places = [
        (manifest, (_PLUGIN_SERVERS,), _read_json(manifest).get(_PLUGIN_SERVERS)),
        *_list_offers(home, name),
    ]
    files = [own]
    for path, keys, said in places:
        for inner, one in _list_said(keys, said):
            if isinstance(one, dict):
                yield name, path, inner
            elif isinstance(one, str):
                files.append(folder / one)
    for path in dict.fromkeys(files):
        found = _read_json(path)
        if found or (path != own and path.is_file()):  # then nobody here can read it
            yield name, path, (_PLUGIN_SERVERS,) if _PLUGIN_SERVERS in found else ()


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
    known = _read_json(home / "plugins" / "known_marketplaces.json").get(market)
    place = Path(str(known.get("installLocation"))) if isinstance(known, dict) else home
    path = place if place.is_file() else place / ".claude-plugin" / "marketplace.json"
    offers = _read_json(path).get("plugins")
    for number, one in enumerate(offers if isinstance(offers, list) else []):
        if isinstance(one, dict) and one.get("name") == plugin:
            yield path, ("plugins", str(number), _PLUGIN_SERVERS), one.get(_PLUGIN_SERVERS)


def _is_for(copy: dict[str, Any], folders: Sequence[Path]) -> bool:
    project = copy.get("projectPath")
    return not isinstance(project, str) or Path(project) in folders


def _read_switches(home: Path, folder: Path) -> dict[str, Any]:
    """Which plugins are on or off; what is said for a folder counts before what a person says."""
    found: dict[str, Any] = {}
    for path in (home / "settings.json", *(folder / name for name in _PLUGIN_SETTINGS)):
        said = _read_json(path).get("enabledPlugins")
        found |= said if isinstance(said, dict) else {}
    return found


def _read_json(path: Path) -> dict[str, Any]:
    """What a file says; nothing, if Claude Code could not read it either."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


McpScope = Literal["user", "local", "project"]

CLIENTS: Mapping[str, str] = {
    "claude": "Claude Code",
    "codex": "Codex",
    "cursor": "Cursor",
    "vscode": "VS Code",
    "gemini": "Gemini CLI",
}
"""The clients before whose servers a gateway can be put, and what people call them."""

MCP_NAMES = (
    ".mcp.json",
    ".cursor/mcp.json",
    ".vscode/mcp.json",
    ".codex/config.toml",
    ".gemini/settings.json",
)
"""The files of projects."""

_SERVERS = ("mcpServers",)
_CODES = ("Code", "Code - Insiders", "VSCodium")
_MANAGED = "it is set up by your administrator"
_GEMINI_SYSTEM = {
    "GEMINI_CLI_SYSTEM_SETTINGS_PATH": "/etc/gemini-cli/settings.json",
    "GEMINI_CLI_SYSTEM_DEFAULTS_PATH": "/etc/gemini-cli/system-defaults.json",
}
_COMMAND = "serverCommand"
_SINGLE = "it is a single command line among other settings; have it among 'mcpServers' instead"
_CODEX_SYSTEM = ("/etc/codex/config.toml", "/etc/codex/managed_config.toml")
_MOVED = (
    "it stands among other settings, which are not ours to edit; have it in an mcp.json, to which "
    "VS Code moves such servers itself"
)
_PLUGIN = (
    "it belongs to {}, which brings its own files with every version; to guard it, disable that, "
    "and add the server yourself"
)


@dataclass(frozen=True, slots=True)
class McpPlace:
    """One table of servers: the file, and the keys that lead to the table in it."""

    scope: McpScope
    path: Path
    keys: tuple[str, ...] = _SERVERS
    foreign: str = ""
    """Why nobody should edit the file; empty where a person may."""
    folder: Path | None = None
    """Of the project that the servers are for; None if they are for all of a person's."""
    only: str = ""
    """The one key of the table that stands for a server; else all of them do."""


def list_mcp_places(
    client: str, folder: Path, env: Mapping[str, str] | None = None
) -> list[McpPlace]:
    """Every table that a client started in this folder may read."""
    env = os.environ if env is None else env
    found = list(_LISTS[client](env, folder))
    # In a home, some clients have but one file for the person and the project.
    first = {(one.path, one.keys): one for one in reversed(found)}
    return [one for one in found if first[one.path, one.keys] is one]


def list_mcp_files(env: Mapping[str, str] | None = None) -> list[Path]:
    """The files of the person, of every client."""
    env = os.environ if env is None else env
    found = (one for make in _LISTS.values() for one in make(env, Path("/")))
    return list(dict.fromkeys(one.path for one in found if one.scope == "user"))


def _list_claude(env: Mapping[str, str], folder: Path) -> Iterator[McpPlace]:
    own = env.get("CLAUDE_CONFIG_DIR")
    home = Path(own).absolute() if own else _get_home(env) / ".claude"
    state = (home if own else home.parent) / ".claude.json"
    yield McpPlace("user", state)
    yield McpPlace("user", _find_app_folder(env) / "Claude" / "claude_desktop_config.json")
    for one in _list_project(folder):
        yield McpPlace("local", state, ("projects", str(one), *_SERVERS), folder=one)
    # It reads this file in every folder above it, also beyond the repository.
    for one in (folder, *folder.parents):
        yield McpPlace("project", one / ".mcp.json", folder=one)
    for plugin, path, keys in list_plugin_tables(home, _list_project(folder)):
        yield McpPlace("user", path, keys, _PLUGIN.format(f"the plugin {plugin!r}"))
    yield McpPlace("user", Path("/etc/claude-code/managed-mcp.json"), foreign=_MANAGED)


def _list_codex(env: Mapping[str, str], folder: Path) -> Iterator[McpPlace]:
    own = env.get("CODEX_HOME")
    home = Path(own).absolute() if own else _get_home(env) / ".codex"
    yield McpPlace("user", home / "config.toml", ("mcp_servers",))
    for one in _list_project(folder):
        path = one / ".codex" / "config.toml"
        yield McpPlace("project", path, ("mcp_servers",), folder=one)
    for path in map(Path, _CODEX_SYSTEM):
        yield McpPlace("user", path, ("mcp_servers",), foreign=_MANAGED)


def _list_cursor(env: Mapping[str, str], folder: Path) -> Iterator[McpPlace]:
    yield McpPlace("user", _get_home(env) / ".cursor" / "mcp.json")
    for one in _list_project(folder):
        yield McpPlace("project", one / ".cursor" / "mcp.json", folder=one)


def _list_vscode(env: Mapping[str, str], folder: Path) -> Iterator[McpPlace]:
    homes = [_find_app_folder(env) / name / "User" for name in _CODES]
    homes.append(_get_home(env) / ".vscode-server" / "data" / "User")
    for home in homes:
        yield McpPlace("user", home / "mcp.json", ("servers",))
        for path in sorted(home.glob("profiles/*/mcp.json")):
            yield McpPlace("user", path, ("servers",))
        for path in (home / "settings.json", *sorted(home.glob("profiles/*/settings.json"))):
            yield McpPlace("user", path, ("mcp", "servers"), _MOVED)
    copilot = env.get("COPILOT_HOME")
    own = Path(copilot).absolute() if copilot else _get_home(env) / ".copilot"
    yield McpPlace("user", own / "mcp-config.json")
    for one in _list_project(folder):
        yield McpPlace("project", one / ".vscode" / "mcp.json", ("servers",), folder=one)
        yield McpPlace("project", one / ".mcp.json", folder=one)
        yield McpPlace("project", one / ".vscode" / "settings.json", ("mcp", "servers"), _MOVED)
        for path in sorted(one.glob("*.code-workspace")):
            yield McpPlace("project", path, ("settings", "mcp", "servers"), _MOVED)
            yield McpPlace("project", path, ("mcp", "servers"), _MOVED)


def _list_gemini(env: Mapping[str, str], folder: Path) -> Iterator[McpPlace]:
    home = Path(env.get("GEMINI_CLI_HOME") or _get_home(env)) / ".gemini"
    yield McpPlace("user", home / "settings.json")
    yield McpPlace("user", home / "settings.json", ("mcp",), _SINGLE, only=_COMMAND)
    for path in sorted(home.glob("extensions/*/gemini-extension.json")):
        yield McpPlace("user", path, foreign=_PLUGIN.format(f"the extension {path.parent.name!r}"))
    for one in _list_project(folder):
        path = one / ".gemini" / "settings.json"
        yield McpPlace("project", path, folder=one)
        yield McpPlace("project", path, ("mcp",), _SINGLE, one, _COMMAND)
    for name, usual in _GEMINI_SYSTEM.items():
        path = Path(env.get(name) or usual)
        yield McpPlace("user", path, foreign=_MANAGED)
        yield McpPlace("user", path, ("mcp",), _MANAGED, only=_COMMAND)


_LISTS = {
    "claude": _list_claude,
    "codex": _list_codex,
    "cursor": _list_cursor,
    "vscode": _list_vscode,
    "gemini": _list_gemini,
}


def _list_project(folder: Path) -> list[Path]:
    """The folder and those above it, up to the root of the repository that it is in."""
    above = [folder, *folder.parents]
    top = next((number for number, one in enumerate(above) if (one / ".git").exists()), 0)
    return above[: top + 1]


def _get_home(env: Mapping[str, str]) -> Path:
    return Path(env.get("HOME") or Path.home())


def _find_app_folder(env: Mapping[str, str]) -> Path:
    """Where programs with windows keep their settings."""
    if sys.platform == "darwin":
        return _get_home(env) / "Library" / "Application Support"
    return find_config_home(env)
