"""Plain files of hooks: functions marked with `@hook`, or named `on_<event>`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

from amplifier_core.errors import ModuleLoadError
from amplifier_core.events import ALL_EVENTS
from amplifier_core.interfaces import Host

Marked = tuple[Callable[..., Any], str, dict[str, Any]]
"""A function, the event it hears, and the options of its registration."""


def mount_functions(module_id: str, module: ModuleType) -> Callable[..., Any] | None:
    """The `mount` of a file that has none but has such functions."""
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


def _find_functions(module: ModuleType) -> list[Marked]:
    by_name = {"on_" + event.replace(":", "_").replace("-", "_"): event for event in ALL_EVENTS}
    found: list[Marked] = []
    for name, value in vars(module).items():
        settings = getattr(value, "__amplifier_hook__", None)
        if settings is not None:
            found.extend((value, event, settings["options"]) for event in settings["events"])
        elif name in by_name and inspect.isfunction(value):
            found.append((value, by_name[name], {}))
    return found
