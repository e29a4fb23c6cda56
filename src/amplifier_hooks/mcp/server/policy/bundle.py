"""The bundle that applies here, as a person has trusted it, and its hooks."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Collection
from contextlib import AsyncExitStack
from pathlib import Path

from amplifier_core.errors import AmplifierError
from amplifier_core.mount_plan import ModuleEntry
from amplifier_hooks.agent.bundles import Bundle, load_bundle
from amplifier_hooks.agent.session.inspection.effective_hooks import EffectiveHooks, mount_hooks
from amplifier_hooks.agent.trust.material import Material, collect_material
from amplifier_hooks.agent.trust.store import TrustStore
from amplifier_hooks.machine.snapshot import normalize
from amplifier_hooks.mcp.server.failures import Refused
from amplifier_hooks.mcp.server.policy.knowledge import (
    ACT_WHEN_MOUNTED,
    KNOWN,
    UNKNOWN,
    Knowledge,
)
from amplifier_hooks.mcp.server.policy.own_modules import OwnModules

FRESH_SECONDS = 0.5
"""How long what was read of the folder is used again; an agent may ask many times in a row."""

Wanted = Callable[[ModuleEntry], bool]


class CurrentBundle:
    """Reads the bundle when it is wanted; keeps its hooks mounted until it has changed."""

    def __init__(
        self, folder: Path, file: Path | None = None, evaluated: Collection[str] = ()
    ) -> None:
        self.folder = folder
        self._file = file
        self._evaluated = frozenset(evaluated)
        self._read: tuple[float, Material] | None = None
        self._own = OwnModules()
        self._mounted: dict[str, tuple[str, AsyncExitStack, EffectiveHooks]] = {}
        self._lock = asyncio.Lock()

    async def read(self) -> Bundle:
        """The bundle, trusted or not: what it says, nothing that it runs."""
        return await asyncio.to_thread(load_bundle, self._file, project_dir=self.folder)

    async def load(self) -> Material:
        """The bundle with what it runs; Refused unless a person has trusted exactly that."""
        now = time.monotonic()
        if self._read is not None and now - self._read[0] < FRESH_SECONDS:
            return self._read[1]
        try:
            material = await asyncio.to_thread(self._collect)
        except (AmplifierError, OSError) as error:
            raise Refused(f"The bundle cannot be used, so no session starts: {error}") from error
        self._read, self._own = (now, material), OwnModules()
        return material

    def _collect(self) -> Material:
        bundle = load_bundle(self._file, project_dir=self.folder)
        material = collect_material(bundle, self.folder)
        if not TrustStore().is_trusted(material):
            raise Refused(
                f"Nobody has trusted {material.name or 'the bundle'} in {material.folder} as it is "
                "now, so no session starts with it. A person can, in a terminal: amplifier trust"
            )
        return material

    # Hooks

    async def mount_asked(self) -> tuple[Material, EffectiveHooks]:
        """The hooks that can be asked without any effect."""
        return await self._mount("asked", self.is_asked)

    async def mount_listed(self) -> tuple[Material, EffectiveHooks]:
        """The hooks that can be looked at without any effect."""
        return await self._mount("listed", self.is_listed)

    def is_asked(self, entry: ModuleEntry) -> bool:
        """Whether a module's hooks answer without any effect, or a person says that they do."""
        return self.know(entry).kind == "asked"

    def is_listed(self, entry: ModuleEntry) -> bool:
        """Whether mounting a module has no effect."""
        if self.is_asked(entry):
            return True
        return self.know(entry) is not UNKNOWN and entry.module not in ACT_WHEN_MOUNTED

    def know(self, entry: ModuleEntry) -> Knowledge:
        """What is known of a module; of one that only has the id of ours, nothing is."""
        if self._is_evaluated(entry):
            return Knowledge("asked", "whoever started this server says that it changes nothing")
        return KNOWN.get(entry.module, UNKNOWN) if self._own.include(entry) else UNKNOWN

    def _is_evaluated(self, entry: ModuleEntry) -> bool:
        if entry.module in self._evaluated:
            return True
        places = {str(normalize(self.folder / name)) for name in self._evaluated}
        return entry.source is not None and str(normalize(Path(entry.source))) in places

    def name_module(self, entry: ModuleEntry) -> str:
        """What a module is called in the bundle, with the file that it is in."""
        if entry.source is None:
            return entry.module
        return f"{entry.module} ({os.path.relpath(entry.source, self.folder)})"

    async def _mount(self, key: str, wanted: Wanted) -> tuple[Material, EffectiveHooks]:
        material = await self.load()
        async with self._lock:
            state = f"{material.bundle.digest} {material.digest} {material.rest}"
            if (kept := self._mounted.get(key)) is not None and kept[0] == state:
                return material, kept[2]
            await self._unmount(key)
            stack = AsyncExitStack()
            hooks = await stack.enter_async_context(mount_hooks(material, wanted))
            self._mounted[key] = (state, stack, hooks)
            return material, hooks

    async def _unmount(self, key: str) -> None:
        kept = self._mounted.pop(key, None)
        if kept is not None:
            await kept[1].aclose()

    async def close(self) -> None:
        """Unmount what is mounted."""
        async with self._lock:
            for key in list(self._mounted):
                await self._unmount(key)
