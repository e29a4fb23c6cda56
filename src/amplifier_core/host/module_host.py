"""The face that mounted modules see, as far as no hook is asked for it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, cast

from amplifier_core.host.contributions import Contributions
from amplifier_core.host.mount_points import MountPoints
from amplifier_core.interfaces import ContextManager, Conversation
from amplifier_core.utils import run_each
from amplifier_core.utils.describe import describe_cause

logger = logging.getLogger(__name__)


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
        await run_each(iter(self._take_cleanup, None), report)
        return failures

    def _take_cleanup(self) -> Callable[[], Any] | None:
        return self._cleanups.pop() if self._cleanups else None
