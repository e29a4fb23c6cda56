"""The files that an entry of a plan runs: its source, its rules, its settings and scripts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from amplifier_core.errors import ModuleLoadError
from amplifier_core.loader import SEARCH_PATHS
from amplifier_core.loader.importing import package_name
from amplifier_core.mount_plan import EXAMPLES, LISTS, ModuleEntry, MountPlan, read_entry
from amplifier_hooks.agent.trust.import_guard import find_unguarded
from amplifier_hooks.machine.environment import PACKAGES
from amplifier_hooks.machine.snapshot import Snapshot, lies_in, normalize

_FILES = {
    "hooks-rules": "amplifier_hooks.guards.rules.config",
    "hooks-shell": "amplifier_hooks.coding_agents.shell_hooks.module",
    "tool-mcp": "amplifier_hooks.agent.tools.mcp.launch",
}
"""Built-in modules whose options name files: where each has `read_entry_files`.

Imported when a bundle has one of them: few do, and they are not small.
"""
_COMMANDS = ("hooks-shell", "tool-mcp")
"""Those whose options name commands, too: `list_entry_commands`, in the same place."""


def iterate_entries(plan: Mapping[str, Any]) -> Iterator[ModuleEntry]:
    """Every entry of a plan, those of its agents too."""
    yield from (entry for _, entry in MountPlan.parse(plan).entries())
    for agent in (plan.get("agents") or {}).values():
        session = agent.get("session") or {}
        yield from (read_entry(key, session[key]) for key in EXAMPLES if key in session)
        for kind in LISTS:
            # Tools of an agent may also be names of the parent's.
            listed = [one for one in agent.get(kind) or () if kind != "tools" or _is_module(one)]
            yield from (read_entry(kind, one) for one in listed)


def _is_module(tool: Any) -> bool:
    return not isinstance(tool, str)


def read_files(entry: ModuleEntry, folder: Path, snapshot: Snapshot) -> list[Path]:
    """Read what the entry runs into the snapshot; what is not there is left to its module."""
    before = set(snapshot.files)
    named = [normalize(path) for path in _read_named(entry, folder, snapshot)]
    return sorted({*named, *(set(snapshot.files) - before)})


def _read_named(entry: ModuleEntry, folder: Path, snapshot: Snapshot) -> Iterator[Path]:
    source = find_source(entry, folder)
    if source is not None:
        yield from read_source(source, snapshot)
    try:
        if entry.module in _FILES:
            described = import_module(_FILES[entry.module])
            yield from described.read_entry_files(entry.config, folder, snapshot)
    except (ValidationError, ModuleLoadError):
        return  # what is wrong with its options, the module itself says best


def find_source(entry: ModuleEntry, folder: Path) -> Path | None:
    """The file or folder that an entry names, as the loader reads it."""
    text = (entry.source or entry.module).removeprefix("file://")
    if "://" in text or not (text.endswith(".py") or "/" in text or entry.source):
        return None
    return normalize(folder / Path(text).expanduser())


def read_source(source: Path, snapshot: Snapshot) -> list[Path]:
    """Read the file of a module, or the files of its folder."""
    if source.is_dir():
        return snapshot.read_tree(source)
    if source.is_file():
        snapshot.read(source)
        return [source]
    return []


def list_commands(entry: ModuleEntry, folder: Path, snapshot: Snapshot) -> list[str]:
    """The command lines that an entry of hooks-shell runs, and the servers of tool-mcp."""
    if entry.module not in _COMMANDS:
        return []
    described = import_module(_FILES[entry.module])
    try:
        commands: list[str] = described.list_entry_commands(entry.config, folder, snapshot)
    except (ValidationError, ModuleLoadError):
        return []
    return commands


def find_installed(
    entry: ModuleEntry, folder: Path, known: Mapping[str, EntryPoint]
) -> Iterator[tuple[str, Path]]:
    """The packages in the folder that the loader would take a module from, by name.

    The agent could change them there. A package that only has the name of a module's package counts
    as well: the loader takes it before one of our own.
    """
    if entry.source is not None:
        return
    point = known.get(entry.module)
    names = [] if point is None else [point.module.partition(".")[0]]
    for name in dict.fromkeys([*names, package_name(entry.module)]):
        spec = find_unguarded(name) if name.isidentifier() and name not in PACKAGES else None
        origin = None if spec is None or spec.origin is None else normalize(Path(spec.origin))
        if origin is not None and lies_in(origin, folder):
            yield name, origin.parent if origin.name == "__init__.py" else origin


def find_in_search_paths(entry: ModuleEntry, folder: Path) -> Iterator[Path]:
    """The folders of a module in AMPLIFIER_MODULES, where those lie in the folder."""
    for root in filter(None, os.environ.get(SEARCH_PATHS, "").split(":")):
        place = normalize(Path(root) / f"amplifier-module-{entry.module}")
        if entry.source is None and lies_in(place, folder) and place.is_dir():
            yield place
