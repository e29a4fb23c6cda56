"""What runs beside or above our hooks in an agent: mods, plugins, extensions, skills.

Only their names are read: nothing of them is run, and nobody knows what is in a program.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amplifier_hooks.coding_agents.installing import places
from amplifier_hooks.coding_agents.installing.places import PLACES, find_settings, list_scopes
from amplifier_hooks.coding_agents.installing.settings_file import SettingsError, read_settings
from amplifier_hooks.coding_agents.installing.switches import list_switch_files, parse_settings

MOD = "a program inside the agent: it can run commands that no hook is told of, also denied ones"
PLUGIN = "can bring hooks, commands, MCP servers and programs of its own, which run as you"
SKILL = "a text for the model, and scripts; what the model calls because of it is judged"
_MOST = 200


@dataclass(frozen=True, slots=True)
class Extension:
    """One of them, by name."""

    kind: str
    name: str
    where: Path
    can: str
    """What it is able to do, in plain words."""


def list_extensions(
    agent: str, root: Path, env: Mapping[str, str] | None = None
) -> list[Extension]:
    """Everything of this kind that the agent would load in a folder, those above hooks first."""
    env = os.environ if env is None else env
    find = _FINDS.get(agent)
    found = [] if find is None else list(find(root, env))
    unique = {(one.kind, one.name): one for one in found}
    ordered = sorted(unique.values(), key=lambda one: (one.can != MOD, one.can != PLUGIN, one.name))
    return ordered[:_MOST]


def _list_claude(root: Path, env: Mapping[str, str]) -> Iterator[Extension]:
    home = PLACES["claude"].find_home(env)
    for file in list_switch_files("claude", root, env):
        for name, on in _get_table(_read(file.path), "enabledPlugins").items():
            if on:
                yield Extension("plugin", name, file.path, PLUGIN)
    known = home / "plugins" / "installed_plugins.json"
    for name, copies in _get_table(_read(known), "plugins").items():
        yield Extension("plugin", name, known, PLUGIN)
        for copy in copies if isinstance(copies, list) else [copies]:
            place = copy.get("installPath") if isinstance(copy, dict) else None
            hooks = Path(str(place)) / "hooks" / "hooks.json"
            if isinstance(place, str) and _read(hooks).get("modules"):
                yield Extension("mod", name, hooks, MOD)
    for folder in (home, root / ".claude", places.ETC / "claude-code" / ".claude"):
        yield from _list_folder("skill", folder / "skills", "*/SKILL.md", SKILL)


def _list_gemini(root: Path, env: Mapping[str, str]) -> Iterator[Extension]:
    for folder in (PLACES["gemini"].find_home(env), root / ".gemini"):
        manifest = "*/gemini-extension.json"
        yield from _list_folder("extension", folder / "extensions", manifest, PLUGIN)
        yield from _list_folder("skill", folder / "skills", "*/SKILL.md", SKILL)


def _list_codex(root: Path, env: Mapping[str, str]) -> Iterator[Extension]:
    home = PLACES["codex"].find_home(env)
    for config in (home / "config.toml", root / ".codex" / "config.toml"):
        for name, one in _get_table(_read(config), "plugins").items():
            if isinstance(one, dict) and one.get("enabled", True) is True:
                yield Extension("plugin", name, config, PLUGIN)
    for folder in (home, root / ".codex", root / ".agents", places.ETC / "codex"):
        yield from _list_folder("skill", folder / "skills", "*/SKILL.md", SKILL)


def _list_copilot(root: Path, env: Mapping[str, str]) -> Iterator[Extension]:
    home = PLACES["copilot"].find_home(env)
    yield from _list_folder("plugin", home / "installed-plugins", "*/*/", PLUGIN)
    for folder in (home, root / ".github"):
        yield from _list_folder("extension", folder / "extensions", "*", MOD)
        yield from _list_folder("skill", folder / "skills", "*/SKILL.md", SKILL)


def _list_opencode(root: Path, env: Mapping[str, str]) -> Iterator[Extension]:
    home = PLACES["opencode"].find_home(env)
    ours = {find_settings("opencode", one, root, env) for one in list_scopes("opencode")}
    folders = (home, root / ".opencode", places.ETC / "opencode")
    patterns = [f"{name}/*.{ending}" for name in ("plugin", "plugins") for ending in ("js", "ts")]
    for path in (one for folder in folders for name in patterns for one in folder.glob(name)):
        if path not in ours:
            yield Extension("plugin", path.name, path, MOD)
    for config in (home, root, places.ETC / "opencode"):
        for file in (config / "opencode.json", config / "opencode.jsonc"):
            for name in _read(file).get("plugin") or ():
                yield Extension("plugin", str(name), file, MOD)


_FINDS: Mapping[str, Callable[[Path, Mapping[str, str]], Iterator[Extension]]] = {
    "claude": _list_claude,
    "codex": _list_codex,
    "gemini": _list_gemini,
    "copilot": _list_copilot,
    "opencode": _list_opencode,
}


def _list_folder(kind: str, folder: Path, pattern: str, can: str) -> Iterator[Extension]:
    """One for each file or folder that fits; named after the first folder below."""
    try:
        found = sorted(folder.glob(pattern))
    except OSError:
        return
    for path in found:
        depth = pattern.count("*/") or 1
        yield Extension(kind, "/".join(path.relative_to(folder).parts[:depth]), path, can)


def _read(path: Path) -> dict[str, Any]:
    try:
        value = parse_settings(read_settings(path))
    except SettingsError:
        return {}
    return value if isinstance(value, dict) else {}


def _get_table(settings: dict[str, Any], name: str) -> dict[str, Any]:
    found = settings.get(name)
    return found if isinstance(found, dict) else {}
