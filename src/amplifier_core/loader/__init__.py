"""Finding modules: from an id, a path or a resolver's answer to something that mounts.

A module is looked for where the application's module source resolver says, then at the `source` of
its entry, then among installed packages, then in the search paths. A module of this project comes
last, so that an installed one of the same id is preferred.
"""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import importlib.util
import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from amplifier_core import only_kernel as only_kernel
from amplifier_core.errors import (
    LoadFailure,
    ModuleLoadError,
    ModuleNotFound,
    ModuleValidationError,
)
from amplifier_core.loader.importing import (
    PathState,
    Sources,
    find_package,
    import_package,
    import_path,
    import_source,
    import_with,
    is_importable,
    package_name,
    read_path_state,
)
from amplifier_core.loader.module import Module, Mount, Ready, read_module
from amplifier_core.models import ModuleInfo
from amplifier_core.module_sources import ask_resolver
from amplifier_core.utils import describe_error

if TYPE_CHECKING:
    from amplifier_core.models import ModuleInfo


__all__ = [
    "DISTRIBUTION",
    "GROUP",
    "MODULE_FAILURE_REASONS",
    "TYPE_TO_MOUNT_POINT",
    "Module",
    "ModuleLoader",
    "ModuleValidationError",
    "Mount",
    "module_failure_reason",
]

logger = logging.getLogger(__name__)

SEARCH_PATHS = "AMPLIFIER_MODULES"
"""The environment variable with folders of modules, where no search paths are given."""

TYPE_TO_MOUNT_POINT = {
    "orchestrator": "orchestrator",
    "provider": "providers",
    "tool": "tools",
    "hook": "hooks",
    "context": "context",
    "resolver": "module-source-resolver",
}


MODULE_FAILURE_REASONS: tuple[LoadFailure, ...] = get_args(LoadFailure)
"""What `module:load_failed` may say as its reason code."""


def module_failure_reason(error: BaseException) -> LoadFailure:
    """The reason code of a failure to load a module; `unknown` if it has none."""
    code = getattr(error, "reason_code", None)
    return code if code in MODULE_FAILURE_REASONS else "unknown"


