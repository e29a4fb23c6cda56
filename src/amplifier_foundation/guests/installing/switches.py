"""Settings with which an agent, or a project that it works in, runs no hooks at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from amplifier_foundation.guests.installing.editing.json_tree import JsonProblem, parse_json
from amplifier_foundation.guests.installing.places import PLACES
from amplifier_foundation.guests.installing.settings_file import SettingsError, read_settings

_MANAGED = "/etc/claude-code/managed-settings.json"
_GEMINI_SYSTEM = "/etc/gemini-cli/settings.json"
_CLAUDE_PROJECT = (".claude/settings.json", ".claude/settings.local.json")
_COPILOT_PROJECT = (".github/copilot/settings.json", ".github/copilot/settings.local.json")
_OURS_IN_GEMINI = "amplifier"


def find_switches(agent: str, root: Path, env: Mapping[str, str] | None = None) -> list[str]:
    """A sentence for each setting that keeps hooks of this agent from running."""
    env = os.environ if env is None else env
    found: list[str] = []
    for path, find in _list_checks(agent, root, env):
        value = _read(path)
        if isinstance(value, dict):
            found += [f"{path}: {what}" for what in find(value)]
    return found


Find = Callable[[dict[str, Any]], Iterator[str]]


def _list_checks(agent: str, root: Path, env: Mapping[str, str]) -> Iterator[tuple[Path, Find]]:
    if agent == "claude":
        home = PLACES["claude"].find_home(env)
        for path in (home / "settings.json", *(root / one for one in _CLAUDE_PROJECT)):
            yield path, _find_disabled
        yield Path(_MANAGED), _find_managed
    elif agent == "copilot":
        for name in (*_COPILOT_PROJECT, *_CLAUDE_PROJECT):
            yield root / name, _find_disabled
        place = PLACES["copilot"]
        yield place.find_home(env) / place.user[0], _find_disabled
        yield root / place.project[0], _find_disabled
    elif agent == "gemini":
        home = PLACES["gemini"].find_home(env)
        for path in (home / "settings.json", root / ".gemini/settings.json", Path(_GEMINI_SYSTEM)):
            yield path, _find_gemini


def _find_disabled(settings: dict[str, Any]) -> Iterator[str]:
    if settings.get("disableAllHooks") is True:
        yield "'disableAllHooks' switches every hook off; remove it"


def _find_managed(settings: dict[str, Any]) -> Iterator[str]:
    yield from _find_disabled(settings)
    if settings.get("allowManagedHooksOnly") is True:
        yield "'allowManagedHooksOnly' allows only the hooks of your administrator"


def _find_gemini(settings: dict[str, Any]) -> Iterator[str]:
    config = settings.get("hooksConfig")
    if not isinstance(config, dict):
        return
    if config.get("enabled") is False:
        yield "'hooksConfig.enabled' is false, which switches every hook off"
    disabled = config.get("disabled")
    if isinstance(disabled, list) and _OURS_IN_GEMINI in disabled:
        yield f"'hooksConfig.disabled' names {_OURS_IN_GEMINI!r}, which is our hook; remove it"


def _read(path: Path) -> Any:
    """What the file says, or None: a file that cannot be read switches nothing off."""
    try:
        return parse_json(read_settings(path).text, comments=True).to_value()
    except (JsonProblem, SettingsError):
        return None
