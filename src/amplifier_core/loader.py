"""Finding modules: from an id or a path to something that mounts."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from amplifier_core.errors import ModuleLoadError, ModuleNotFound
from amplifier_core.events import ALL_EVENTS
from amplifier_core.interfaces import Host
from amplifier_core.utils import describe_error, digest

GROUP = "amplifier.modules"

Mount = Callable[[Any, dict[str, Any]], Any]


@dataclass(frozen=True, slots=True)
class Module:
    """A module that was found: what mounts it, and where it came from."""

    id: str
    mount: Mount
    origin: str
    on_session_ready: Callable[[Any], Any] | None = None


class ModuleLoader:
    """Finds modules: a path, an entry point, or a package `amplifier_module_<id>`."""

    def __init__(self, base: Path | None = None) -> None:
        self.base = base
        self._entry_points: dict[str, EntryPoint] | None = None

    def known(self) -> dict[str, EntryPoint]:
        """The installed modules by id."""
        if self._entry_points is None:
            self._entry_points = {entry.name: entry for entry in entry_points(group=GROUP)}
        return self._entry_points

    def find(self, module_id: str, source: str | None = None) -> Module:
        """The module behind an id; `source` is a file or folder, relative to the base."""
        path = self._path(source or module_id)
        if path is not None:
            return _module(module_id, _import_path(path), str(path))
        if source is not None and not source.startswith(("git+", "http://", "https://")):
            message = f"Module '{module_id}': there is no file or folder {source!r}"
            raise ModuleNotFound(message, module_id=module_id)
        if module_id.startswith(("./", "../", "/", "~/")):
            raise ModuleNotFound(f"There is no file or folder {module_id!r}", module_id=module_id)
        return self._find_installed(module_id)

    def _path(self, text: str) -> Path | None:
        looks_like_path = text.endswith(".py") or "/" in text
        path = (self.base or Path.cwd()) / Path(text).expanduser()
        return path.resolve() if looks_like_path and path.exists() else None

    def _find_installed(self, module_id: str) -> Module:
        known = self.known()
        if module_id in known:
            entry = known[module_id]
            return _module(module_id, _import(module_id, entry.load), entry.value)
        name = "amplifier_module_" + module_id.replace("-", "_")
        if name.isidentifier() and importlib.util.find_spec(name) is not None:
            return _module(module_id, _import(name, lambda: importlib.import_module(name)), name)
        message = f"Unknown module {module_id!r}; have {sorted(known)}"
        raise ModuleNotFound(message, module_id=module_id, known=known)


def _import(name: str, load: Callable[[], Any]) -> Any:
    try:
        return load()
    except Exception as error:
        message = f"Module '{name}' cannot be imported: {describe_error(error)}"
        raise ModuleLoadError(message, module_id=name) from error


def _import_path(path: Path) -> ModuleType:
    """Import a file, or a folder with an `__init__.py`, always as it is on disk now."""
    is_package = path.is_dir()
    file = path / "__init__.py" if is_package else path
    name = f"amplifier_file_{path.stem.replace('-', '_')}_{digest(str(path))[:8]}"
    spec = importlib.util.spec_from_file_location(
        name, file, submodule_search_locations=[str(path)] if is_package else None
    )
    if spec is None or not file.is_file():
        raise ModuleLoadError(f"'{path}' is no Python module")
    module = importlib.util.module_from_spec(spec)
    _forget(name)
    sys.modules[name] = module
    try:
        # The spec's loader would take a file cached in the same second for the one on disk.
        exec(compile(file.read_bytes(), str(file), "exec"), module.__dict__)
    except Exception as error:
        del sys.modules[name]
        raise ModuleLoadError(f"'{path}' cannot be imported: {describe_error(error)}") from error
    return module


def _forget(name: str) -> None:
    """Drop an earlier import of a module and of its parts."""
    for stale in [one for one in sys.modules if one == name or one.startswith(name + ".")]:
        del sys.modules[stale]


def _module(module_id: str, found: Any, origin: str) -> Module:
    home = found if isinstance(found, ModuleType) else sys.modules.get(found.__module__)
    mount = getattr(found, "mount", None) if isinstance(found, ModuleType) else found
    if mount is None and isinstance(found, ModuleType):
        mount = _mount_functions(module_id, found)
    if not callable(mount):
        missing = "has no mount(coordinator, config) and no function on_<event>"
        raise ModuleLoadError(f"Module '{module_id}' ({origin}) {missing}", module_id=module_id)
    return Module(module_id, mount, origin, getattr(home, "on_session_ready", None))


def _mount_functions(module_id: str, module: ModuleType) -> Mount | None:
    """The `mount` of a plain file of hooks: functions marked `@hook`, or named `on_<event>`."""
    found = _find_functions(module)
    if not found:
        return None

    async def mount(coordinator: Host, config: dict[str, Any]) -> Callable[[], None]:
        if config:
            message = f"Module '{module_id}' takes no config, got {sorted(config)}"
            raise ModuleLoadError(message, module_id=module_id)
        undo = [
            coordinator.hooks.register(event, handler, **settings)
            for handler, event, settings in found
        ]

        def unmount() -> None:
            for one in undo:
                one()

        return unmount

    return mount


def _find_functions(module: ModuleType) -> list[tuple[Callable[..., Any], str, dict[str, Any]]]:
    by_name = {"on_" + event.replace(":", "_").replace("-", "_"): event for event in ALL_EVENTS}
    found: list[tuple[Callable[..., Any], str, dict[str, Any]]] = []
    for name, value in vars(module).items():
        settings = getattr(value, "__amplifier_hook__", None)
        if settings is not None:
            found.extend((value, event, settings["options"]) for event in settings["events"])
        elif name in by_name and inspect.isfunction(value):
            found.append((value, by_name[name], {}))
    return found
