"""The files that an entry of a plan runs: its source, its rules, its settings and scripts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from amplifier_core.errors import ModuleLoadError
from amplifier_core.loader import SEARCH_PATHS
from amplifier_core.loader.importing import package_name
from amplifier_core.mount_plan import EXAMPLES, LISTS, ModuleEntry, MountPlan, read_entry
from amplifier_foundation.machine.environment import PACKAGES
from amplifier_foundation.machine.snapshot import Snapshot, lies_in, normalize
from amplifier_foundation.trust.import_guard import find_unguarded

# Imported where they are used: few bundles have them, and they are not small.
_RULES, _SHELL, _MCP = "hooks-rules", "hooks-shell", "tool-mcp"


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
        if entry.module == _RULES:
            yield from _read_rules(entry, folder, snapshot)
        if entry.module == _SHELL:
            yield from _read_shell(entry, folder, snapshot)
        if entry.module == _MCP:
            yield from _read_servers(entry, folder, snapshot)
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


def _read_rules(entry: ModuleEntry, folder: Path, snapshot: Snapshot) -> Iterator[Path]:
    from amplifier_foundation.hooks.rules.config import Config, list_files

    options = Config.model_validate(entry.config)
    for path in list_files(options, folder):
        if path.is_file():
            snapshot.read(path)
            yield path


def _read_shell(entry: ModuleEntry, folder: Path, snapshot: Snapshot) -> Iterator[Path]:
    from amplifier_foundation.hooks.shell.config import Config
    from amplifier_foundation.hooks.shell.module import find_files, read_all
    from amplifier_foundation.hooks.shell.scripts.pinning import read_scripts

    options = Config.model_validate(entry.config)
    base = options.find_base(folder)
    for path in find_files(options, base):
        if path.is_file():
            snapshot.read(path)
            yield path
    read_scripts(read_all(options, base, snapshot).handlers, base, snapshot)


def _read_servers(entry: ModuleEntry, folder: Path, snapshot: Snapshot) -> Iterator[Path]:
    from amplifier_foundation.tools.mcp.config import Config
    from amplifier_foundation.tools.mcp.launch import list_files

    for server in Config.model_validate(entry.config).servers.values():
        for path in list_files(server, folder / Path(server.cwd or "").expanduser()):
            snapshot.read(path)
            yield path


def list_commands(entry: ModuleEntry, folder: Path, snapshot: Snapshot) -> list[str]:
    """The command lines that an entry of hooks-shell runs, and the servers of tool-mcp."""
    if entry.module == _MCP:
        return _list_servers(entry)
    if entry.module != _SHELL:
        return []
    from amplifier_foundation.hooks.shell.config import Config
    from amplifier_foundation.hooks.shell.module import read_all

    try:
        options = Config.model_validate(entry.config)
        handlers = read_all(options, options.find_base(folder), snapshot).handlers
    except (ValidationError, ModuleLoadError):
        return []
    return [one.url or " ".join(one.args or (one.command or "",)) for one in handlers]


def _list_servers(entry: ModuleEntry) -> list[str]:
    from amplifier_foundation.tools.mcp.config import Config

    try:
        servers = Config.model_validate(entry.config).servers.values()
    except ValidationError:
        return []
    return [one.describe() for one in servers]


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
