"""The bundle that applies here, as a person has trusted it, and which of its hooks can be asked."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Collection
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Literal

from amplifier_core.errors import AmplifierError
from amplifier_core.loader import DISTRIBUTION, SEARCH_PATHS, ModuleLoader
from amplifier_core.loader.importing import is_importable, package_name
from amplifier_core.mount_plan import ModuleEntry
from amplifier_hooks.agent.bundles import Bundle, load_bundle
from amplifier_hooks.agent.session.inspection.effective_hooks import EffectiveHooks, mount_hooks
from amplifier_hooks.agent.trust.material import Material, collect_material
from amplifier_hooks.agent.trust.store import TrustStore
from amplifier_hooks.machine.files import normalize
from amplifier_hooks.mcp.server.tool import Refused


class BundledModules:
    """Looks once; every other module of the same id comes before one of ours."""

    def __init__(self) -> None:
        self._seen: dict[str, bool] = {}

    def contains(self, entry: ModuleEntry) -> bool:
        """Whether an entry names a module of ours, and none comes before it."""
        if entry.source is not None:
            return False
        if entry.module not in self._seen:
            self._seen[entry.module] = self._is_ours(entry.module)
        return self._seen[entry.module]

    @cached_property
    def _known(self) -> dict[str, EntryPoint]:
        return ModuleLoader().known()

    def _is_ours(self, module: str) -> bool:
        point = self._known.get(module)
        owner = getattr(point.dist, "name", None) if point is not None else None
        return owner == DISTRIBUTION and not _has_other(module)


def _has_other(module: str) -> bool:
    name = package_name(module)
    roots = filter(None, os.environ.get(SEARCH_PATHS, "").split(":"))
    return (name.isidentifier() and is_importable(name)) or any(
        (Path(root).expanduser() / f"amplifier-module-{module}").exists() for root in roots
    )


Kind = Literal["asked", "depends", "observes", "runs code"]

_NOT_CALLED = {
    "asked": "",
    "depends": "; it was not called, so nothing was counted",
    "observes": "; it stops no call, and was not called",
    "runs code": "; it was not called",
}


@dataclass(frozen=True, slots=True)
class ModuleEffect:
    """How a module's hooks are treated, and what they do."""

    kind: Kind
    does: str

    @property
    def why(self) -> str:
        """Why they were not asked."""
        return self.does + _NOT_CALLED[self.kind]


UNKNOWN_EFFECT = ModuleEffect("runs code", "its code may do anything when it is called")

_ASKED = {
    "hooks-redaction": "keeps secrets out of what tools write and models read",
    "hooks-production-guard": "asks before something is written to a guarded path",
    "hooks-secret-guard": "keeps files with secrets and stores of credentials unread",
    "hooks-command-guard": "denies or asks about dangerous shell commands",
    "hooks-rules": "applies the rules of the bundle",
    "hooks-injection-guard": "looks for instructions in what servers say and tools return",
}
"""Their answer follows from the call and the files alone, and giving it changes nothing."""
_DEPENDS = {
    "hooks-rate-limit": "denies or asks when a limit of calls is reached in the session",
    "hooks-progress-monitor": "asks or denies when the session repeats itself",
    "hooks-model-judge": "lets a model answer some of the questions that other hooks ask",
    "hooks-provenance": "asks about values that only foreign texts of the session vouch for",
    "hooks-cost-control": "denies or asks before a request to the model, when a limit is reached",
}
_OBSERVES = {
    "hooks-backup": "copies files before they are overwritten",
    "hooks-datetime": "tells the agent the time with a prompt",
    "hooks-git-status": "tells the agent the state of the repository at the start",
    "hooks-linter-feedback": "runs a linter after an edit",
    "hooks-logging": "writes events to a log",
    "hooks-notify": "sends notifications",
    "hooks-otel": "sends traces and metrics",
    "hooks-session-naming": "names the session",
    "hooks-test-runner": "runs tests after an edit",
    "hooks-todo-display": "shows the list of tasks",
}
EFFECTS: dict[str, ModuleEffect] = {
    **{name: ModuleEffect("asked", does) for name, does in _ASKED.items()},
    **{name: ModuleEffect("depends", does) for name, does in _DEPENDS.items()},
    **{name: ModuleEffect("observes", does) for name, does in _OBSERVES.items()},
    "hooks-shell": ModuleEffect("runs code", "it runs commands"),
}
ACT_WHEN_MOUNTED = frozenset({"hooks-shell", "hooks-otel", "hooks-logging"})
"""One makes a folder for its scripts, one opens a connection, one its file."""


FRESH_SECONDS = 0.5
"""How long what was read of the folder is used again; an agent may ask many times in a row."""

EntryFilter = Callable[[ModuleEntry], bool]


class CurrentBundle:
    """Reads the bundle when it is wanted; keeps its hooks mounted until it has changed."""

    def __init__(
        self, folder: Path, file: Path | None = None, evaluated: Collection[str] = ()
    ) -> None:
        self.folder = folder
        self._file = file
        self._evaluated = frozenset(evaluated)
        self._read: tuple[float, Material] | None = None
        self._bundled = BundledModules()
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
        self._read = (now, material)
        self._bundled = BundledModules()
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
        return self.find_effect(entry).kind == "asked"

    def is_listed(self, entry: ModuleEntry) -> bool:
        """Whether mounting a module has no effect."""
        if self.is_asked(entry):
            return True
        return (
            self.find_effect(entry) is not UNKNOWN_EFFECT and entry.module not in ACT_WHEN_MOUNTED
        )

    def find_effect(self, entry: ModuleEntry) -> ModuleEffect:
        """What is known of a module; of one that only has the id of ours, nothing is."""
        if self._is_evaluated(entry):
            return ModuleEffect("asked", "whoever started this server says that it changes nothing")
        if self._bundled.contains(entry):
            return EFFECTS.get(entry.module, UNKNOWN_EFFECT)
        return UNKNOWN_EFFECT

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

    async def _mount(self, key: str, wanted: EntryFilter) -> tuple[Material, EffectiveHooks]:
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
