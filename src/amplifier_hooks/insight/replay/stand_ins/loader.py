"""Loads today's hooks as they are, and stand-ins in the place of everything that acts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from amplifier_core.hooks import HookRegistry
from amplifier_core.loader import ModuleLoader
from amplifier_core.mount_plan import read_entry
from amplifier_hooks.agent.tools import todo
from amplifier_hooks.insight.replay.playback import Playback
from amplifier_hooks.insight.replay.stand_ins.hooks import RecordedHooks
from amplifier_hooks.insight.replay.stand_ins.model import KEPT, RecordedModel
from amplifier_hooks.insight.replay.stand_ins.plan import (
    AFTER,
    MODEL,
    PREFIX,
    TOOLS,
    choose_hooks,
    list_replaced,
)
from amplifier_hooks.insight.replay.stand_ins.tools import (
    TODO,
    Outcomes,
    list_tools,
    mount_recorded,
    tell,
)
from amplifier_hooks.insight.replay.steps import FOLLOWS, list_early


class StandIns:
    """Mounts what stands for the model, the tools and the hooks that do not run."""

    def __init__(self, playback: Playback, plan: Mapping[str, Any]) -> None:
        self._playback = playback
        self._replaced = list_replaced(plan)
        self._outcomes = Outcomes(playback.recording)
        self._hooks = RecordedHooks(playback)

    def watch(self, registry: HookRegistry) -> None:
        """Look after the hooks of today, where a trail lacks what they look at."""
        self._hooks.watch(registry)

    def choose(self, module: str) -> str:
        """What is loaded for a module: itself, or what stands for it."""
        return self._replaced.get(module, module)

    async def mount(self, module: str, host: Any) -> Any:
        """Mount one of them in a session of the replay."""
        session = self._playback.find_session(host.session_id)
        if module == MODEL:
            model = RecordedModel(self._playback, session, _find_share(host.config))
            await host.mount("providers", model, name=model.name)
        elif module == TOOLS:
            names = list_tools(self._playback.recording, session)
            await mount_recorded(host, names, self._playback, self._outcomes)
        else:
            self._hooks.register(host.hooks, choose_hooks(self._playback.recording, module))

    async def tell_early(self, host: Any) -> None:
        """Tell of what modules told of before the session started, once its state is there."""
        if TODO in host.get("tools"):
            await todo.on_session_ready(host)
        session = self._playback.find_session(host.session_id)
        for event in list_early(self._playback.list_left(session)):
            if event.event not in FOLLOWS:
                await tell(host, event)


def _find_share(plan: Mapping[str, Any]) -> float:
    """How much a context keeps when it makes room, as the plan has it."""
    session = plan.get("session") or {}
    context = read_entry("context", session.get("context") or "context-simple")
    share = context.config.get("target")
    return float(share) if isinstance(share, int | float) and 0 < share < 1 else KEPT


class ReplayLoader(ModuleLoader):
    """The loader of a replayed session and its sub-agents."""

    def __init__(self, stand_ins: StandIns, **options: Any) -> None:
        super().__init__(**options)
        self._stand_ins = stand_ins

    def copy(self) -> ReplayLoader:
        """A loader for a sub-agent."""
        other = ReplayLoader(self._stand_ins, base=self.base, sources=self.sources)
        other._entry_points, other._built_in = self._entry_points, self._built_in
        return other

    async def load(
        self,
        module_id: str,
        config: Mapping[str, Any] | None = None,
        source_hint: Path | str | None = None,
        coordinator: Any = None,
    ) -> Callable[[Any], Any]:
        """As usual, but for stand-ins."""
        module_id = self._stand_ins.choose(module_id)
        if not module_id.startswith(PREFIX):
            return await super().load(module_id, config, source_hint, coordinator)

        async def mount(host: Any) -> Any:
            return await self._stand_ins.mount(module_id, host)

        if module_id == AFTER:
            mount.__dict__["__on_session_ready__"] = (module_id, self._stand_ins.tell_early)
        return mount
