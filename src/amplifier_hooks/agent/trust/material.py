"""Everything of a folder that a bundle would run, read once; nothing else of it is imported."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import ValidationError

from amplifier_core.errors import AmplifierError, ModuleLoadError
from amplifier_core.loader import SEARCH_PATHS, ModuleLoader
from amplifier_core.loader.importing import (
    PathState,
    SourceFinder,
    claim,
    is_known_missing,
    package_name,
    read_path_state,
    release,
    taken,
)
from amplifier_core.mount_plan import EXAMPLES, LISTS, ModuleEntry, MountPlan, read_entry
from amplifier_hooks.agent.bundles import Bundle
from amplifier_hooks.agent.bundles.load import PACKAGED
from amplifier_hooks.agent.trust.outline import outline_plan
from amplifier_hooks.machine.files import Snapshot, digest_files, lies_in, normalize
from amplifier_hooks.machine.locations import PACKAGES, find_config_home


class ImportGuard(MetaPathFinder):
    """Stands before all other finders, and passes over what they find in the folder.

    A folder can be on `sys.path`: by an editable install, by PYTHONPATH, by `python -m`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What the other finders find elsewhere; ModuleNotFoundError if that is nothing."""
        if fullname.partition(".")[0] in taken:
            return None
        spec = find_unguarded(fullname, path)
        if spec is None or not any(lies_in(one, self.folder) for one in list_places(spec)):
            return spec
        elsewhere = [one for one in path or sys.path if not lies_in(Path(one or "."), self.folder)]
        spec = PathFinder.find_spec(fullname, elsewhere)
        if spec is None:
            message = f"{fullname!r} is in {self.folder} but is not part of what was trusted"
            raise ModuleNotFoundError(message, name=fullname)
        return spec


@contextmanager
def guard_imports(folder: Path) -> Iterator[None]:
    """Import nothing from a folder that is not among the sources of a loader."""
    guard = ImportGuard(folder)
    sys.meta_path.insert(0, guard)
    try:
        yield
    finally:
        sys.meta_path.remove(guard)


def find_unguarded(
    fullname: str, path: Sequence[str] | None = None, state: PathState | None = None
) -> ModuleSpec | None:
    """Where a module would be imported from, were it not for guards and sources.

    With the `state` of the path, what is known to be missing there is not looked for again.
    """
    missing = state is not None and is_known_missing(fullname, state)
    for finder in list(sys.meta_path):
        look = getattr(finder, "find_spec", None)
        if look is None or isinstance(finder, ImportGuard | SourceFinder):
            continue
        if missing and finder is PathFinder:
            continue
        spec: ModuleSpec | None = look(fullname, path)
        if spec is not None:
            return spec
    return None


def list_places(spec: ModuleSpec) -> list[Path]:
    """The file of a module, or the folders of a package that has no file of its own."""
    if spec.has_location and spec.origin:
        return [Path(spec.origin)]
    return [Path(one) for one in spec.submodule_search_locations or ()]


_FILES = {
    "hooks-rules": "amplifier_hooks.guards.rules.loading",
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
    entry: ModuleEntry,
    folder: Path,
    known: Mapping[str, EntryPoint],
    state: PathState | None = None,
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
        looked_for = name.isidentifier() and name not in PACKAGES
        spec = find_unguarded(name, state=state) if looked_for else None
        origin = None if spec is None or spec.origin is None else normalize(Path(spec.origin))
        if origin is not None and lies_in(origin, folder):
            yield name, origin.parent if origin.name == "__init__.py" else origin


def find_in_search_paths(entry: ModuleEntry, folder: Path) -> Iterator[Path]:
    """The folders of a module in AMPLIFIER_MODULES, where those lie in the folder."""
    for root in filter(None, os.environ.get(SEARCH_PATHS, "").split(":")):
        place = normalize(Path(root) / f"amplifier-module-{entry.module}")
        if entry.source is None and lies_in(place, folder) and place.is_dir():
            yield place


class Untrusted(AmplifierError):
    """Nobody has allowed what would be run; the message says how to."""


@dataclass(frozen=True, slots=True)
class Material:
    """A bundle, and the bytes of every file that it runs."""

    bundle: Bundle
    folder: Path
    snapshot: Snapshot
    files: Mapping[str, bytes]
    """What needs a person's trust, by the name it is shown under."""
    commands: tuple[str, ...]
    _packages: tuple[tuple[str, Path], ...]
    _by_entry: Mapping[str, tuple[Path, ...]]

    @property
    def digest(self) -> str:
        """Of the names and the contents of the files that need trust."""
        return digest_files(self.files.items())

    @property
    def name(self) -> str:
        """The file that the bundle begins with."""
        sources = self.bundle.sources
        return _name(normalize(sources[0]), self.folder) if sources else ""

    @property
    def rest(self) -> str:
        """A digest of what is not part of the folder: the person's own files."""
        own = {normalize(self.folder / name) for name in self.files}
        files = self.snapshot.files.items()
        return digest_files((str(path), content) for path, content in files if path not in own)

    @property
    def outline(self) -> dict[str, Any]:
        """What the plan holds, without its secrets, to be kept and compared."""
        return outline_plan(self.bundle.mount_plan)

    @property
    def hooks(self) -> list[ModuleEntry]:
        """The entries of hooks, those of agents too."""
        plan = self.bundle.mount_plan
        found = list(MountPlan.parse(plan).hooks)
        for agent in plan["agents"].values():
            found += [read_entry("hooks", one) for one in agent.get("hooks") or ()]
        return found

    @contextmanager
    def hold(self) -> Iterator[None]:
        """From now on this is all of the folder that can be loaded, and imported meanwhile."""
        self.snapshot.seal()
        self.snapshot.govern(self.folder)
        with guard_imports(self.folder):
            try:
                yield
            finally:
                release(self.snapshot)

    def claim_packages(self) -> None:
        """Have packages that are installed from within the folder imported as they were read."""
        for name, start in self._packages:
            claim(self.snapshot, start, name)

    def digest_entry(self, entry: ModuleEntry) -> str:
        """Of the files that one entry runs."""
        paths = self._by_entry.get(_identify(entry))
        if paths is None:  # a hook has added the entry, or changed it
            source = find_source(entry, self.folder)
            paths = tuple(self.snapshot.list_below(source)) if source else ()
        return digest_files((str(path), self.snapshot.read(path)) for path in paths)

    def digest_modules(self) -> str:
        """Of all files that entries run: everything but the bundles themselves."""
        paths = {path for found in self._by_entry.values() for path in found}
        return digest_files((str(path), self.snapshot.read(path)) for path in paths)

    def name_files(self, entry: ModuleEntry) -> list[str]:
        """The files that one entry runs, by the names they are shown under."""
        return [self.name_path(path) for path in self._by_entry.get(_identify(entry), ())]

    def name_path(self, path: Path) -> str:
        """The name that a file is shown under."""
        return _name(normalize(path), self.folder)


