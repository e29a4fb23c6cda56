"""The book of what is mounted: which entry put what where, and how it is undone."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.errors import ModuleError, ModuleLoadError
from amplifier_core.hooks import HookHandler
from amplifier_core.host.mount_points import NAMED
from amplifier_core.loader import ModuleLoader
from amplifier_core.mount_plan import ModuleEntry, read_entry
from amplifier_core.utils import describe_error, resolve

logger = logging.getLogger(__name__)

PATIENCE = 10.0
"""Seconds that the clean-up of one module may take."""


@dataclass(slots=True, eq=False)
class Mounted:
    """What became of one entry of the plan."""

    kind: str
    entry: ModuleEntry
    origin: str = ""
    failure: ModuleError | None = None
    handlers: list[HookHandler] = field(default_factory=list)
    objects: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What it mounted by name: mount point → name → object."""
    undo: Callable[[], Any] | None = None
    on_ready: Callable[[Any], Any] | None = None

    @property
    def id(self) -> str:
        return self.entry.module

    @property
    def error(self) -> str | None:
        """Why it was left out, in a sentence."""
        return None if self.failure is None else str(self.failure)

    def notice(self, change: str, handler: HookHandler) -> None:
        """Note a registration that was made while this module was being mounted."""
        if change == "registered" and handler not in self.handlers:
            self.handlers.append(handler)


class Mounting:
    """The modules of one session: mounts them, says what went wrong, undoes them in reverse."""

    def __init__(self, coordinator: SessionCoordinator, loader: ModuleLoader | None = None) -> None:
        self._coordinator = coordinator
        self.loader = loader or ModuleLoader()
        self.mounted: list[Mounted] = []

    async def mount(self, kind: str, entry: ModuleEntry | Mapping[str, Any] | str) -> Mounted:
        """Mount one entry of a plan; a failure is noted, and raised if the entry is required."""
        outcome = Mounted(kind, read_entry(kind, entry))
        self.mounted.append(outcome)
        before = self._named_objects()
        stop = self._coordinator.hooks.listen(outcome.notice)
        try:
            await self._mount(outcome)
            outcome.objects = _added(before, self._named_objects())
        except Exception as error:
            outcome.failure = _failure(outcome.id, error)
            self._take_back(outcome, before)
            if outcome.entry.required:
                self.mounted.remove(outcome)
                raise ModuleLoadError(str(outcome.failure), module_id=outcome.id) from error
            logger.warning("%s; it is left out", outcome.failure)
        finally:
            stop()
        return outcome

    def _named_objects(self) -> dict[str, dict[str, Any]]:
        points = self._coordinator.mount_points
        return {point: dict(points[point]) for point in NAMED}

    def _take_back(self, outcome: Mounted, before: dict[str, dict[str, Any]]) -> None:
        """Remove what a module that failed had already put in place."""
        for handler in outcome.handlers:
            self._coordinator.hooks.remove(handler)
        for point, objects in before.items():
            place = self._coordinator.mount_points[point]
            place.clear()
            place.update(objects)

    async def _mount(self, outcome: Mounted) -> None:
        entry = outcome.entry
        module = self.loader.find(entry.module, entry.source)
        outcome.origin, outcome.on_ready = module.origin, module.on_session_ready
        undo = await resolve(module.mount(self._coordinator, dict(entry.config)))
        outcome.undo = undo if callable(undo) else None
        if entry.priority is not None:
            for handler in list(outcome.handlers):
                self._coordinator.hooks.move(handler, entry.priority)

    async def ready(self, mounted: Iterable[Mounted] | None = None) -> None:
        """Everything is mounted: tell the modules that want to know, all of them or these."""
        for outcome in self.mounted if mounted is None else mounted:
            if outcome.on_ready is None or outcome.failure is not None:
                continue
            try:
                await resolve(outcome.on_ready(self._coordinator))
            except Exception as error:  # noqa: BLE001 - one module must not stop the session
                message = "Module '%s': on_session_ready failed: %s"
                logger.warning(message, outcome.id, describe_error(error))

    async def unmount(self, outcome: Mounted) -> None:
        """Undo one module, once, whatever it raises and however long it would take."""
        undo, outcome.undo = outcome.undo, None
        self.mounted = [one for one in self.mounted if one is not outcome]
        try:
            if undo is not None:
                await resolve(undo(), PATIENCE)
        except Exception:
            logger.exception("The clean-up of module '%s' failed", outcome.id)
        for handler in outcome.handlers:
            self._coordinator.hooks.remove(handler)

    async def unmount_all(self) -> None:
        """Undo everything, the last one first."""
        while self.mounted:
            await self.unmount(self.mounted[-1])


def _failure(module_id: str, error: Exception) -> ModuleError:
    if isinstance(error, ModuleError):
        return error
    message = f"Module '{module_id}' cannot be mounted: {describe_error(error)}"
    return ModuleLoadError(message, module_id=module_id)


def _added(
    before: dict[str, dict[str, Any]], after: dict[str, dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    return {
        point: {name: one for name, one in objects.items() if before[point].get(name) is not one}
        for point, objects in after.items()
    }
