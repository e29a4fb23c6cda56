"""Mounting: the plan of a session, what became of it, and back in reverse order."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.errors import ModuleError, ModuleLoadError
from amplifier_core.events import MODULE_LOAD_FAILED, MODULE_ON_SESSION_READY_FAILED
from amplifier_core.hooks import HookHandler
from amplifier_core.host import NAMED
from amplifier_core.interfaces import Host
from amplifier_core.loader import ModuleLoader
from amplifier_core.loader.module import pop_waiting
from amplifier_core.mount_plan import ModuleEntry, read_entry
from amplifier_core.payloads import ModuleLoadFailedData, ModuleOnSessionReadyFailedData
from amplifier_core.utils import PATIENCE, describe_error, resolve
from amplifier_core.utils.text import describe_cause


def resolve_provider(providers: Mapping[str, Any], orchestrator: Any = None) -> Any:
    """The provider that the loop was configured with, else the first one; None if there is none."""
    wanted = getattr(getattr(orchestrator, "config", None), "provider", None)
    if wanted:
        return providers.get(wanted)
    return next(iter(providers.values()), None)


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
        if self.failure is None:
            return None
        return str(self.failure)

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
            self._undo(outcome, before)
            outcome.failure = read_failure(outcome.id, error)
            await report_failure(self._coordinator, kind, outcome.entry, outcome.failure)
            if outcome.entry.required:
                self.mounted.remove(outcome)
                raise make_fatal(kind, outcome.failure) from error
            logger.warning("%s; it is left out", outcome.failure)
        finally:
            stop()
            self._coordinator.mounting = None
        return outcome

    def _named_objects(self) -> Objects:
        return {point: dict(self._coordinator.mount_points[point]) for point in NAMED}

    def _undo(self, outcome: Mounted, before: Objects) -> None:
        """Remove what a module that failed had already put in place."""
        for handler in outcome.handlers:
            self._coordinator.hooks.remove(handler)
        for point, objects in before.items():
            place = self._coordinator.mount_points[point]
            place.clear()
            place.update(objects)

    async def _mount(self, outcome: Mounted) -> None:
        entry = outcome.entry
        host = self._coordinator
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
        for module_id, on_ready in [*own, *pop_waiting(self.loader)]:
            self._coordinator.mounting = next((m for m in self.mounted if m.id == module_id), None)
            try:
                await resolve(on_ready(self._coordinator))
            except Exception as error:  # noqa: BLE001 - one module must not stop the session
                self.unready[module_id] = error
                await report_unready(self._coordinator, module_id, error)
            finally:
                self._coordinator.mounting = None

    async def unmount(self, outcome: Mounted) -> None:
        """Undo one module, once, whatever it raises and however long it would take."""
        undo = outcome.undo
        outcome.undo = None
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


async def call_application(
    capability: str, coordinator: Any, kind: str, entry: ModuleEntry, *more: Any
) -> None:
    """Call what the application offers for providers, if this is one."""
    offered = coordinator.get_capability(capability) if kind == "providers" else None
    if offered is not None:
        await resolve(offered(coordinator, entry.to_dict(), *more))


async def load_entry(
    loader: Any, coordinator: Any, kind: str, entry: ModuleEntry
) -> Callable[[Any], Any]:
    """Have the loader load a module; a provider's mount also gives it the name of its instance."""
    await call_application("provider.before_load", coordinator, kind, entry)
    mount: Callable[[Any], Any] = await loader.load(
        entry.module, dict(entry.config), source_hint=entry.source, coordinator=coordinator
    )
    if kind != "providers" or entry.instance_id is None:
        return mount

    async def mount_instance(coordinator: Any) -> Any:
        return await _mount_instance(mount, coordinator, entry.module, str(entry.instance_id))

    mount_instance.__dict__.update(getattr(mount, "__dict__", {}))
    return mount_instance


async def _mount_instance(
    mount: Callable[[Any], Any], coordinator: Any, module_id: str, instance_id: str
) -> Any:
    """Mount a provider and rename it; what stood under the module's own name is put back there."""
    before = dict(coordinator.get("providers"))
    undo = await resolve(mount(coordinator))
    after = coordinator.get("providers")
    fresh = [name for name, one in after.items() if before.get(name) is not one]
    default = module_id.removeprefix("provider-")
    for name in [default] if default in fresh else fresh[:1]:
        provider = after[name]
        if name in before:
            await coordinator.mount("providers", before[name], name=name)
        else:
            await coordinator.unmount("providers", name)
        await coordinator.mount("providers", provider, name=instance_id)
    return undo


_NEEDED = {"orchestrator": "orchestrator", "context": "context manager"}


def read_failure(module_id: str, error: Exception | SystemExit) -> ModuleError:
    """What a module raised, in a sentence that names it."""
    failure = error
    if not isinstance(failure, ModuleError):
        message = f"Module '{module_id}' cannot be mounted: {describe_error(error)}"
        failure = ModuleLoadError(message)
    failure.module_id = module_id
    return failure


def make_fatal(kind: str, failure: ModuleError) -> ModuleLoadError:
    """The error that ends the start of a session: it cannot do without the module."""
    needed = _NEEDED.get(kind)
    message = f"Cannot initialize without {needed}: {failure}" if needed else str(failure)
    fatal = ModuleLoadError(message, module_id=failure.module_id, reason_code=failure.reason_code)
    fatal.entry_name = failure.entry_name
    fatal.option = failure.option
    return fatal


async def report_failure(host: Host, kind: str, entry: ModuleEntry, failure: ModuleError) -> None:
    """Tell of a module that is left out; the application may raise to stop the start."""
    failure.entry_name = entry.name or entry.instance_id
    await host.notify(MODULE_LOAD_FAILED, _describe(kind, entry, failure))
    await call_application("provider.load_failure", host, kind, entry, failure)


async def report_unready(host: Host, module_id: str, error: Exception) -> None:
    """Tell of a module whose `on_session_ready` failed."""
    why = describe_error(error)
    logger.warning("Module '%s': on_session_ready failed: %s", module_id, why)
    data = ModuleOnSessionReadyFailedData(module_id=module_id, error=why)
    await host.notify(MODULE_ON_SESSION_READY_FAILED, data)
    await host.show(f"on_session_ready failed: {why}", "error", f"module:{module_id}")


def _describe(kind: str, entry: ModuleEntry, failure: ModuleError) -> ModuleLoadFailedData:
    data = ModuleLoadFailedData(
        module_type=kind.removesuffix("s"),
        module_id=entry.module,
        error=str(failure),
        reason_code=failure.reason_code,
    )
    if entry.instance_id is not None:
        data["instance_id"] = entry.instance_id
    return data
