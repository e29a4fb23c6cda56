"""The people of a replayed session, and the hooks that do not run: they answer as they did."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, cast

from amplifier_core.answers import read_answer
from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion, ApprovalTimeout, HandedOver
from amplifier_core.errors import ApprovalError
from amplifier_core.hooks import HookHandler, HookRegistry
from amplifier_core.models import CONTINUE, ContextInjection, HookResult, Role
from amplifier_core.records import HookAnswer, InjectedText, plain
from amplifier_core.utils import is_awaitable
from amplifier_hooks.insight.changes import repeat_change
from amplifier_hooks.insight.replay.comparison import find_doubts, find_injection
from amplifier_hooks.insight.replay.playback import Playback
from amplifier_hooks.insight.replay.recording import Asked, Recording, collect_questions
from amplifier_hooks.trails import RecordedApproval, RecordedEvent, RecordedHook


class RecordedApprovals:
    """An approval system that repeats what a recording tells of decisions."""

    def __init__(self, playback: Playback) -> None:
        self._playback = playback
        self._asked = {
            session: collect_questions(items)
            for session, items in playback.recording.sessions.items()
        }

    async def decide(self, question: ApprovalQuestion) -> ApprovalAnswer | HandedOver:
        """Answer as it was answered then; for ever open if nobody ever did."""
        asked = self._pop_answer(question)
        if asked is None:
            raise ApprovalError("nobody was asked this when the session was recorded")
        end = asked.end
        closes = end is not None and end.stage != "cancelled"
        await self._playback.wait(
            asked.request.sequence, end.sequence if end is not None and closes else None
        )
        assert end is not None
        if end.stage == "handed_over":
            return HandedOver(end.to, goes_on=end.goes_on)
        if end.how == "timeout":
            raise ApprovalTimeout(end.detail)
        if not end.decision:
            raise ApprovalError(end.detail or "nobody decided")
        return ApprovalAnswer(end.decision, end.by or None, end.comment or None, asked.edited_input)

    def _pop_answer(self, question: ApprovalQuestion) -> Asked | None:
        waiting = self._asked.get(self._playback.find_session(question.session_id), [])
        own = [one for one in waiting if one.request.hook == question.hook]
        best = max(own, key=lambda one: _rate(one.request, question), default=None)
        if best is not None:
            waiting.remove(best)
        return best


def _rate(asked: RecordedApproval, question: ApprovalQuestion) -> tuple[bool, bool, bool]:
    """How much of a recorded question is in this one."""
    return (
        asked.digest == question.digest,
        asked.call_id == question.tool_call_id,
        asked.prompt == question.prompt,
    )


def has_nobody(recording: Recording) -> bool:
    """Whether the recorded session had nobody to ask."""
    return any(
        isinstance(item, RecordedApproval) and item.how == "nobody"
        for items in recording.sessions.values()
        for item in items
    )


def make_exception(name: str, message: str, base: type[Exception] = Exception) -> Exception:
    """One that reads like the recorded one; its class has only the name in common."""
    kind = type(name if name.isidentifier() else base.__name__, (base,), {})
    error: Exception = kind(message) if message and message != name else kind()
    return error


_OURS = "stands_in"
"""On functions that answer for a recorded hook, alone or together with the real one."""


class RecordedHooks:
    """Registers substitutes for hooks of a recording."""

    def __init__(self, playback: Playback) -> None:
        self._playback = playback

    def watch(self, registry: HookRegistry) -> None:
        """Let today's hooks fall back on what they said where a trail lacks what they look at."""
        registry.listen(self._notice)

    def _notice(self, change: str, record: HookHandler) -> None:
        if change == "registered" and not hasattr(record.handler, _OURS):
            record.handler = self._wrap(record.handler, record.name)

    def _wrap(self, handler: Any, name: str) -> Any:
        @wraps(handler)
        async def answer(event: str, data: dict[str, Any]) -> Any:
            result = handler(event, data)
            if is_awaitable(result):
                result = await result
            spoke = result is not None and read_answer(result).action != "continue"
            return result if spoke else self._fall_back(name, event, data) or result

        setattr(answer, _OURS, True)
        return answer

    def _fall_back(self, name: str, event: str, data: dict[str, Any]) -> HookResult | None:
        """What a hook said then, if it says nothing now and was shown something else."""
        session = self._playback.find_session(data.get("session_id"))
        then = self._playback.find_event(session, event, data)
        doubts = [] if then is None else find_doubts(then)
        if then is None or not doubts:
            return None
        said = next((one for one in then.answers if one.hook == name), None)
        if said is None or said.action == "continue":
            return None
        self._playback.note_doubt(then, [*doubts, f"what {name} had answered stands"])
        return self._repeat(said, then, data)

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

        setattr(answer, _OURS, True)
        return answer

    def _repeat(self, said: HookAnswer, then: RecordedEvent, data: dict[str, Any]) -> HookResult:
        if said.error is not None:
            raise _make_hook_error(str(said.error))
        if said.action == "deny":
            return HookResult(action="deny", reason=plain(said.reason) or None)
        if said.action == "modify":
            return HookResult(
                action="modify",
                data=repeat_change(then.data, then.left, data),
                reason=plain(said.reason) or None,
            )
        if said.action == "ask_user":
            return self._ask_again(said, then)
        return self._inject_again(said, then) if said.action == "inject_context" else CONTINUE

    def _ask_again(self, said: HookAnswer, then: RecordedEvent) -> HookResult:
        asked = [
            one
            for one in self._playback.recording.sessions[then.session]
            if isinstance(one, RecordedApproval)
            and one.stage == "requested"
            and (one.hook, one.event) == (said.hook, then.event)
            and one.call_id == str(then.data.get("tool_call_id") or "")
        ]
        if not asked:
            return HookResult(action="ask_user", reason=plain(said.reason) or None)
        # What is judged again asks once more what was asked before.
        later = [one for one in asked if one.sequence > then.sequence]
        one = later[0] if later else asked[-1]
        return HookResult(
            action="ask_user",
            reason=plain(said.reason) or None,
            approval_prompt=one.prompt or None,
            approval_options=list(one.options) or None,
        )

    def _inject_again(self, said: HookAnswer, then: RecordedEvent) -> HookResult:
        texts = [
            ContextInjection(
                content=str(one.text),
                role=cast(Role, one.role or "system"),
                ephemeral=one.ephemeral,
            )
            for one in self._find_injections(then, said.hook)
        ]
        return HookResult(
            action="inject_context", reason=plain(said.reason) or None, context_injections=texts
        )

    def _find_injections(self, then: RecordedEvent, hook: str) -> list[InjectedText]:
        """What followed an event at a hook's request, up to the next one at which it injected."""
        found: list[InjectedText] = []
        for one in self._playback.recording.sessions[then.session]:
            if one.sequence <= then.sequence or one.event != then.event:
                continue
            if isinstance(one, RecordedEvent):
                if any(said.hook == hook and _injects(said) for said in one.answers):
                    break
            elif one.hook == hook and (text := find_injection(one)):
                found.append(text)
        return found


def _injects(said: HookAnswer) -> bool:
    return said.action == "inject_context"


def _list_distinct(hooks: Iterable[RecordedHook]) -> list[RecordedHook]:
    """Each once: a session that was resumed registered them again."""
    return list({(one.name, one.event): one for one in hooks}.values())


def _make_hook_error(text: str) -> Exception:
    name, _, message = text.partition(": ")
    return make_exception(name, message)
