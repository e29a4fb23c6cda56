"""Modules: from an id or a path to a mounted module, and back in reverse order."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import logging
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.errors import ModuleLoadError, ModuleNotFound
from amplifier_core.events import ALL_EVENTS
from amplifier_core.hooks import HookHandler
from amplifier_core.utils import describe_error, digest, run_with_timeout

logger = logging.getLogger(__name__)

GROUP = "amplifier.modules"

PATIENCE = 10.0
"""Seconds that the clean-up of one module may take."""

Mount = Callable[[Any, dict[str, Any]], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Module:
    """A module that was found: what mounts it, and where it came from."""

    id: str
    mount: Mount
    origin: str
    on_session_ready: Callable[[Any], Any] | None = None


@dataclass(slots=True)
class Mounted:
    """What became of one entry of the plan."""

    id: str
    kind: str
    origin: str = ""
    error: str | None = None
    handlers: list[HookHandler] = field(default_factory=list)
    undo: Callable[[], Any] | None = None
    ready: Callable[[Any], Any] | None = None

    def notice(self, change: str, handler: HookHandler) -> None:
        """A registration that was made while this module was being mounted."""
        if change == "registered" and handler not in self.handlers:
            self.handlers.append(handler)


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
            raise ModuleNotFound(f"Module '{module_id}': there is no file or folder {source!r}")
        if module_id.startswith(("./", "../", "/", "~/")):
            raise ModuleNotFound(f"There is no file or folder {module_id!r}")
        entry = self.known().get(module_id)
        if entry is not None:
            return _module(module_id, _loaded(entry), entry.value)
        name = "amplifier_module_" + module_id.replace("-", "_")
        if name.isidentifier() and importlib.util.find_spec(name) is not None:
            return _module(module_id, _imported(name), name)
        raise ModuleNotFound(f"Unknown module {module_id!r}; have {sorted(self.known())}")

    def _path(self, text: str) -> Path | None:
        looks_like_path = text.endswith(".py") or "/" in text
        path = (self.base or Path.cwd()) / Path(text).expanduser()
        return path.resolve() if looks_like_path and path.exists() else None


def _loaded(entry: EntryPoint) -> Any:
    try:
        return entry.load()
    except Exception as error:
        raise ModuleLoadError(
            f"Module '{entry.name}' cannot be imported: {_cause(error)}"
        ) from error


def _imported(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except Exception as error:
        raise ModuleLoadError(f"Module '{name}' cannot be imported: {_cause(error)}") from error


def _cause(error: BaseException) -> str:
    return describe_error(error)


def _import_path(path: Path) -> ModuleType:
    """Import a file, or a folder with an `__init__.py`, always as it is on disk now."""
    file = path / "__init__.py" if path.is_dir() else path
    name = f"amplifier_file_{path.stem.replace('-', '_')}_{digest(str(path))[:8]}"
    folder = [str(path)] if path.is_dir() else None
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=folder)
    if spec is None or spec.loader is None or not file.is_file():
        raise ModuleLoadError(f"'{path}' is no Python module")
    module = importlib.util.module_from_spec(spec)
    for stale in [one for one in sys.modules if one == name or one.startswith(name + ".")]:
        del sys.modules[stale]
    sys.modules[name] = module
    try:
        code = compile(file.read_bytes(), str(file), "exec")
        exec(code, module.__dict__)
    except Exception as error:
        del sys.modules[name]
        raise ModuleLoadError(f"'{path}' cannot be imported: {_cause(error)}") from error
    return module


def _module(module_id: str, found: Any, origin: str) -> Module:
    home = found if isinstance(found, ModuleType) else sys.modules.get(found.__module__)
    mount = getattr(found, "mount", None) if isinstance(found, ModuleType) else found
    if mount is None and isinstance(found, ModuleType):
        mount = _mount_of_functions(module_id, found)
    if not callable(mount):
        missing = "has no mount(coordinator, config) and no function on_<event>"
        raise ModuleLoadError(f"Module '{module_id}' ({origin}) {missing}")
    return Module(module_id, mount, origin, getattr(home, "on_session_ready", None))


def _mount_of_functions(module_id: str, module: ModuleType) -> Mount | None:
    """A plain file of hooks: functions marked with `@hook`, or named `on_<event>`."""
    found = list(_marked(module))
    if not found:
        return None

    async def mount(coordinator: Any, config: dict[str, Any]) -> Callable[[], None]:
        if config:
            raise ModuleLoadError(f"Module '{module_id}' takes no config, got {sorted(config)}")
        undo = [
            coordinator.hooks.register(event, handler, **settings)
            for handler, event, settings in found
        ]

        def unmount() -> None:
            for one in undo:
                one()

        return unmount

    return mount


def _marked(module: ModuleType) -> list[tuple[Callable[..., Any], str, dict[str, Any]]]:
    by_function = {"on_" + event.replace(":", "_").replace("-", "_"): event for event in ALL_EVENTS}
    marked: list[tuple[Callable[..., Any], str, dict[str, Any]]] = []
    for name, value in vars(module).items():
        settings = getattr(value, "__amplifier_hook__", None)
        if settings is not None:
            marked.extend((value, event, settings["options"]) for event in settings["events"])
        elif name in by_function and inspect.isfunction(value):
            marked.append((value, by_function[name], {}))
    return marked


class Mounting:
    """The modules of one session: mounts them, says what went wrong, undoes them in reverse."""

    def __init__(self, coordinator: SessionCoordinator, loader: ModuleLoader | None = None) -> None:
        self._coordinator = coordinator
        self.loader = loader or ModuleLoader()
        self.mounted: list[Mounted] = []

    async def mount(self, kind: str, entry: Mapping[str, Any] | str) -> Mounted:
        """Mount one entry of a plan; a failure is noted, and raised if the entry is required."""
        plan = {"module": entry} if isinstance(entry, str) else entry
        if not isinstance(plan, Mapping) or not (plan.get("module") or plan.get("source")):
            raise ModuleLoadError(f"An entry of {kind} names its module, got {entry!r}")
        outcome = Mounted(str(plan.get("module") or plan.get("source")), kind)
        self.mounted.append(outcome)
        before = self._named()
        stop = self._coordinator.hooks.listen(outcome.notice)
        try:
            await self._mount(plan, outcome)
        except Exception as error:
            outcome.error = (
                f"{error}"
                if isinstance(error, ModuleLoadError | ModuleNotFound)
                else (f"Module '{outcome.id}' cannot be mounted: {_cause(error)}")
            )
            self._take_back(outcome, before)
            if plan.get("required"):
                raise ModuleLoadError(outcome.error) from error
            logger.warning("%s; it is left out", outcome.error)
        finally:
            stop()
        return outcome

    def _named(self) -> dict[str, dict[str, Any]]:
        points = self._coordinator.mount_points
        return {point: dict(points[point]) for point in ("providers", "tools")}

    def _take_back(self, outcome: Mounted, before: dict[str, dict[str, Any]]) -> None:
        """What a module that failed had already put in place."""
        for handler in outcome.handlers:
            self._coordinator.hooks.remove(handler)
        for point, modules in before.items():
            place = self._coordinator.mount_points[point]
            place.clear()
            place.update(modules)

    async def _mount(self, plan: Mapping[str, Any], outcome: Mounted) -> None:
        module = self.loader.find(outcome.id, plan.get("source"))
        outcome.origin, outcome.ready = module.origin, module.on_session_ready
        undo = module.mount(self._coordinator, dict(plan.get("config") or {}))
        undo = await undo if inspect.isawaitable(undo) else undo
        outcome.undo = undo if callable(undo) else None
        priority = plan.get("priority")
        if priority is not None:
            for handler in list(outcome.handlers):
                self._coordinator.hooks.move(handler, priority)

    async def ready(self) -> None:
        """Everything is mounted: tell the modules that want to know."""
        for outcome in self.mounted:
            if outcome.ready is None or outcome.error is not None:
                continue
            try:
                told = outcome.ready(self._coordinator)
                if inspect.isawaitable(told):
                    await told
            except Exception as error:  # noqa: BLE001 - one module must not stop the session
                logger.warning(
                    "Module '%s': on_session_ready failed: %s", outcome.id, _cause(error)
                )

    async def unmount(self, outcome: Mounted) -> None:
        """Undo one module, once, whatever it raises and however long it would take."""
        undo, outcome.undo = outcome.undo, None
        self.mounted = [one for one in self.mounted if one is not outcome]
        try:
            undone = None if undo is None else undo()
            if inspect.isawaitable(undone):
                await run_with_timeout(undone, PATIENCE)
        except Exception:
            logger.exception("The clean-up of module '%s' failed", outcome.id)
        for handler in outcome.handlers:
            self._coordinator.hooks.remove(handler)

    async def unmount_all(self) -> None:
        """Undo everything, the last one first."""
        while self.mounted:
            await self.unmount(self.mounted[-1])
