"""Where each agent keeps its settings: for a person, for a project, for the whole machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from amplifier_hooks.coding_agents.daemon.folder import choose_folder
from amplifier_hooks.guards.mcp.client_files import MCP_NAMES, list_mcp_files
from amplifier_hooks.machine.locations import find_config_home

Scope = Literal["user", "project", "system"]
ETC = Path("/etc")
"""What only root can write. No variable moves it: the environment may be the agent's."""
_BUNDLES = ("amplifier.yaml", ".amplifier/amplifier.yaml")


@dataclass(frozen=True, slots=True)
class Place:
    """The settings files of one agent in which hooks can stand; ours go into the first of each."""

    find_home: Callable[[Mapping[str, str]], Path]
    user: tuple[str, ...]
    """Below the agent's own folder."""
    project: tuple[str, ...]
    """Below the project's root."""
    system: tuple[str, ...]
    """Below /etc, where no project can overrule them."""


def _find_below_home(name: str, variable: str = "") -> Callable[[Mapping[str, str]], Path]:
    def find(env: Mapping[str, str]) -> Path:
        if variable and env.get(variable):
            return Path(env[variable]).absolute()
        return Path(env.get("HOME") or Path.home()) / name

    return find


def _find_gemini(env: Mapping[str, str]) -> Path:
    # Unlike the others, its variable names what stands for the home.
    return Path(env.get("GEMINI_CLI_HOME") or env.get("HOME") or Path.home()) / ".gemini"


PLACES: Mapping[str, Place] = {
    # Paths of one machine do not belong into the file that a team shares.
    "claude": Place(
        _find_below_home(".claude", "CLAUDE_CONFIG_DIR"),
        ("settings.json",),
        (".claude/settings.local.json", ".claude/settings.json"),
        ("claude-code/managed-settings.json", "claude-code/managed-settings.d"),
    ),
    "codex": Place(
        _find_below_home(".codex", "CODEX_HOME"),
        ("hooks.json", "config.toml"),
        (".codex/hooks.json", ".codex/config.toml"),
        (
            "codex/requirements.toml",
            "codex/config.toml",
            "codex/hooks.json",
            "codex/managed_config.toml",
        ),
    ),
    "gemini": Place(
        _find_gemini,
        ("settings.json",),
        (".gemini/settings.json",),
        ("gemini-cli/settings.json", "gemini-cli/system-defaults.json"),
    ),
    "copilot": Place(
        _find_below_home(".copilot", "COPILOT_HOME"),
        ("hooks/amplifier.json", "config.json", "settings.json"),
        (
            ".github/hooks/amplifier.json",
            ".github/copilot/settings.json",
            ".github/copilot/settings.local.json",
        ),
        ("github-copilot/policy.d/amplifier.json", "github-copilot/managed-settings.json"),
    ),
    "cursor": Place(
        _find_below_home(".cursor"),
        ("hooks.json",),
        (".cursor/hooks.json",),
        ("cursor/hooks.json",),
    ),
    "opencode": Place(
        lambda env: find_config_home(env) / "opencode",
        ("plugin/amplifier.js", "opencode.json", "opencode.jsonc"),
        (".opencode/plugin/amplifier.js", "opencode.json", "opencode.jsonc"),
        (),  # a project has no switch there that a person's plugin would have to fear
    ),
}


def list_scopes(agent: str) -> tuple[Scope, ...]:
    """For whom an agent can be guarded, the widest first."""
    return ("system", "user", "project") if PLACES[agent].system else ("user", "project")


def find_settings(
    agent: str, scope: Scope, root: Path, env: Mapping[str, str] | None = None
) -> Path:
    """The file that our entries go into."""
    place = PLACES[agent]
    if scope == "system":
        return ETC / place.system[0]
    if scope == "project":
        return root / place.project[0]
    return place.find_home(os.environ if env is None else env) / place.user[0]


def list_guarded_files(
    root: Path | None = None, env: Mapping[str, str] | None = None, folder: Path | None = None
) -> list[Path]:
    """Every file that an agent could switch its guard off with; folders as globs of all in them.

    The settings of all agents, for the machine, the person and the project at `root`; the files
    that name the MCP servers before which a gateway may stand; the guests' runtime folder (by
    default the one that would be chosen now); and the client that the lines start.
    """
    env = os.environ if env is None else env
    found: list[Path] = []
    for place in PLACES.values():
        found += [place.find_home(env) / name for name in place.user]
        found += [root / name for name in place.project] if root is not None else []
        found += [ETC / name for name in place.system]
    found += [*list_mcp_files(env), *(root / name for name in MCP_NAMES if root is not None)]
    client = Path(__file__).parents[1] / "client"
    folders = (folder or choose_folder(env), client, ETC / "amplifier")
    return [*dict.fromkeys(found), *(path for one in folders for path in (one, one / "**"))]


def list_guarded_names() -> list[Path]:
    """The settings of projects, whichever project it is: relative, to be guarded at any depth."""
    names = (name for place in PLACES.values() for name in place.project)
    return [Path(name) for name in dict.fromkeys((*names, *MCP_NAMES))]


def list_beside(agent: str, path: Path) -> list[Path]:
    """Every file of a person's settings of an agent, where our entries are in the one at `path`."""
    first, *others = PLACES[agent].user
    home = path.parents[len(Path(first).parts) - 1]
    return [path, *(home / name for name in others)]


def find_root(start: Path) -> tuple[Path, bool]:
    """The folder that `start` is part of, and whether it has a bundle.

    The nearest with an amplifier.yaml up to the repository's root, else that root, else `start`.
    """
    above = (start, *start.parents)
    top = next((number for number, one in enumerate(above) if (one / ".git").exists()), 0)
    for folder in above[: top + 1]:
        if any((folder / name).is_file() for name in _BUNDLES):
            return folder, True
    return above[top], False