def collect_material(
    bundle: Bundle, folder: Path, plan: Mapping[str, Any] | None = None
) -> Material:
    """Read everything that a bundle would run in a folder; ModuleLoadError if it cannot be read.

    `plan` is the bundle's as hooks have changed it, where there is one.
    """
    from amplifier_hooks.guards.policy.secrets.stream import LiteralScrubber

    folder = normalize(folder)
    snapshot = bundle.snapshot.copy()
    by_entry: dict[str, tuple[Path, ...]] = {}
    commands: list[str] = []
    packages: list[tuple[str, Path]] = []
    known = _list_known(folder)
    state = read_path_state()
    scrub = LiteralScrubber(bundle.secrets)
    for entry in iterate_entries(plan or bundle.mount_plan):
        installed = list(find_installed(entry, folder, known, state))
        starts = [*(start for _, start in installed), *find_in_search_paths(entry, folder)]
        packages += installed
        try:
            found = read_files(entry, folder, snapshot)
            found += [path for start in starts for path in read_source(start, snapshot)]
            commands += map(scrub, list_commands(entry, folder, snapshot))
        except OSError as error:
            raise _explain_unreadable(error, entry, bundle) from error
        by_entry[_identify(entry)] = tuple(found)
    return Material(
        bundle=bundle,
        folder=folder,
        snapshot=snapshot,
        files=_choose_own(snapshot, folder),
        commands=tuple(commands),
        _packages=tuple(packages),
        _by_entry=by_entry,
    )


def _explain_unreadable(error: OSError, entry: ModuleEntry, bundle: Bundle) -> ModuleLoadError:
    """What cannot be read, with the line that asks for it; it may be part of a guard."""
    place = bundle.place_of(entry.module, entry.name or entry.instance_id)
    where = "" if place is None else f"{place}: "
    why = f"{error.filename}: {error.strerror}" if error.strerror else str(error)
    message = f"{where}Module '{entry.module}' runs a file that cannot be read: {why}"
    return ModuleLoadError(message, module_id=entry.module)


def _list_known(folder: Path) -> dict[str, EntryPoint]:
    """The installed modules, without those that only a file of the folder says are installed."""
    outside = Snapshot()
    outside.govern(folder)
    return ModuleLoader(sources=outside).known()


def _choose_own(snapshot: Snapshot, folder: Path) -> dict[str, bytes]:
    """Not the packaged bundle, and not the person's own settings, which no tool can write."""
    personal = normalize(find_config_home() / "amplifier")
    return {
        _name(path, folder): content
        for path, content in sorted(snapshot.files.items())
        if path != PACKAGED
        and (not path.is_relative_to(personal) or personal.is_relative_to(folder))
    }


def _name(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)


def _identify(entry: ModuleEntry) -> str:
    written = entry.model_dump(exclude={"required"})
    return json.dumps(written, sort_keys=True, default=str)
