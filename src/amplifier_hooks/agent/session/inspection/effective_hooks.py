"""The effective hooks: those that a bundle mounts, without a session, to be looked at."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.dispatch import Dispatch
from amplifier_core.event_names import is_custom
from amplifier_core.events import ALL_EVENTS, canonical
from amplifier_core.hooks import HookHandler, HookRegistry
from amplifier_core.loader import ModuleLoader
from amplifier_core.mount_plan import ModuleEntry, MountPlan
from amplifier_core.mounting import Mounted, Mounting
from amplifier_hooks.agent.bundles import Bundle
from amplifier_hooks.agent.session.assembled import add_place
from amplifier_hooks.agent.trust.material import Material
from amplifier_hooks.guards.policy.unread_tools import (
    OfferedTool,
    collect_readers,
    describe_unread,
    make_offered,
    says_read_only,
)
from amplifier_hooks.modules.observers import require_guard
from amplifier_hooks.modules.options import parse_config

_MCP_TOOLS = "tool-mcp"


@dataclass(frozen=True, slots=True)
class HookRow:
    """One hook in its place."""

    event: str
    order: int
    priority: int
    hook: str
    on_error: str
    timeout: float | None
    source: str
    registered_for: str
    own_priority: int
    """The one it was registered with; the bundle may have given it another."""
    shadow: bool = False
    """Whether what it answers has no effect."""


@dataclass(slots=True)
class Stopwatch:
    """Takes the time of each hook."""

    seconds: dict[int, float] = field(default_factory=dict)
    _started: float = 0.0

    def begin(self, handler: HookHandler) -> None:
        """A hook is about to run."""
        self._started = time.perf_counter()

    def end(self, handler: HookHandler) -> None:
        """It has answered."""
        self.seconds[handler.id] = time.perf_counter() - self._started


@dataclass(slots=True)
class EffectiveHooks:
    """The registry of a bundle, and where each of its hooks came from."""

    host: SessionCoordinator
    mounting: Mounting
    bundle: Bundle
    own_priorities: dict[int, int] = field(default_factory=dict)

    @property
    def registry(self) -> HookRegistry:
        """Where they are registered."""
        return self.host.hooks

    @property
    def failures(self) -> list[str]:
        """Modules that could not be mounted, each with its line, its reason and what follows."""
        return [
            f"{add_place(one.failure, self.bundle)} — {_name_consequence(one)}"
            for one in self.mounting.mounted
            if one.failure is not None
        ]

    def list_events(self) -> list[str]:
        """The events of a session in their order, then those that only these hooks listen to."""
        heard = self.registry.list_handlers()
        own = {canonical(name) for name in heard if "*" not in name or is_custom(name)}
        known = [event for event in ALL_EVENTS if canonical(event) == event]
        return [*known, *sorted(own - set(known))]

    def list_advice(self) -> list[str]:
        """What registrations do that their authors hardly meant, their events apart."""
        handlers = {
            handler.id: handler
            for event in self.list_events()
            for handler in self.registry.handlers_for(event)
        }
        return [
            f"{handler.name} {advice}"
            for handler in handlers.values()
            for about, advice in handler.advice.items()
            if about != "event"
        ]

    async def find_undeclared(self) -> dict[str, list[str]]:
        """The events of modules' own that nobody here has declared, each with its hooks."""
        for listed in await self.host.collect_contributions("observability.events"):
            names = listed if isinstance(listed, list | tuple) else [listed]
            self.registry.declare(*(one for one in names if isinstance(one, str) and one.strip()))
        return {
            event: hooks
            for event, hooks in self.registry.list_handlers().items()
            if is_custom(event) and not self.registry.declares(event)
        }

    async def describe_unread_tools(self) -> str | None:
        """The tools of the bundle that no guard can read, in one line; None if there are none.

        Servers are not started: of them, what they have offered earlier is looked at.
        """
        entries = MountPlan.parse(self.bundle.mount_plan).tools
        offered: list[OfferedTool] = []
        for entry in entries:
            if entry.module == _MCP_TOOLS:
                offered += await asyncio.to_thread(_list_known_tools, self._folder, entry.config)
            else:
                await self.mounting.mount("tools", entry.model_copy(update={"required": False}))
        mounted = self.host.get("tools") or {}
        offered += [make_offered(name, tool) for name, tool in mounted.items()]
        return describe_unread(offered, await collect_readers(self.host))

    @property
    def _folder(self) -> Path:
        return Path(self.host.get_capability("session.working_dir"))

    def list_rows(self, event: str) -> list[HookRow]:
        """The hooks of one event, in the order they run."""
        return [
            self._make_row(event, order, handler)
            for order, handler in enumerate(self.registry.handlers_for(event), 1)
        ]

    def _make_row(self, event: str, order: int, handler: HookHandler) -> HookRow:
        source = next((one.origin for one in self.mounting.mounted if handler in one.handlers), "?")
        return HookRow(
            event,
            order,
            handler.priority,
            handler.name,
            handler.on_error,
            handler.timeout,
            source,
            handler.event,
            self.own_priorities.get(handler.id, handler.priority),
            handler.shadow,
        )

    def notice(self, change: str, handler: HookHandler) -> None:
        """Keep the priority of a registration before the bundle's replaces it."""
        if change == "registered":
            self.own_priorities.setdefault(handler.id, handler.priority)

    async def trace(self, event: str, data: dict[str, Any]) -> tuple[Dispatch, Stopwatch]:
        """Send one event through; answers are kept, none is carried out."""
        watch = Stopwatch()
        return await self.registry.dispatch(event, data, watch), watch


