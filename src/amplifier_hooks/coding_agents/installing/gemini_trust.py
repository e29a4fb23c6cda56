"""Whether Gemini CLI trusts a folder: in all others, it does not run the hooks of the project."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from amplifier_hooks.coding_agents.installing.editing.json_tree import JsonProblem, parse_json
from amplifier_hooks.coding_agents.installing.places import PLACES
from amplifier_hooks.coding_agents.installing.settings_file import SettingsError, read_settings

_FILE_VARIABLE = "GEMINI_CLI_TRUSTED_FOLDERS_PATH"
_EVERYWHERE = "GEMINI_CLI_TRUST_WORKSPACE"
_TRUSTS = ("TRUST_FOLDER", "TRUST_PARENT")


def is_folder_trusted(folder: Path, env: Mapping[str, str] | None = None) -> bool:
    """What its rules say about a folder; the longest that fits decides, as in the program."""
    env = os.environ if env is None else env
    if env.get(_EVERYWHERE) in ("true", "false"):
        return env[_EVERYWHERE] == "true"
    home = PLACES["gemini"].find_home(env)
    security = _read(home / "settings.json").get("security")
    asked = security.get("folderTrust") if isinstance(security, dict) else None
    if isinstance(asked, dict) and asked.get("enabled") is False:
        return True
    rules = _read(Path(env.get(_FILE_VARIABLE) or home / "trustedFolders.json"))
    found = [(len(path), level) for path, level in rules.items() if _fits(path, level, folder)]
    return bool(found) and max(found, key=lambda one: one[0])[1] in _TRUSTS


def _fits(path: str, level: Any, folder: Path) -> bool:
    ruled = Path(path).parent if level == "TRUST_PARENT" else Path(path)
    return Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(ruled))


def _read(path: Path) -> dict[str, Any]:
    """What a file says; nothing, if it cannot be read."""
    try:
        value = parse_json(read_settings(path).text, comments=True).to_value()
    except (JsonProblem, SettingsError):
        return {}
    return value if isinstance(value, dict) else {}
