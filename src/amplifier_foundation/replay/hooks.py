"""Hooks that do not run in a replay: they answer what they answered then."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from amplifier_core.hooks import HookRegistry
from amplifier_core.models import CONTINUE, ContextInjection, HookResult
from amplifier_foundation.history import (
    RecordedAnswer,
    RecordedApproval,
    RecordedEvent,
    RecordedHook,
)
from amplifier_foundation.replay.exceptions import make_exception
from amplifier_foundation.replay.playback import Playback, is_injection


class RecordedHooks:
    """Registers stand-ins for hooks of a recording."""

    def __init__(self, playback: Playback) -> None:
        self._playback = playback

    def register(self, registry: HookRegistry, hooks: Iterable[RecordedHook]) -> list[Any]:
        """Let each answer at its place as it did; returns what removes them."""
        return [self._register(registry, hook) for hook in _list_distinct(hooks)]

    def _register(self, registry: HookRegistry, hook: RecordedHook) -> Callable[[], None]:
        return registry.register(
            hook.event or "*",
            self._make_handler(hook),
            hook.priority,
            hook.name or "(unnamed)",
            on_error="deny" if hook.on_error == "deny" else "continue",
        )

    def _make_handler(self, hook: RecordedHook) -> Callable[[str, dict[str, Any]], Any]:
        async def answer(event: str, data: dict[str, Any]) -> HookResult:
            session = self._playback.find_session(data.get("session_id"))
            then = self._playback.find_event(session, event, data)
            if then is None:
                return CONTINUE
            said = next((one for one in then.answers if one.hook == hook.name), None)
            return CONTINUE if said is None else self._repeat(said, then, data)

        return answer

    def _repeat(
        self, said: RecordedAnswer, then: RecordedEvent, data: dict[str, Any]
    ) -> HookResult:
        if said.error is not None:
            raise _make_error(said.error)
        if said.action == "deny":
            return HookResult(action="deny", reason=said.reason or None)
        if said.action == "modify":
            changed = {
                key: value for key, value in then.left.items() if then.data.get(key) != value
            }
            return HookResult(action="modify", data={**data, **changed}, reason=said.reason or None)
        if said.action == "ask_user":
            return self._ask_again(said, then)
        return self._inject_again(said, then) if said.action == "inject_context" else CONTINUE

    def _ask_again(self, said: RecordedAnswer, then: RecordedEvent) -> HookResult:
        for one in self._find_after(then, said.hook):
            if not isinstance(one, RecordedApproval):
                continue
            return HookResult(
                action="ask_user",
                reason=said.reason or None,
                approval_prompt=one.prompt or None,
                approval_options=list(one.options) or None,
            )
        return HookResult(action="ask_user", reason=said.reason or None)

    def _inject_again(self, said: RecordedAnswer, then: RecordedEvent) -> HookResult:
        texts = [
            ContextInjection(
                content=str(one.body.get("text") or ""),
                role=one.body.get("role") or "system",
                ephemeral=one.body.get("ephemeral") is True,
            )
            for one in self._find_after(then, said.hook)
            if is_injection(one)
        ]
        return HookResult(
            action="inject_context", reason=said.reason or None, context_injections=texts
        )

    def _find_after(self, then: RecordedEvent, hook: str) -> list[Any]:
        """What followed an event at a hook's request, up to the next event of its name."""
        found: list[Any] = []
        for one in self._playback.recording.sessions[then.session]:
            if one.sequence <= then.sequence:
                continue
            if isinstance(one, RecordedEvent):
                if one.event == then.event:
                    break
            elif getattr(one, "hook", None) == hook and one.event == then.event:
                found.append(one)
        return found


def _list_distinct(hooks: Iterable[RecordedHook]) -> list[RecordedHook]:
    """Each once: a session that was resumed registered them again."""
    return list({(one.name, one.event): one for one in hooks}.values())


def _make_error(text: str) -> Exception:
    name, _, message = text.partition(": ")
    return make_exception(name, message)
