"""Today's plan for a replay: its hooks, and substitutes for everything that acts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from amplifier_core.hooks import HookRegistry
from amplifier_core.loader import ModuleLoader
from amplifier_core.mount_plan import read_entry
from amplifier_hooks.agent.tools import todo
from amplifier_hooks.insight.replay.playback import Playback
from amplifier_hooks.insight.replay.recorded_answers import RecordedHooks
from amplifier_hooks.insight.replay.recorded_calls import (
    KEPT,
    TODO,
    Outcomes,
    RecordedModel,
    emit_recorded,
    list_tools,
    mount_recorded,
)
from amplifier_hooks.insight.replay.recording import FOLLOWS, Recording, list_early
from amplifier_hooks.trails import RecordedEvent, RecordedHook
from amplifier_hooks.trails.acting import ACTING

PREFIX = "replay-"
MODEL = f"{PREFIX}model"
TOOLS = f"{PREFIX}tools"
BEFORE = f"{PREFIX}hooks-before"
AFTER = f"{PREFIX}hooks-after"
INSTEAD = f"{PREFIX}instead-of-"

_ELSEWHERE = ("via", "server", "token", "store", "persons", "requester_may_approve", "scope")
"""Options that have people asked elsewhere; a replay asks nobody."""


def build_plan(plan: Mapping[str, Any], scratch: Path) -> dict[str, Any]:
    """The plan with its hooks as they are, except those that act on the machine."""
    approval = {key: one for key, one in plan["approval"].items() if key not in _ELSEWHERE}
    if approval.get("mode") != "deny":
        approval["mode"] = "ask"
    hooks = [_replace_acting(one, scratch) for one in plan["hooks"]]
    return {
        **plan,
        "session": _drop_provider_options(plan["session"]),
        "providers": [{"module": MODEL}],
        "tools": [{"module": TOOLS}],
        "hooks": [_substitute(BEFORE), *hooks, _substitute(AFTER)],
        "approval": approval,
        "audit": {**plan["audit"], "enabled": False},
        "sandbox": {"mode": "off"},
    }


def list_acting(plan: Mapping[str, Any]) -> dict[str, str]:
    """The modules of a plan that do not run in a replay, each with the reason."""
    entries = [
        *plan["hooks"],
        *(hook for one in plan["agents"].values() for hook in one.get("hooks", ())),
    ]
    named = [read_entry("hooks", one) for one in entries]
    return {one.module: ACTING[one.module] for one in named if _acts(one)}


def _acts(entry: Any) -> bool:
    return entry.source is None and entry.module in ACTING


def _substitute(module: str) -> dict[str, Any]:
    return {"module": module, "required": False}


def _replace_acting(written: Any, scratch: Path) -> Any:
    entry = read_entry("hooks", written)
    if _acts(entry):
        return _substitute(f"{INSTEAD}{entry.module}")
    if entry.module == "hooks-cost-control" and entry.source is None:
        config = {**entry.config, "file": str(scratch / "cost.json")}
        return {**entry.to_dict(), "config": config}
    return written


def _drop_provider_options(session: Mapping[str, Any]) -> dict[str, Any]:
    """The loop takes the model that is there."""
    loop = read_entry("orchestrator", session["orchestrator"])
    options = {
        key: one for key, one in loop.config.items() if key not in ("provider", "default_provider")
    }
    return {**session, "orchestrator": {**loop.to_dict(), "config": options}}


def list_replaced(plan: Mapping[str, Any]) -> dict[str, str]:
    """What is loaded in the place of the modules that agents bring; hooks see them as they are."""
    replaced: dict[str, str] = {}
    for agent in plan["agents"].values():
        for kind, instead in (("providers", MODEL), ("tools", TOOLS)):
            listed = [one for one in agent.get(kind) or () if kind == "providers" or _is_entry(one)]
            replaced |= {read_entry(kind, one).module: instead for one in listed}
        for one in agent.get("hooks") or ():
            if _acts(entry := read_entry("hooks", one)):
                replaced[entry.module] = f"{INSTEAD}{entry.module}"
    return replaced


def _is_entry(tool: Any) -> bool:
    return not isinstance(tool, str)


def choose_hooks(recording: Recording, module: str) -> list[RecordedHook]:
    """The recorded hooks that a stand-in of the plan answers for; those that only listened not."""
    spoke = _list_speaking(recording)
    hooks = [one for one in recording.hooks if one.name in spoke]
    if module.startswith(INSTEAD):
        acting = module.removeprefix(INSTEAD)
        return [one for one in hooks if acting in (one.module, one.name)]
    first = min((one.id for one in recording.hooks if one.kind == "hooks"), default=0)
    own = [one for one in hooks if one.kind != "hooks" and one.name not in ACTING]
    return [one for one in own if (one.id < first) == (module == BEFORE)]


def _list_speaking(recording: Recording) -> set[str]:
    return {
        answer.hook
        for items in recording.sessions.values()
        for event in items
        if isinstance(event, RecordedEvent)
        for answer in event.answers
        if answer.action != "continue" or answer.error is not None
    }


class Substitutes:
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

    async def emit_early(self, host: Any) -> None:
        """Tell of what modules told of before the session started, once its state is there."""
        if TODO in host.get("tools"):
            await todo.on_session_ready(host)
        session = self._playback.find_session(host.session_id)
        for event in list_early(self._playback.list_left(session)):
            if event.event not in FOLLOWS:
                await emit_recorded(host, event)


def _find_share(plan: Mapping[str, Any]) -> float:
    """How much a context keeps when it makes room, as the plan has it."""
    session = plan.get("session") or {}
    context = read_entry("context", session.get("context") or "context-simple")
    share = context.config.get("target")
    return float(share) if isinstance(share, int | float) and 0 < share < 1 else KEPT


class ReplayLoader(ModuleLoader):
    """The loader of a replayed session and its sub-agents."""

    def __init__(self, substitutes: Substitutes, **options: Any) -> None:
        super().__init__(**options)
        self._substitutes = substitutes

    def copy(self) -> ReplayLoader:
        """A loader for a sub-agent."""
        other = ReplayLoader(self._substitutes, base=self.base, sources=self.sources)
        other._entry_points = self._entry_points
        other._built_in = self._built_in
        return other

    async def load(
        self,
        module_id: str,
        config: Mapping[str, Any] | None = None,
        source_hint: Path | str | None = None,
        coordinator: Any = None,
    ) -> Callable[[Any], Any]:
        """As usual, but for substitutes."""
        module_id = self._substitutes.choose(module_id)
        if not module_id.startswith(PREFIX):
            return await super().load(module_id, config, source_hint, coordinator)

        async def mount(host: Any) -> Any:
            return await self._substitutes.mount(module_id, host)

        if module_id == AFTER:
            mount.__dict__["__on_session_ready__"] = (module_id, self._substitutes.emit_early)
        return mount