class ModuleLoader:
    """Finds and imports the modules of one session; `base` is where relative paths start.

    With `sources`, files and folders are imported from those, and none that is not among them.
    """

    def __init__(
        self,
        coordinator: Any = None,
        search_paths: Sequence[Path | str] | None = None,
        *,
        base: Path | None = None,
        sources: Sources | None = None,
    ) -> None:
        self.base = base
        self.sources = sources
        self._coordinator = coordinator
        self._search_paths = search_paths
        self._entry_points: dict[str, EntryPoint] | None = None
        self._built_in: frozenset[str] = frozenset()
        self._loaded: dict[str, Module] = {}
        self._added_paths: list[str] = []
        self._ready: list[Ready] = []

    def copy(self) -> ModuleLoader:
        """A loader for another session, which knows what this one knows and cleans up by itself."""
        other = ModuleLoader(search_paths=self._search_paths, base=self.base, sources=self.sources)
        other._entry_points = self._entry_points
        other._built_in = self._built_in
        other._loaded = dict(self._loaded)
        return other

    def use_sources(self, sources: Sources) -> None:
        """Import from these sources from now on, and look again which modules there are."""
        self.sources = sources
        self._entry_points = None
        self._loaded.clear()

    # Finding

    def known(self) -> dict[str, EntryPoint]:
        """The installed modules by id; of two with one id, the one that is not ours."""
        if self._entry_points is None:
            self._entry_points, self._built_in = choose_modules(self.sources)
        return self._entry_points

    def find(self, module_id: str, source: str | None = None) -> Module:
        """The module behind an id; `source` is a file or folder, relative to the base.

        A `source` that is an address says where somebody else has to fetch the module from: it is
        found if that has been done.
        """
        path = self._locate(source or module_id)
        if path is not None:
            return self._import_from(path, module_id)
        if source is not None and not _is_address(source):
            message = f"Module '{module_id}': there is no file or folder {source!r}"
            raise ModuleNotFound(message, module_id=module_id)
        if module_id.startswith(("./", "../", "/", "~/")):
            raise ModuleNotFound(f"There is no file or folder {module_id!r}", module_id=module_id)
        return self._find_installed(module_id) or self._find_built_in(module_id, source)

    def _locate(self, text: str) -> Path | None:
        text = text.removeprefix("file://")
        if not text.endswith(".py") and "/" not in text:
            return None
        path = (self.base or Path.cwd()) / Path(text).expanduser()
        if self.sources is None:
            if path.exists():
                return path.resolve()
            return None
        path = Path(os.path.normpath(path.absolute()))
        if self.sources.list_below(path) or path.exists():
            return path
        return None

    def _import_from(self, path: Path, module_id: str, *, vouched: bool = False) -> Module:
        """The module in a file, in a package, or in a folder that holds its package.

        For what is `vouched` for by the application or its environment, the disk will do.
        """
        sources = self.sources
        if sources is not None and not (vouched and self._is_left_to_disk(path, sources)):
            return read_module(module_id, import_source(sources, path, module_id), str(path))
        package = find_package(module_id, path) if path.is_dir() else None
        if package is None:
            return read_module(module_id, import_path(path), str(path))
        self._add_path(package.parent)
        return read_module(module_id, import_package(package), str(package))

    def _is_left_to_disk(self, path: Path, sources: Sources) -> bool:
        return not sources.list_below(path) and not sources.governs(path)

    def _find_installed(self, module_id: str) -> Module | None:
        entry = self.known().get(module_id)
        if entry is not None and module_id not in self._built_in:
            return self._load_entry_point(module_id, entry)
        name = package_name(module_id)
        if name.isidentifier() and is_importable(name):
            found = import_with(module_id, lambda: importlib.import_module(name))
            return read_module(module_id, found, name)
        for folder in self._list_folders():
            if folder.name == f"amplifier-module-{module_id}":
                return self._import_from(folder, module_id, vouched=True)
        return None

    def _find_built_in(self, module_id: str, source: str | None) -> Module:
        known = self.known()
        entry = known.get(module_id)
        if entry is None and source is not None:
            message = (
                f"Module '{module_id}' is not installed, and no module source resolver brings it "
                f"from {source!r}: install it, or give the path of a copy as its source"
            )
            raise ModuleNotFound(message, module_id=module_id)
        if entry is None:
            message = f"Unknown module {module_id!r}; have {', '.join(sorted(known))}"
            raise ModuleNotFound(message, module_id=module_id, known=known)
        module = self._load_entry_point(module_id, entry)
        if source is None:
            return module
        remark = (
            f"Module '{module_id}': the built-in one is used, because the one of {source!r} is not "
            "installed, and no module source resolver brings it"
        )
        return replace(module, remark=remark)

    def _load_entry_point(self, module_id: str, entry: EntryPoint) -> Module:
        if module_id not in self._loaded:
            found = import_with(module_id, entry.load, "invalid_entry_point")
            self._loaded[module_id] = read_module(module_id, found, entry.value, entry.module)
        return self._loaded[module_id]

    def _list_folders(self) -> Iterator[Path]:
        """The folders `amplifier-module-<id>` in the search paths."""
        roots = self._search_paths or filter(None, os.environ.get(SEARCH_PATHS, "").split(":"))
        for root in roots:
            yield from sorted(Path(root).expanduser().absolute().glob("amplifier-module-*"))

    def _add_path(self, folder: Path) -> None:
        """Put a folder in front of everything that can be imported, once for each loader.

        Several loaders may add the same one: each takes back its own entry.
        """
        if str(folder) not in self._added_paths:
            self._added_paths.append(str(folder))
            sys.path.insert(0, str(folder))

    # The interface of applications and sessions of the ecosystem

    async def load(
        self,
        module_id: str,
        config: Mapping[str, Any] | None = None,
        source_hint: Path | str | None = None,
        coordinator: Any = None,
    ) -> Callable[[Any], Any]:
        """An async `mount(coordinator)` of a module, with its options in it."""
        host = self._coordinator if coordinator is None else coordinator
        module = await self._ask_resolver(host, module_id, source_hint)
        if module is None:
            module = self.find(module_id, None if source_hint is None else str(source_hint))
        if module.remark:
            await _show_remark(host, module.remark)
        return module.bind(config)

    async def _ask_resolver(self, host: Any, module_id: str, hint: Any) -> Module | None:
        resolver = None if host is None else host.get("module-source-resolver")
        if resolver is None:
            return None
        try:
            folder = await ask_resolver(resolver, module_id, hint)
        except Exception as error:
            message = f"Module '{module_id}': its source cannot be had: {describe_error(error)}"
            raise ModuleLoadError(
                message, module_id=module_id, reason_code="missing_source"
            ) from error
        if folder is None:
            return None
        return self._import_resolved(folder, module_id)

    def _import_resolved(self, folder: Path, module_id: str) -> Module:
        if not folder.is_dir():
            message = f"Module '{module_id}': the resolver names {folder}, which is not a folder"
            raise ModuleNotFound(message, module_id=module_id)
        folder = folder.resolve()
        self._add_path(folder)
        if find_package(module_id, folder) is None:
            for dist in importlib.metadata.distributions(path=[str(folder)]):
                for entry in dist.entry_points.select(group=GROUP, name=module_id):
                    found = import_with(module_id, entry.load, "invalid_entry_point")
                    return read_module(module_id, found, entry.value, entry.module)
        return self._import_from(folder, module_id, vouched=True)

    async def discover(self) -> list[ModuleInfo]:
        """Every module that can be had without a source: the installed ones, and in folders."""
        from amplifier_core.loader import describe_modules

        return describe_modules(self.known(), self._list_folders(), TYPE_TO_MOUNT_POINT)

    async def initialize(self, mount: Callable[[Any], Any], coordinator: Any) -> None:
        """Mount what `load` returned; the coordinator's clean-up will undo it."""
        undo = await mount(coordinator)
        if callable(undo):
            coordinator.register_cleanup(undo)
        waiting: Ready | None = getattr(mount, "__on_session_ready__", None)
        if waiting is not None:
            self.enqueue_on_session_ready(*waiting)

    def cleanup(self) -> None:
        """Take back what was added to `sys.path`."""
        while self._added_paths:
            with suppress(ValueError):
                sys.path.remove(self._added_paths.pop())

    def enqueue_on_session_ready(self, module_id: str, function: Callable[[Any], Any]) -> None:
        """Have a function called with the coordinator when everything is mounted."""
        self._ready.append((module_id, function))

    def get_on_session_ready_queue(self) -> list[Ready]:
        """What is to be called, in order."""
        return list(self._ready)

    def clear_on_session_ready_queue(self) -> None:
        """Call none of it."""
        self._ready.clear()


