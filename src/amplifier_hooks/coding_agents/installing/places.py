"""Places of an agent's settings: for a person, for a project, for the whole machine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from amplifier_hooks.coding_agents.daemon.folder import choose_folder
from amplifier_hooks.coding_agents.known import KNOWN
from amplifier_hooks.coding_agents.known.agent import Place
from amplifier_hooks.guards.mcp.client_files import MCP_NAMES, list_mcp_files

Scope = Literal["user", "project", "system"]
ETC = Path("/etc")
"""What only root can write. No variable moves it: the environment may be the agent's."""
_BUNDLES = ("amplifier.yaml", ".amplifier/amplifier.yaml")


PLACES: Mapping[str, Place] = {name: agent.place for name, agent in KNOWN.items()}


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
