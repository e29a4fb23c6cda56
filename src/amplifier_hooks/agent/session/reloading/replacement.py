"""Replacing the modules of a session by those of another plan: all of them, or none."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.host.mount_points import NAMED
from amplifier_core.mount_plan import ModuleEntry, MountPlan
from amplifier_core.mounting import Mounted, Mounting
from amplifier_core.utils.conversation import add_message

Digest = Callable[[ModuleEntry], str]

_SINGLE = ("context", "orchestrator")


@dataclass(slots=True)
class Slot:
    """One entry of the new plan, and the module that fills it."""

    kind: str
    entry: ModuleEntry
    digest: str
    mounted: Mounted | None = None


@dataclass(frozen=True, slots=True)
class Replacement:
    """What another plan changes: entries to mount, and modules that it does not have any more."""

    slots: list[Slot]
    fresh: list[Slot]
    gone: list[Mounted]

    @property
    def mounted(self) -> list[str]:
        """The ids of the modules to mount."""
        return [slot.entry.module for slot in self.fresh]

    @property
    def removed(self) -> list[str]:
        """The ids of the modules that go, and are not only mounted anew."""
        return [one.id for one in self.gone if one.id not in self.mounted]


class ModuleReplacer:
    """Replaces modules of one session. Those whose entry and files are the same stay.

    `digest` is that of the files that an entry runs.
    """

    def __init__(self, coordinator: SessionCoordinator, mounting: Mounting, digest: Digest) -> None:
        self._coordinator = coordinator
        self._mounting = mounting
        self._digests = {one: digest(one.entry) for one in mounting.mounted}

    def compare(self, plan: MountPlan, digest: Digest) -> Replacement:
        """Match the entries of a plan with the modules that are mounted."""
        left = list(self._mounting.mounted)
        slots = [Slot(kind, entry, digest(entry)) for kind, entry in plan.entries()]
        for slot in slots:
            slot.mounted = next((one for one in left if self._fills(one, slot)), None)
            if slot.mounted is not None:
                left.remove(slot.mounted)
        return Replacement(slots, [slot for slot in slots if slot.mounted is None], left)

    async def apply(self, replacement: Replacement) -> None:
        """Mount what is new beside the old, then swap; if one fails to mount, nothing changes."""
        old_context = self._coordinator.context
        await self._mount(replacement.fresh)
        await self._swap(replacement)
        if self._coordinator.context is not old_context:
            await _move_messages(old_context, self._coordinator.context)
        filled = [(slot.mounted, slot.digest) for slot in replacement.slots]
        self._digests = {mounted: digest for mounted, digest in filled if mounted is not None}
        fresh = {slot.mounted for slot in replacement.fresh}
        await self._mounting.ready(one for one in self._mounting.mounted if one in fresh)

    def _fills(self, mounted: Mounted, slot: Slot) -> bool:
        if _identify(mounted.kind, mounted.entry) != _identify(slot.kind, slot.entry):
            return False
        return self._digests.get(mounted) == slot.digest

    async def _mount(self, fresh: list[Slot]) -> None:
        points = self._coordinator.mount_points
        before = {key: dict(points[key]) for key in NAMED} | {key: points[key] for key in _SINGLE}
        known = set(self._mounting.mounted)
        try:
            for slot in fresh:
                # At the start a module that fails is left out; in an edit it is a mistake.
                entry = slot.entry.model_copy(update={"required": True})
                slot.mounted = await self._mounting.mount(slot.kind, entry)
        except BaseException:
            for mounted in reversed([one for one in self._mounting.mounted if one not in known]):
                await self._mounting.unmount(mounted)
            points.update(before)
            raise

    async def _swap(self, replacement: Replacement) -> None:
        points = self._coordinator.mount_points
        final: dict[str, Any] = {key: points[key] for key in _SINGLE}
        for point in NAMED:
            final[point] = _collect_objects(replacement, point, points[point])
        # An old module's clean-up takes away what it mounted by name: let it do so on the side.
        points.update({point: _list_later(replacement, point, points[point]) for point in NAMED})
        for mounted in reversed(replacement.gone):
            await self._mounting.unmount(mounted)
        points.update({**final, **{point: {**points[point], **final[point]} for point in NAMED}})


def _identify(kind: str, entry: ModuleEntry) -> str:
    """What must be the same for a mounted module to stay; as JSON, in which 1 is not true."""
    written = entry.model_dump(exclude={"required"})
    return json.dumps([kind, written], sort_keys=True, default=str)


def _collect_objects(
    replacement: Replacement, point: str, now: Mapping[str, Any]
) -> dict[str, Any]:
    """What the modules of a plan have mounted at a point, in its order.

    One that stays may have replaced or taken away some of it since, as its server wanted.
    """
    moving = _find_moving(replacement)
    lent = {id(one) for module in moving for one in module.objects.get(point, {}).values()}
    found: dict[str, Any] = {}
    for module in (slot.mounted for slot in replacement.slots if slot.mounted is not None):
        for name, one in module.objects.get(point, {}).items():
            current = now.get(name)
            if module in moving or id(current) in lent:
                found[name] = one
            elif current is not None:
                found[name] = current
    return found


def _list_later(replacement: Replacement, point: str, now: Mapping[str, Any]) -> dict[str, Any]:
    """What was mounted at a point after its module: by that, or by the application."""
    modules = [*_find_moving(replacement), *(one.mounted for one in replacement.slots)]
    known = {name for one in modules if one is not None for name in one.objects.get(point, {})}
    return {name: one for name, one in now.items() if name not in known}


def _find_moving(replacement: Replacement) -> list[Mounted]:
    """The modules that come, and those that go."""
    fresh = [slot.mounted for slot in replacement.fresh if slot.mounted is not None]
    return [*fresh, *replacement.gone]


async def _move_messages(old: Any, new: Any) -> None:
    found = old.get_messages()
    for message in await found if inspect.isawaitable(found) else found:
        await add_message(new, message)
