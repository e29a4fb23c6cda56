"""A module that was found: what mounts it, and where it came from."""

from __future__ import annotations

import inspect
import logging
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from types import ModuleType
from typing import Any

from amplifier_core.errors import ModuleLoadError, ModuleValidationError
from amplifier_core.events import ALL_EVENTS
from amplifier_core.interfaces import Host
from amplifier_core.utils import resolve
from amplifier_core.utils.text import differs_by_one

logger = logging.getLogger(__name__)

Ready = tuple[str, Callable[[Any], Any]]
"""The id of a module, and its function."""


def find_on_session_ready(module_id: str, homes: Iterable[Any]) -> Callable[[Any], Any] | None:
    """The function of a module, in the first of these places that has one; it must be async."""
    found = next(filter(None, (getattr(one, "on_session_ready", None) for one in homes)), None)
    if found is None or inspect.iscoroutinefunction(found):
        return found
    message = "Module '%s': on_session_ready is not async, so it is not called"
    logger.warning(message, module_id)
    return None


def pop_waiting(loader: Any) -> list[Ready]:
    """What others put into a loader's queue, which is empty then; a loader may have none."""
    queue: Any = getattr(loader, "get_on_session_ready_queue", list)()
    if not isinstance(queue, list) or not queue:
        return []
    loader.clear_on_session_ready_queue()
    return queue


Marked = tuple[str, Callable[..., Any], str, dict[str, Any]]
"""A function's name, the function, the event it hears, and the options of its registration."""


def mount_functions(module_id: str, module: ModuleType) -> Callable[..., Any] | None:
    """The `mount` of a file that has none but has such functions."""
    found = _find_functions(module)
    if not found:
        return None
    file = _find_file_name(module, module_id)

    async def mount(coordinator: Host, config: dict[str, Any]) -> Callable[[], None]:
        if config:
            message = f"Module '{module_id}' takes no config, got {', '.join(sorted(config))}"
            raise ModuleLoadError(message, module_id=module_id)
        undo = [
            coordinator.hooks.register(event, handler, **{"name": f"{file}.{name}", **settings})
            for name, handler, event, settings in found
        ]

        def unmount() -> None:
            for one in undo:
                one()

        return unmount

    return mount


def _find_file_name(module: ModuleType, module_id: str) -> str:
    """The name of a module's file without its ending, or of the folder that it stands for."""
    file = PurePath(module.__file__ or module_id)
    if file.name == "__init__.py":
        return file.parent.name
    return file.name.removesuffix(".py")


def _find_functions(module: ModuleType) -> list[Marked]:
    by_name = {"on_" + event.replace(":", "_").replace("-", "_"): event for event in ALL_EVENTS}
    found: list[Marked] = []
    for name, value in vars(module).items():
        settings = getattr(value, "__amplifier_hook__", None)
        if settings is not None:
            found.extend((name, value, event, settings["options"]) for event in settings["events"])
        elif name in by_name and inspect.isfunction(value):
            found.append((name, value, by_name[name], {}))
        elif name.startswith("on_") and inspect.isfunction(value):
            _refuse_slip(name, by_name)
    return found


def _refuse_slip(name: str, known: Iterable[str]) -> None:
    """A function that nearly has the name of an event would never be called, guard or not."""
    for right in known:
        if differs_by_one(name, right):
            raise ModuleLoadError(f"There is no event for '{name}'; did you mean '{right}'?")


Mount = Callable[[Any, dict[str, Any]], Any]


@dataclass(frozen=True, slots=True)
class Module:
    """What an id or a path stands for."""

    id: str
    mount: Mount
    origin: str
    on_session_ready: Callable[[Any], Any] | None = None
    remark: str = ""
    """What the person should know of it."""

    def bind(self, config: Mapping[str, Any] | None) -> Callable[[Any], Any]:
        """An async `mount(coordinator)` with the options in it.

        It has the attribute `__module_origin__`, and `__on_session_ready__`, the id and the
        function, if the module has one.
        """
        options = dict(config or {})

        async def mount(coordinator: Any) -> Any:
            return await resolve(self.mount(coordinator, dict(options)))

        mount.__dict__["__module_origin__"] = self.origin
        if self.on_session_ready is not None:
            mount.__dict__["__on_session_ready__"] = (self.id, self.on_session_ready)
        return mount


def read_module(module_id: str, found: Any, origin: str, home: str | None = None) -> Module:
    """The module in an imported file or package, or of an entry point's function.

    `home` is the name of the Python module that an entry point names, which may not be the one
    that its function is defined in.
    """
    if isinstance(found, ModuleType):
        mount = getattr(found, "mount", None) or mount_functions(module_id, found)
        homes: list[Any] = [found]
    else:
        mount = found
        homes = [sys.modules.get(str(name)) for name in (home, getattr(found, "__module__", None))]
    if not callable(mount):
        missing = "has no mount(coordinator, config) and no function on_<event>"
        message = f"Module '{module_id}' ({origin}) {missing}"
        raise ModuleValidationError(message, module_id=module_id)
    return Module(module_id, mount, origin, find_on_session_ready(module_id, homes))