@asynccontextmanager
async def mount_hooks(
    material: Material,
    wanted: Callable[[ModuleEntry], bool] | None = None,
    working_dir: Path | None = None,
) -> AsyncIterator[EffectiveHooks]:
    """The hooks of a bundle that a person has trusted, unmounted again at the end.

    Of the modules that are not `wanted`, nothing is imported or run. They are told that a session
    works in `working_dir`, by default the folder of the material.
    """
    plan = material.bundle.mount_plan
    coordinator = SessionCoordinator(config=plan, session_id="look")
    coordinator.register_capability("session.working_dir", str(working_dir or material.folder))
    coordinator.register_capability("session.snapshot", material.snapshot)
    coordinator.hooks.set_default_fields(session_id="look")
    material.claim_packages()
    loader = ModuleLoader(base=material.folder, sources=material.snapshot)
    mounting = Mounting(coordinator, loader)
    found = EffectiveHooks(coordinator, mounting, material.bundle)
    with material.hold():
        stop = coordinator.hooks.listen(found.notice)
        try:
            for entry in filter(wanted, MountPlan.parse(plan).hooks):
                # Whoever looks wants to see all of them, also where a session would not start.
                mounted = await mounting.mount(
                    "hooks", entry.model_copy(update={"required": False})
                )
                mounted.entry = entry
            yield found
        finally:
            stop()
            await mounting.unmount_all()
            await coordinator.cleanup()


def _list_known_tools(folder: Path, config: Mapping[str, Any]) -> list[OfferedTool]:
    """What the servers of a bundle have offered, as far as anybody has allowed it."""
    from amplifier_hooks.agent.tools.mcp.launch import Config, identify_server
    from amplifier_hooks.agent.tools.mcp.tools import read_schema
    from amplifier_hooks.guards.mcp.definitions import KnownTools
    from amplifier_hooks.guards.mcp.protocol import name_tool

    options = parse_config(Config, dict(config), _MCP_TOOLS)
    found: list[OfferedTool] = []
    for name, server in options.servers.items():
        known = KnownTools().find(identify_server(server, folder / (server.cwd or "")))
        for tool, allowed in () if known is None else known.tools.items():
            said = allowed.definition
            only_reads = says_read_only(said.get("annotations"))
            found.append(OfferedTool(name_tool(name, tool), read_schema(said), only_reads))
    return found


def _name_consequence(mounted: Mounted) -> str:
    if require_guard(mounted.entry).required:
        return "no session starts without it"
    return "sessions start without it"
