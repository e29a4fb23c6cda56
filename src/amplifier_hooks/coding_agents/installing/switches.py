"""Switches in an agent's settings: those that turn our hooks off, and hooks that run beside them.

Of extensions only the names are read: nothing of them is run, nobody knows what is in a program.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amplifier_hooks.coding_agents.installing import places
from amplifier_hooks.coding_agents.installing.json_edit import JsonProblem, parse_json
from amplifier_hooks.coding_agents.installing.places import (
    PLACES,
    Scope,
    find_settings,
    list_scopes,
)
from amplifier_hooks.coding_agents.installing.settings_file import (
    SettingsError,
    SettingsFile,
    read_settings,
)
from amplifier_hooks.coding_agents.known import KNOWN
from amplifier_hooks.coding_agents.known.agent import (
    LABEL,
    MOD,
    PLUGIN,
    Extension,
    FindSwitches,
    Surroundings,
)

_MOST = 200
_CLAUDE_PROJECT = (".claude/settings.json", ".claude/settings.local.json")


@dataclass(frozen=True, slots=True)
class SwitchFile:
    """A settings file of an agent in which hooks can be switched off."""

    path: Path
    scope: Scope
    find: FindSwitches

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
    find = KNOWN[agent].find_switches
    if find is None:
        return []
    place = PLACES[agent]
    home = PLACES[agent].find_home(os.environ if env is None else env)
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


def parse_settings(file: SettingsFile) -> Any:
    """What the file says, or None if nobody can read it."""
    try:
        if file.path.suffix == ".toml":
            return tomllib.loads(file.text)
        return parse_json(file.text, comments=True).to_value()
    except (JsonProblem, SettingsError, tomllib.TOMLDecodeError, RecursionError):
        return None


def list_extensions(
    agent: str, root: Path, env: Mapping[str, str] | None = None
) -> list[Extension]:
    """Every extension that the agent would load in a folder, those above hooks first."""
    find = KNOWN[agent].list_extensions
    if find is None:
        return []
    env = os.environ if env is None else env
    around = Surroundings(
        home=PLACES[agent].find_home(env),
        root=root,
        etc=places.ETC,
        settings=tuple(one.path for one in list_switch_files(agent, root, env)),
        ours=frozenset(find_settings(agent, one, root, env) for one in list_scopes(agent)),
        read=_read,
    )
    unique = {(one.kind, one.name): one for one in find(around)}
    ordered = sorted(unique.values(), key=lambda one: (one.can != MOD, one.can != PLUGIN, one.name))
    return ordered[:_MOST]


def _read(path: Path) -> dict[str, Any]:
    try:
        value = parse_settings(read_settings(path))
    except SettingsError:
        return {}
    return value if isinstance(value, dict) else {}
