"""Settings with which an agent, or a project that it works in, runs no hooks at all."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amplifier_hooks.coding_agents.installing import places
from amplifier_hooks.coding_agents.installing.agents import LABEL
from amplifier_hooks.coding_agents.installing.editing.json_tree import JsonProblem, parse_json
from amplifier_hooks.coding_agents.installing.places import PLACES, Scope
from amplifier_hooks.coding_agents.installing.settings_file import (
    SettingsError,
    SettingsFile,
    read_settings,
)

_CLAUDE_PROJECT = (".claude/settings.json", ".claude/settings.local.json")

Find = Callable[[dict[str, Any]], Iterator[str]]


@dataclass(frozen=True, slots=True)
class SwitchFile:
    """A settings file of an agent in which hooks can be switched off."""

    path: Path
    scope: Scope
    find: Find

    def read(self) -> list[str]:
        """What in it keeps hooks from running; a file that cannot be read switches nothing off."""
        try:
            return self.list_switches(read_settings(self.path))
        except SettingsError:
            return []

    def list_switches(self, file: SettingsFile) -> list[str]:
        """The same of a file that has been read."""
        value = parse_settings(file)
        return list(self.find(value)) if isinstance(value, dict) else []


def find_switches(
    agent: str, root: Path, env: Mapping[str, str] | None = None, *, managed: bool = False
) -> list[str]:
    """A sentence for each setting that keeps hooks of this agent from running.

    Where our hooks are in the settings of the machine (`managed`), only what is there can do that.
    """
    return [
        f"{file.path}: {what}"
        for file in list_switch_files(agent, root, env)
        for what in file.read()
        if not managed or _still_counts(file, what)
    ]


def _still_counts(file: SwitchFile, what: str) -> bool:
    """Whether a switch also holds for hooks in the settings of the machine."""
    if file.scope != "system":  # only one that names them: nobody overrules that
        return f"{LABEL}-" in what
    return "allows only the hooks" not in what


def list_switch_files(
    agent: str, root: Path, env: Mapping[str, str] | None = None
) -> list[SwitchFile]:
    """Where an agent that is started in a folder could find such a setting."""
    find = _FINDS.get(agent)
    if find is None:
        return []
    place, home = PLACES[agent], PLACES[agent].find_home(os.environ if env is None else env)
    shared = _CLAUDE_PROJECT if agent == "copilot" else ()
    found = [SwitchFile(home / one, "user", find) for one in place.user]
    found += [SwitchFile(root / one, "project", find) for one in (*place.project, *shared)]
    found += [SwitchFile(path, "system", find) for path in list_system_files(agent)]
    return list({one.path: one for one in found}.values())  # in a home, two are the same


def list_system_files(agent: str) -> list[Path]:
    """The settings of the machine; of a folder of them, each."""
    found: list[Path] = []
    for name in PLACES[agent].system:
        path = places.ETC / name
        found += sorted(path.glob("*.json")) if path.is_dir() else [path]
    return found


_MANAGED_ONLY = "'allowManagedHooksOnly' allows only the hooks of your administrator"


def _find_claude(settings: dict[str, Any]) -> Iterator[str]:
    if settings.get("disableAllHooks") is True:
        yield "'disableAllHooks' switches every hook off; remove it"
    if settings.get("allowManagedHooksOnly") is True:
        yield _MANAGED_ONLY


def _find_gemini(settings: dict[str, Any]) -> Iterator[str]:
    config = settings.get("hooksConfig")
    if not isinstance(config, dict):
        return
    if config.get("enabled") is False:
        yield "'hooksConfig.enabled' is false, which switches every hook off"
    disabled = config.get("disabled")
    for name in disabled if isinstance(disabled, list) else ():
        if isinstance(name, str) and name.startswith(LABEL):
            yield f"'hooksConfig.disabled' names {name!r}, which is our hook; remove it"


def _find_codex(settings: dict[str, Any]) -> Iterator[str]:
    yield from _find_codex_feature(settings, "")
    profiles = settings.get("profiles")
    for name, one in profiles.items() if isinstance(profiles, dict) else ():
        if isinstance(one, dict):
            yield from _find_codex_feature(one, f"profiles.{name}.")
    if settings.get("allow_managed_hooks_only") is True:
        yield _MANAGED_ONLY.replace("allowManagedHooksOnly", "allow_managed_hooks_only")


def _find_codex_feature(settings: dict[str, Any], where: str) -> Iterator[str]:
    features = settings.get("features")
    for name in ("hooks", "codex_hooks"):  # the second is an older name
        if isinstance(features, dict) and features.get(name) is False:
            yield f"'{where}features.{name}' is false, which switches every hook off"


_FINDS: Mapping[str, Find] = {
    "claude": _find_claude,
    "copilot": _find_claude,
    "gemini": _find_gemini,
    "codex": _find_codex,
}


def parse_settings(file: SettingsFile) -> Any:
    """What the file says, or None if nobody can read it."""
    try:
        if file.path.suffix == ".toml":
            return tomllib.loads(file.text)
        return parse_json(file.text, comments=True).to_value()
    except (JsonProblem, SettingsError, tomllib.TOMLDecodeError, RecursionError):
        return None