async def _show_remark(host: Any, remark: str) -> None:
    """Show the person a remark; that of a sub-agent's module has been shown for its parent."""
    show = None if getattr(host, "parent_id", None) else getattr(host, "show", None)
    if show is None:
        logger.warning("%s", remark)
    else:
        await show(remark, "warning", "modules")


def _is_address(source: str) -> bool:
    return "://" in source and not source.startswith("file://")


GROUP = "amplifier.modules"
DISTRIBUTION = "amplifier-hooks"
"""The distribution on top of this kernel, whose modules give way to others."""


class _Named(NamedTuple):
    """A module, as a distribution names it."""

    point: EntryPoint
    home: Path | None
    """The folder that the distribution is installed in."""
    is_ours: bool


class _Reading(NamedTuple):
    """What was read, by what, and the state that it was read in."""

    named: tuple[_Named, ...]
    read: Callable[..., Any]
    files: tuple[str, ...]
    state: PathState

    def is_current(self) -> bool:
        """Whether the same would be read again."""
        same = self.read is importlib.metadata.entry_points
        return same and self.state == read_path_state(self.files)


_last: list[_Reading] = []
"""The last reading, if it can be told when it is no longer current."""


def choose_modules(sources: Sources | None) -> tuple[dict[str, EntryPoint], frozenset[str]]:
    """The installed modules by id, and the ids among them that are ours and nobody else's.

    What `sources` govern is not installed: there, only what was read and judged counts.
    """
    named = _list_named()
    homes = {one.home for one in named if one.home is not None}  # many modules share one
    governed = {home for home in homes if sources is not None and sources.governs(home)}
    found = [one for one in named if one.home not in governed]
    others = {one.point.name: one.point for one in reversed(found) if not one.is_ours}
    ours = {one.point.name: one.point for one in found if one.is_ours}
    return {**ours, **others}, frozenset(ours.keys() - others.keys())


def _list_named() -> tuple[_Named, ...]:
    for reading in _last[:]:
        if reading.is_current():
            return reading.named
    reading = _read()
    _last[:] = [reading] if reading.state.is_settled() else []
    return reading.named


