"""Stand-ins: hooks of the recorded session that answer again what they answered then."""

from __future__ import annotations

from collections.abc import Callable, Collection
from fnmatch import fnmatchcase
from typing import Any

from amplifier_core.hooks import HookRegistry
from amplifier_core.models import CONTINUE, HookResult
from amplifier_core.records import HookAnswer, plain
from amplifier_hooks.trails import RecordedEvent, RecordedHook

_OWN_HOOKS = ("cli-", "hosting-", "guest-", "mcp-", "tool-", "trail-guard", "reload")
"""How the names of hooks begin that no bundle asks for, in trails that do not say who they are."""


class StandIns:
    """The recorded hooks that a policy cannot replace, or may not run."""

    def __init__(self, acting: Collection[str]) -> None:
        self._acting = frozenset(acting)
        self._registered: dict[int, tuple[RecordedHook, Callable[[], None]]] = {}
        self._answers: dict[int, HookAnswer] = {}
        self._event: RecordedEvent | None = None
        self._data: dict[str, Any] = {}
        self._left: dict[str, Any] = {}
        self.found: set[str] = set()
        """The modules that are not run whose recorded answers are taken."""
        self.doubt = ""

    def is_one(self, hook: RecordedHook, *, says_who: bool) -> bool:
        """Whether a recorded hook is stood in for; `says_who`: the trail names modules."""
        if hook.module in self._acting or hook.name in self._acting:
            self.found.add(hook.module if hook.module in self._acting else hook.name)
            return True
        if says_who:
            return hook.kind != "hooks"
        return hook.name.startswith(_OWN_HOOKS)

    def add(self, hook: RecordedHook, registry: HookRegistry) -> None:
        """Register one; a process that resumed the session may have given its number again."""
        if known := self._registered.pop(hook.id, None):
            known[1]()

        async def answer(_event: str, data: dict[str, Any]) -> HookResult:
            return self._answer(hook.id, data)

        name = hook.name or "(unnamed)"
        event = hook.event or "*"
        removal = registry.register(event, answer, hook.priority, name)
        self._registered[hook.id] = hook, removal

    def list_unasked(self, event: RecordedEvent) -> list[str]:
        """Who stood behind the denial of an event then, and was not asked."""
        asked = {one.id for one in event.answers}
        waiting = (hook for hook, _ in self._registered.values() if hook.id not in asked)
        return sorted({hook.name for hook in waiting if fnmatchcase(event.event, hook.event)})

    def turn_to(self, event: RecordedEvent, data: dict[str, Any], left: dict[str, Any]) -> None:
        """From now on, answer for this event; `data` and `left` as hooks are given them now."""
        self._event, self._data, self._left = event, data, left
        self.doubt = ""
        self._answers = {one.id: one for one in event.answers if one.action != "continue"}

    def recall(self, name: str, data: dict[str, Any]) -> HookResult | None:
        """What a hook answered, if the trail has one answer of that name for this event."""
        said = [one for one in self._event.answers if one.hook == name] if self._event else []
        return self._repeat(said[0], data) if len(said) == 1 else None

    def _answer(self, number: int, data: dict[str, Any]) -> HookResult:
        said = self._answers.get(number)
        return CONTINUE if said is None else self._repeat(said, data)

    def _repeat(self, said: HookAnswer, data: dict[str, Any]) -> HookResult:
        if said.action == "deny":
            return HookResult(action="deny", reason=plain(said.reason) or None)
        if said.action == "ask_user":
            return HookResult(
                action="ask_user", approval_prompt=plain(said.reason) or f"{said.hook} asks"
            )
        if said.action == "inject_context":
            return HookResult(action="inject_context", context_injection="(as recorded)")
        return self._change(said, data) if said.action == "modify" else CONTINUE

    def _change(self, said: HookAnswer, data: dict[str, Any]) -> HookResult:
        before, after = self._data, self._left
        if self._event and sum(one.action == "modify" for one in self._event.answers) > 1:
            self.doubt = f"the trail does not say which of several changes {said.hook} made"
        changed = {
            key: value for key, value in after.items() if key not in before or before[key] != value
        }
        kept = {key: data[key] for key in data if key in after or key not in before}
        return HookResult(action="modify", data=kept | changed)
