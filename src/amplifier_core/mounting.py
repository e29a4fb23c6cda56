"""Mounting: the plan of a session, what became of it, and back in reverse order."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.errors import ModuleError
from amplifier_core.hooks import HookHandler
from amplifier_core.host import NAMED
from amplifier_core.loader import ModuleLoader
from amplifier_core.loader import failure as failures
from amplifier_core.loader.provider_entry import load_entry
from amplifier_core.loader.session_ready import take_waiting
from amplifier_core.mount_plan import ModuleEntry, read_entry
from amplifier_core.utils import PATIENCE, resolve
from amplifier_core.utils.text import describe_cause


def resolve_provider(providers: Mapping[str, Any], orchestrator: Any = None) -> Any:
    """The provider that the loop was configured with, else the first one; None if there is none."""
    wanted = getattr(getattr(orchestrator, "config", None), "provider", None)
    return providers.get(wanted) if wanted else next(iter(providers.values()), None)


logger = logging.getLogger(__name__)

Objects = dict[str, dict[str, Any]]  # by mount point and name


@dataclass(slots=True, eq=False)
class Mounted:
    """What became of one entry of the plan."""

    kind: str
    entry: ModuleEntry
    origin: str = ""
    failure: ModuleError | None = None
    handlers: list[HookHandler] = field(default_factory=list)
    objects: Objects = field(default_factory=dict)
    undo: Callable[[], Any] | None = None
    on_ready: Callable[[Any], Any] | None = None

    @property
    def id(self) -> str:
        return self.entry.module

    @property
    def shadows(self) -> bool:
        """Whether what its hooks answer is recorded and has no effect."""
        return self.kind == "hooks" and self.entry.mode == "shadow"

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

    def __init__(self, coordinator: SessionCoordinator, loader: Any = None) -> None:
        self._coordinator = coordinator
        self.loader = loader or ModuleLoader(coordinator)
        self.mounted: list[Mounted] = []
        self.unready: dict[str, Exception] = {}

    async def mount(self, kind: str, entry: ModuleEntry | Mapping[str, Any] | str) -> Mounted:
        """Mount one entry of a plan; a failure is noted, and raised if the entry is required."""
        outcome = Mounted(kind, read_entry(kind, entry))
        self.mounted.append(outcome)
        before = self._named_objects()
        stop = self._coordinator.hooks.listen(outcome.notice)
        self._coordinator.mounting = outcome
        try:
            await self._mount(outcome)
            outcome.objects = _added(before, self._named_objects())
        except (Exception, SystemExit) as error:
            self._take_back(outcome, before)
            outcome.failure = failures.read_failure(outcome.id, error)
            await failures.report_failure(self._coordinator, kind, outcome.entry, outcome.failure)
            if outcome.entry.required:
                self.mounted.remove(outcome)
                raise failures.make_fatal(kind, outcome.failure) from error
            logger.warning("%s; it is left out", outcome.failure)
        finally:
            stop()
            self._coordinator.mounting = None
        return outcome

    def _named_objects(self) -> Objects:
        return {point: dict(self._coordinator.mount_points[point]) for point in NAMED}

    def _take_back(self, outcome: Mounted, before: Objects) -> None:
        """Remove what a module that failed had already put in place."""
        for handler in outcome.handlers:
            self._coordinator.hooks.remove(handler)
        for point, objects in before.items():
            place = self._coordinator.mount_points[point]
            place.clear()
            place.update(objects)

    async def _mount(self, outcome: Mounted) -> None:
        entry, host = outcome.entry, self._coordinator
        mount = await load_entry(self.loader, host, outcome.kind, entry)
        outcome.origin = getattr(mount, "__module_origin__", "")
        undo = await resolve(mount(host))
        outcome.undo = undo if callable(undo) else None
        outcome.on_ready = getattr(mount, "__on_session_ready__", (entry.module, None))[1]
        wanted = entry.priority
        for handler in list(outcome.handlers) if entry.locked or wanted is not None else ():
            handler.locked = entry.locked
            host.hooks.move(handler, handler.priority if wanted is None else wanted)

    async def ready(self, mounted: Iterable[Mounted] | None = None) -> None:
        """Everything is mounted: tell the modules that want to know, all of them or these."""
        told = self.mounted if mounted is None else mounted
        own = [(one.id, one.on_ready) for one in told if one.on_ready is not None]
        for module_id, on_ready in [*own, *take_waiting(self.loader)]:
            self._coordinator.mounting = next((m for m in self.mounted if m.id == module_id), None)
            try:
                await resolve(on_ready(self._coordinator))
            except Exception as error:  # noqa: BLE001 - one module must not stop the session
                self.unready[module_id] = error
                await failures.report_unready(self._coordinator, module_id, error)
            finally:
                self._coordinator.mounting = None

    async def unmount(self, outcome: Mounted) -> None:
        """Undo one module, once, whatever it raises and however long it would take."""
        undo, outcome.undo = outcome.undo, None
        self.mounted = [one for one in self.mounted if one is not outcome]
        try:
            if undo is not None:
                await resolve(undo(), PATIENCE)
        except Exception as error:
            logger.exception("The clean-up of module '%s' failed", outcome.id)
            cause = f"Its clean-up failed: {describe_cause(error)}"
            await self._coordinator.show(cause, "error", f"module:{outcome.id}")
        for handler in outcome.handlers:
            self._coordinator.hooks.remove(handler)
        # Many modules undo nothing; what they mounted must be gone all the same.
        for point, objects in outcome.objects.items():
            place = self._coordinator.mount_points[point]
            for name in [one for one, kept in objects.items() if place.get(one) is kept]:
                del place[name]

    async def unmount_all(self) -> None:
        """Undo everything, the last one first."""
        while self.mounted:
            await self.unmount(self.mounted[-1])


def _added(before: Objects, after: Objects) -> Objects:
    return {
        point: {name: one for name, one in objects.items() if before[point].get(name) is not one}
        for point, objects in after.items()
    }
