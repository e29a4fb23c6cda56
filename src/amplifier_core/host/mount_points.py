"""Where modules are mounted: one orchestrator, one context, named providers and tools."""

from __future__ import annotations

from typing import Any

SINGLE = ("orchestrator", "context", "module-source-resolver")
NAMED = ("providers", "tools")


class MountPoints:
    """A mutable dict of what is mounted, and the checks around it."""

    def __init__(self, hooks: Any) -> None:
        self.points: dict[str, Any] = {
            "orchestrator": None,
            "providers": {},
            "tools": {},
            "context": None,
            "hooks": hooks,
            "module-source-resolver": None,
        }

    def mount(self, point: str, module: Any, name: str | None = None) -> None:
        """Put a module in its place; a second one of the same name replaces the first."""
        self._check(point)
        if point == "hooks":
            raise ValueError(
                "Hooks should be registered with coordinator.hooks.register(event, handler), "
                "not mounted"
            )
        if point in SINGLE:
            self.points[point] = module
            return
        self.points[point][self._name(point, module, name)] = module

    def unmount(self, point: str, name: str | None = None) -> None:
        """Take a module away again; taking away what is not there changes nothing."""
        self._check(point)
        if point in SINGLE:
            self.points[point] = None
        elif point in NAMED:
            if name is None:
                have = ", ".join(sorted(self.points[point])) or "none"
                raise ValueError(f"Name required to unmount from '{point}'; have {have}")
            self.points[point].pop(name, None)
        else:
            raise ValueError(f"Cannot unmount '{point}'; unregister its hooks instead")

    def get(self, point: str, name: str | None = None) -> Any:
        """What is mounted: the module, the dict of all, or None."""
        self._check(point)
        if name is None or point not in NAMED:
            return self.points[point]
        return self.points[point].get(name)

    def _name(self, point: str, module: Any, name: str | None) -> str:
        found = name or getattr(module, "name", None)
        if not isinstance(found, str) or not found:
            raise ValueError(
                f"Name required to mount at '{point}': pass name= or give the module a name"
            )
        return found

    def _check(self, point: str) -> None:
        if point not in self.points:
            raise ValueError(f"Unknown mount point {point!r}; have {', '.join(self.points)}")
