"""Keeping agents from their own guard, for whoever stands behind one: agents, or an MCP gateway.

None of their tools may change the files by which they are guarded, nor act as a person would.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from amplifier_core.interfaces import Host
from amplifier_hooks.guards.policy.agent_programs import AgentProgram
from amplifier_hooks.guards.self_protection import deny_personal_acts
from amplifier_hooks.machine.locations import find_config_home, find_data_home

_CODE = Path(__file__).parents[2]
_INSTALLED = frozenset({"dist-packages", "site-packages"})


def protect_guard(
    coordinator: Host,
    folder: Path,
    protected: Sequence[Path],
    *,
    agent: str = "",
    starts: Sequence[Path] = (),
) -> None:
    """Keep a program that works in `folder` from what only people do, and from its own guard."""
    deny_personal_acts(coordinator, folder, protected, has_guard, agent=agent, starts=starts)


def has_guard(program: AgentProgram, place: Path) -> bool:
    """Whether a guard was installed, and is still there, for an agent started in a folder."""
    # Only the resident process needs what installing is made of.
    from amplifier_hooks.coding_agents.installing.record import Records

    for record in Records().list():
        if not program.guard or record.agent != program.guard or not Path(record.path).exists():
            continue
        root = Path(record.root)
        if record.scope != "project" or place == root:
            return True
        if program.found_above and place.is_relative_to(root):
            return True
    return False


def list_protected_files(start: Path) -> Sequence[Path]:
    """The settings of all agents, the person's own bundle, what we keep, and our programs.

    An absolute path is itself, and everything below it if it ends in two stars; a relative one
    counts at any depth, so that an agent cannot prepare a folder for the next one either.
    """
    # Only the resident process needs what installing is made of.
    from amplifier_hooks.coding_agents.installing.places import (
        find_root,
        list_guarded_files,
        list_guarded_names,
    )

    roots = dict.fromkeys((start, find_root(start)[0]))
    found = [path for root in roots for path in list_guarded_files(root)]
    # A person's own bundle needs no trust, because no agent can write it.
    ours = [home / "amplifier" / "**" for home in (find_data_home(), find_config_home())]
    listed = [*found, *_list_recorded(), *list_guarded_names(), *ours]
    listed += _list_code(find_root(start)[0])
    return list(dict.fromkeys(listed))


def _list_code(root: Path, where: Path = _CODE) -> list[Path]:
    """What the resident process runs, unless it is the project's own source, to be worked on."""
    if where.is_relative_to(root) and where.name not in _INSTALLED:
        return []
    names = ("amplifier_core", "amplifier_hooks", "amplifier_audit")
    return [where / name / "**" for name in names]


def _list_recorded() -> Iterator[Path]:
    """Settings of a person that are elsewhere, because a variable said so at the installation."""
    from amplifier_hooks.coding_agents.installing.places import list_beside
    from amplifier_hooks.coding_agents.installing.record import Records, open_mcp_records

    for record in Records().list():
        if record.scope == "user":
            yield from list_beside(record.agent, Path(record.path))
    for record in open_mcp_records().list():
        yield Path(record.path)
