"""Plain files of hooks: functions marked with `@hook`, or named `on_<event>`.

A hook without a name of its own is called `file.function`: many files have an `on_tool_pre`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from pathlib import PurePath
from types import ModuleType
from typing import Any

from amplifier_core.errors import ModuleLoadError
from amplifier_core.events import ALL_EVENTS
from amplifier_core.interfaces import Host
from amplifier_core.utils.text import differs_by_one

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
    return file.parent.name if file.name == "__init__.py" else file.name.removesuffix(".py")


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
