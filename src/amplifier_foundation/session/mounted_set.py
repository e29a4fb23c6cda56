"""The modules of a session, each with what it put where, so that single ones can be exchanged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.mounting import ModuleLoader, Mounted, Mounting

NAMED = ("providers", "tools")


@dataclass(frozen=True, slots=True)
class Placed:
    """One entry of the plan and what became of it."""

    kind: str
    entry: Mapping[str, Any]
    outcome: Mounted
    objects: Mapping[str, Mapping[str, Any]]  # mount point → name → module


class MountedSet(Mounting):
    """Mounts like any session does, and remembers."""

    def __init__(self, coordinator: SessionCoordinator, loader: ModuleLoader | None = None) -> None:
        super().__init__(coordinator, loader)
        self.placed: list[Placed] = []

    async def mount(self, kind: str, entry: Mapping[str, Any] | str) -> Mounted:
        """Mount one entry and note the tools and providers that came with it."""
        points = self._coordinator.mount_points
        before = {point: dict(points[point]) for point in NAMED}
        outcome = await super().mount(kind, entry)
        objects = {
            point: {
                name: module
                for name, module in points[point].items()
                if before[point].get(name) is not module
            }
            for point in NAMED
        }
        plan = {"module": entry} if isinstance(entry, str) else dict(entry)
        self.placed.append(Placed(kind, plan, outcome, objects))
        return outcome

    def forget_failed(self) -> None:
        """Drop the notes of attempts that were taken back."""
        known = {id(one.outcome) for one in self.placed}
        self.mounted = [one for one in self.mounted if id(one) in known]

    async def unmount(self, outcome: Mounted) -> None:
        """Undo one module and forget it."""
        await super().unmount(outcome)
        self.placed = [one for one in self.placed if one.outcome is not outcome]
