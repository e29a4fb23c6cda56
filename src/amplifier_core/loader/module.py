"""A module that was found: what mounts it, and where it came from."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from amplifier_core.errors import ModuleValidationError
from amplifier_core.loader.hook_functions import mount_functions
from amplifier_core.loader.session_ready import find_on_session_ready
from amplifier_core.utils import resolve

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