def _read() -> _Reading:
    read = importlib.metadata.entry_points
    points = list(read(group=GROUP))
    # One by one, because the name of a distribution stands in a long file.
    owners = [getattr(point, "dist", None) for point in points]  # some hosts make up their own
    dists = {id(dist): dist for dist in owners}
    homes = {key: _find_home(dist) for key, dist in dists.items()}
    ours = {key for key, dist in dists.items() if getattr(dist, "name", None) == DISTRIBUTION}
    named = [
        _Named(point, homes[id(dist)], id(dist) in ours)
        for point, dist in zip(points, owners, strict=True)
    ]
    folders = [*map(_find_folder, dists.values()), *_list_checkouts()]
    files = tuple(f"{folder}/entry_points.txt" for folder in folders)
    return _Reading(tuple(named), read, files, read_path_state(files))


def _list_checkouts() -> list[str]:
    """What development installs know of themselves, which is written anew in its place."""
    found: list[str] = []
    for folder in sys.path:
        with suppress(OSError):
            names = os.listdir(folder or ".")  # noqa: PTH208 - a Path for each name takes long
            found += [f"{folder or '.'}/{name}" for name in names if name.endswith(".egg-info")]
    return found


def _find_home(dist: Any) -> Path | None:
    if dist is None:
        return None
    return Path(str(dist.locate_file("")))


def _find_folder(dist: Any) -> Any:
    """Where the files about a distribution are; there is no public name for it."""
    return getattr(dist, "_path", None)


_GUESSES = {
    "orchestrat": "orchestrator",
    "loop": "orchestrator",
    "provider": "provider",
    "tool": "tool",
    "hook": "hook",
    "context": "context",
}
"""What an id contains, and the kind that it says so, in this order."""

_DECLARED = "__amplifier_module_type__"
_UNKNOWN_VERSION = "unknown"


def describe_modules(
    entries: Mapping[str, EntryPoint], folders: Iterable[Path], mount_points: Mapping[str, str]
) -> list[ModuleInfo]:
    """The installed modules, then those in folders that have another id."""
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for module_id, entry in entries.items():
        version = getattr(entry.dist, "version", _UNKNOWN_VERSION)
        found[module_id] = (str(version), _read_entry_point(entry))
    for folder in folders:
        module_id = folder.name.removeprefix("amplifier-module-")
        facts = read_facts(find_package(module_id, folder))
        found.setdefault(module_id, (_UNKNOWN_VERSION, facts))
    return [
        _describe(module_id, version, facts, mount_points)
        for module_id, (version, facts) in found.items()
    ]


def _describe(
    module_id: str, version: str, facts: Mapping[str, Any], mount_points: Mapping[str, str]
) -> ModuleInfo:
    declared = facts.get("type")
    about = str(facts.get("about") or "").strip()
    kind: Any = declared if declared in mount_points else guess_kind(module_id)
    return ModuleInfo(
        id=module_id,
        name=module_id,
        version=version,
        type=kind,
        mount_point=mount_points[kind],
        description=about.partition("\n")[0] or f"Module {module_id}",
    )


def guess_kind(module_id: str) -> str:
    """The kind of a module, by its id; a tool if that says nothing."""
    return next((kind for part, kind in _GUESSES.items() if part in module_id), "tool")


def read_facts(package: Path | None) -> dict[str, Any]:
    """The kind that a package declares, and its docstring."""
    file = package / "__init__.py" if package is not None and package.is_dir() else package
    try:
        tree = ast.parse(b"" if file is None else file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return {}
    assigned = {
        ast.unparse(target): node.value
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    }
    kind = assigned.get(_DECLARED)
    return {
        "type": kind.value if isinstance(kind, ast.Constant) else None,
        "about": ast.get_docstring(tree),
    }


def _read_entry_point(entry: EntryPoint) -> dict[str, Any]:
    """The facts of the Python module that an entry point names."""
    name = str(entry.module)
    loaded = sys.modules.get(name)
    if loaded is not None:
        return {"type": getattr(loaded, _DECLARED, None), "about": loaded.__doc__}
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return {}
    if spec is not None and spec.origin:
        return read_facts(Path(spec.origin))
    return {}


PUBLIC_MODULES = ("importing",)
