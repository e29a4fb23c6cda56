"""The session as modules see it: mount points, capabilities, contributions, clean-ups."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, cast

from amplifier_core.interfaces import ContextManager, Conversation
from amplifier_core.models import Level
from amplifier_core.utils import (
    PATIENCE,
    CancelledItself,
    describe_error,
    is_being_cancelled,
    resolve,
    run_each,
)
from amplifier_core.utils.text import describe_cause

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


logger = logging.getLogger(__name__)

Show = Callable[[str, Level, str], Awaitable[None]]


class Contributions:
    """Who contributes to which channel, in the order they registered."""

    def __init__(self) -> None:
        self.channels: dict[str, list[dict[str, Any]]] = {}
        self._told: set[str] = set()

    def register(self, channel: str, name: str, callback: Callable[[], Any]) -> None:
        """Add a contributor; its name appears when it fails."""
        if not isinstance(channel, str) or not channel:
            raise ValueError(f"A channel needs a name, got {channel!r}")
        if not callable(callback):
            raise TypeError(f"A contributor must be callable, got {callback!r}")
        self.channels.setdefault(channel, []).append({"name": name, "callback": callback})

    async def collect(self, channel: str, show: Show) -> list[Any]:
        """What the contributors of a channel contribute now; one that fails or hangs is skipped.

        One that is cancelled by itself ends the collection with what there is so far. Each
        failure is logged, and shown the first time.
        """
        found = []
        for entry in list(self.channels.get(channel, ())):
            try:
                value = await resolve(entry["callback"](), PATIENCE)
            except (asyncio.CancelledError, CancelledItself):
                if is_being_cancelled():
                    raise
                break
            except Exception as error:  # noqa: BLE001 - one contributor must not silence the others
                cause = describe_error(error)
                failure = f"Contributor '{entry['name']}' of channel '{channel}' failed: {cause}"
                logger.warning("%s", failure)
                if failure not in self._told:
                    self._told.add(failure)
                    await show(failure, "error", "session")
                continue
            if value is not None:
                found.append(value)
        return found


class ModuleHost:
    """Keeps what modules mount, offer, contribute and want undone."""

    def __init__(self, hooks: Any, context: Conversation | None) -> None:
        self.session_state: dict[str, Any] = {}
        self._mounts = MountPoints(hooks)
        self.mount_points = self._mounts.points
        self.mount_points["context"] = context
        self._capabilities: dict[str, Any] = {}
        self._contributions = Contributions()
        self._cleanups: list[Callable[[], Any]] = []

    @property
    def context(self) -> ContextManager | None:
        return cast("ContextManager | None", self.mount_points["context"])

    @context.setter
    def context(self, context: Conversation | None) -> None:
        self.mount_points["context"] = context

    async def mount(self, mount_point: str, module: Any, name: str | None = None) -> None:
        """Put a module in its place."""
        self._mounts.mount(mount_point, module, name)

    async def unmount(self, mount_point: str, name: str | None = None) -> None:
        """Take a module away again."""
        self._mounts.unmount(mount_point, name)

    def get(self, mount_point: str, name: str | None = None) -> Any:
        """What is mounted there."""
        return self._mounts.get(mount_point, name)

    def register_capability(self, name: str, value: Any) -> None:
        """Offer something to other modules by name; `observability.events` declares events."""
        self._capabilities[name] = value
        if name == "observability.events" and isinstance(value, list | tuple):
            self.mount_points["hooks"].declare(*(one for one in value if isinstance(one, str)))

    def get_capability(self, name: str) -> Any:
        """What was offered under that name, or None."""
        return self._capabilities.get(name)

    def register_contributor(
        self, channel: str, name: Any, callback: Callable[[], Any] | None = None
    ) -> None:
        """`(channel, callback)` or `(channel, name, callback)`."""
        if callback is None:
            name, callback = getattr(name, "__name__", type(name).__name__), name
        self._contributions.register(channel, name, callback)

    async def collect_contributions(self: Any, channel: str) -> list[Any]:
        """What all contributors of a channel have to say."""
        found: list[Any] = await self._contributions.collect(channel, self.show)
        return found

    @property
    def channels(self) -> dict[str, list[dict[str, Any]]]:
        return self._contributions.channels

    def register_cleanup(self, cleanup: Callable[[], Any]) -> None:
        """Run when the session ends, the last one registered first."""
        if callable(cleanup):
            self._cleanups.append(cleanup)

    async def run_cleanups(self) -> list[str]:
        """Undo everything in reverse order; returns what failed, which stops none of the others.

        What is more than an error, such as KeyboardInterrupt, is raised again after the last.
        """
        failures: list[str] = []

        def report(error: Exception) -> None:
            logger.error("A clean-up failed", exc_info=error)
            failures.append(describe_cause(error))

        # The last first, those included that clean-ups register.
        await run_each(iter(self._pop_cleanup, None), report)
        return failures

    def _pop_cleanup(self) -> Callable[[], Any] | None:
        if self._cleanups:
            return self._cleanups.pop()
        return None
