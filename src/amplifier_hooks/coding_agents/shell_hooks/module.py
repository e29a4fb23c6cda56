"""Mounts hooks-shell."""

from __future__ import annotations

import asyncio
import json
import logging
import tempfile
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from amplifier_core import events
from amplifier_core.errors import ModuleLoadError
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.models import HookResult
from amplifier_hooks.coding_agents.dialects.answer import combine
from amplifier_hooks.coding_agents.dialects.dialect import Handler
from amplifier_hooks.coding_agents.shell_hooks.config import NAME, Config
from amplifier_hooks.coding_agents.shell_hooks.runner import Runner
from amplifier_hooks.coding_agents.shell_hooks.scripts import Pins, read_scripts
from amplifier_hooks.coding_agents.shell_hooks.selector import Selector
from amplifier_hooks.coding_agents.shell_hooks.settings import (
    Settings,
    read_settings,
    read_settings_file,
)
from amplifier_hooks.external.verdicts import UNCHANGED, Verdict
from amplifier_hooks.guards.policy.paths import match_glob
from amplifier_hooks.machine.files import Snapshot, normalize
from amplifier_hooks.machine.locations import find_data_home
from amplifier_hooks.modules.options import parse_config
from amplifier_hooks.modules.registration import combine_removals, get_working_dir, is_own_event

logger = logging.getLogger(__name__)

_REFUSES = frozenset(
    {
        events.TOOL_PRE,
        events.PROMPT_SUBMIT,
        events.PROVIDER_REQUEST,
        events.PROVIDER_RESPONSE,
        events.CONTEXT_PRE_COMPACT,
    }
)
_TELLS_AGENT = frozenset(
    {events.TOOL_POST, events.TOOL_ERROR, events.ORCHESTRATOR_COMPLETE, events.AGENT_COMPLETE}
)
_TELLS_USER = frozenset({events.SESSION_START, events.AGENT_SPAWN})
_STOPPABLE = _REFUSES | {events.SESSION_START}
_SHOWN_INPUT = 2000


def build_answers(event: str, data: Mapping[str, Any], verdict: Verdict) -> list[HookResult]:
    """The answers to give, one per action, so that none hides another."""
    refusal = _find_refusal(event, verdict)
    if refusal is not None:
        return [HookResult(action="deny", reason=refusal, **_build_user_message("", verdict))]
    found = (_modify(event, data, verdict), _inject(event, verdict), _ask(event, data, verdict))
    answers = [fields for fields in found if fields is not None]
    told = _build_user_message(event, verdict)
    if not answers and not told:
        return []
    first, *rest = answers or [{}]
    return [HookResult(**first, **told), *(HookResult(**fields) for fields in rest)]


def _find_refusal(event: str, verdict: Verdict) -> str | None:
    """Why the operation is refused, if it is and can be at this event."""
    if verdict.stop is not None and event in _STOPPABLE:
        return verdict.stop
    if verdict.decision == "deny" and _can_refuse(event, verdict):
        return verdict.reason or "Blocked by a hook."
    return None


def _can_refuse(event: str, verdict: Verdict) -> bool:
    return event in _REFUSES or (event == events.TOOL_POST and verdict.withhold)


def _modify(event: str, data: Mapping[str, Any], verdict: Verdict) -> dict[str, Any] | None:
    changed: dict[str, Any] = {}
    if event == events.TOOL_PRE and verdict.tool_input is not None:
        changed["tool_input"] = verdict.tool_input
    if event == events.TOOL_POST and verdict.output is not UNCHANGED:
        result = data.get("tool_result")
        known = dict(result) if isinstance(result, Mapping) else {"success": True, "error": None}
        changed["tool_result"] = {**known, "output": verdict.output}
    if event == events.PROVIDER_REQUEST and verdict.messages is not None:
        changed["messages"] = verdict.messages
    return {"action": "modify", "data": {**data, **changed}} if changed else None


def _inject(event: str, verdict: Verdict) -> dict[str, Any] | None:
    texts = list(verdict.context)
    if verdict.decision == "deny" and event in _TELLS_AGENT and verdict.reason:
        texts.append(verdict.reason)
    if not texts:
        return None
    return {"action": "inject_context", "context_injection": "\n\n".join(texts)}


def _ask(event: str, data: Mapping[str, Any], verdict: Verdict) -> dict[str, Any] | None:
    if verdict.decision not in ("ask", "defer") or event not in _REFUSES:
        return None
    return {
        "action": "ask_user",
        "approval_prompt": _word_question(data, verdict),
        "reason": verdict.reason,
    }


def _word_question(data: Mapping[str, Any], verdict: Verdict) -> str:
    """The reason, and the input that would run: that is what a person decides about."""
    tool = data.get("tool_name")
    lines = [verdict.reason or "A shell hook wants a person to decide."]
    if tool:
        given = data.get("tool_input") if verdict.tool_input is None else verdict.tool_input
        shown = json.dumps(given, ensure_ascii=False, default=str)
        lines.append(f"{tool}: {shown[:_SHOWN_INPUT]}")
    return "\n".join(lines)


def _build_user_message(event: str, verdict: Verdict) -> dict[str, Any]:
    """What the person is told, whatever was decided."""
    told = [*verdict.notes, *verdict.warnings]
    if verdict.decision == "deny" and event in _TELLS_USER and verdict.reason:
        told.append(verdict.reason)
    if verdict.stop is not None:
        told.append(verdict.stop)
    fields: dict[str, Any] = {"suppress_output": True} if verdict.quiet else {}
    if told:
        fields["user_message"] = "\n".join(told)
        fields["user_message_level"] = "warning" if verdict.warnings else "info"
    return fields


Follower = Callable[[str, dict[str, Any]], Awaitable[HookResult]]
_MOST_PENDING = 256
_KEPT_WORKING = "stop_hook"  # the source of a prompt that a blocked stop became
# A sub-agent's own start, prompt and stop are told as the spawn and the end of a sub-agent.
_OF_THE_SESSION = frozenset(
    {
        events.SESSION_START,
        events.SESSION_END,
        events.PROMPT_SUBMIT,
        events.ORCHESTRATOR_COMPLETE,
    }
)
_STOPS = events.stops


class Dispatcher:
    """Asks the hooks and answers the session; keeps what they have to remember between events."""

    def __init__(
        self,
        host: Host,
        config: Config,
        handlers: Iterable[Handler],
        notices: Iterable[str] = (),
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._host = host
        self._selector = Selector(host, config, handlers)
        self._runner = Runner(config, env or {})
        self._notices = list(notices)
        self._blocked_stops = 0
        self._pending: dict[tuple[str, str, str], list[HookResult]] = {}

    @property
    def events(self) -> dict[str, bool]:
        """The events to listen to, and whether a failure there must block."""
        by_event = self._selector.by_event
        wanted = {
            event: any(self._runner.fails_closed(handler) for handler in handlers)
            for event, handlers in by_event.items()
        }
        if events.APPROVAL_REQUIRED in wanted:
            wanted.setdefault(events.TOOL_PRE, False)
        if self._notices:
            wanted.setdefault(events.SESSION_START, False)
        if any(handler.background for handlers in by_event.values() for handler in handlers):
            wanted.setdefault(events.PROMPT_SUBMIT, False)
        return wanted

    async def close(self) -> None:
        """End what still runs in the background."""
        await self._runner.close()

    # Answers

    async def on_event(self, event: str, data: dict[str, Any]) -> HookResult:
        """The first answer; what else there is to say waits for the follow-up handlers."""
        canonical = events.canonical(event)
        verdict = self._keep_working(canonical, await self._judge(canonical, data))
        answers = build_answers(canonical, data, verdict)
        await self._carry_out(verdict)
        self._remember(_get_key(canonical, data), answers[1:])
        return answers[0] if answers else HookResult(action="continue")

    def make_follower(self, number: int) -> Follower:
        """One HookResult has one action: the second and third go out through these.

        Asked again about the same call, a follower gives the same answer: the kernel asks a guard
        once more after a person has allowed.
        """

        async def follow(event: str, data: dict[str, Any]) -> HookResult:
            waiting = self._pending.get(_get_key(events.canonical(event), data), [])
            return waiting[number] if number < len(waiting) else HookResult(action="continue")

        return follow

    def _remember(self, key: tuple[str, str, str], answers: list[HookResult]) -> None:
        self._pending.pop(key, None)
        if answers:
            self._pending[key] = answers
        while len(self._pending) > _MOST_PENDING:
            del self._pending[next(iter(self._pending))]

    async def _carry_out(self, verdict: Verdict) -> None:
        """What no HookResult can say."""
        rename = self._host.get_capability("session.rename") if verdict.title else None
        if rename is not None:
            rename(verdict.title, "")
        if verdict.stop is not None:
            await self._host.request_cancel()

    # Verdicts

    async def _judge(self, event: str, data: dict[str, Any]) -> Verdict:
        collected = self._runner.pop_late() + self._pop_notices(event)
        if event == events.TOOL_PRE:
            self._selector.remember_input(data)
        if event == events.APPROVAL_REQUIRED:
            return combine(collected + await self._report_question(data))
        if self._concerns(event, data):
            collected += await self._run(event, data)
        verdict = combine(collected)
        if event == events.TOOL_PRE and verdict.decision in ("ask", "defer"):
            verdict = await self._ask_hooks_first(data, verdict)
        return self._limit_stops(event, verdict)

    async def _run(self, event: str, data: dict[str, Any]) -> list[Verdict]:
        return await self._runner.run(self._selector.select(event, data, self._blocked_stops))

    def _pop_notices(self, event: str) -> list[Verdict]:
        """What was wrong in the files is told once, when the session starts."""
        if event != events.SESSION_START or not self._notices:
            return []
        notices = self._notices
        self._notices = []
        return [Verdict(warnings=tuple(notices))]

    def _concerns(self, event: str, data: dict[str, Any]) -> bool:
        """Whether the hooks' own agent would have had such an event here."""
        metadata = data.get("metadata")
        if isinstance(metadata, Mapping) and metadata.get("source") == _KEPT_WORKING:
            return event != events.PROMPT_SUBMIT
        return event not in _OF_THE_SESSION or is_own_event(self._host, data)

    async def _ask_hooks_first(self, data: dict[str, Any], verdict: Verdict) -> Verdict:
        """PermissionRequest hooks may answer the question that other shell hooks raised."""
        answers = await self._run(events.APPROVAL_REQUIRED, data)
        if combine(answers).decision in ("allow", "deny"):
            verdict = replace(verdict, decision=None, reason=None)
        return combine([verdict, *answers])

    async def _report_question(self, data: dict[str, Any]) -> list[Verdict]:
        """Of another hook's question they only learn: what grants it is out of a hook's reach."""
        if data.get("hook") == NAME:
            return []
        answers = await self._run(events.APPROVAL_REQUIRED, data)
        decided = combine(answers).decision
        if decided is None:
            return answers
        sentence = f"A PermissionRequest hook said {decided!r}; {data.get('hook')} asks a person"
        return [*answers, Verdict(warnings=(sentence,))]

    # Blocked stops

    def _keep_working(self, event: str, verdict: Verdict) -> Verdict:
        """A blocked stop: where the session can go on by itself, it does, with the reason."""
        keep = self._host.get_capability("session.keep_working")
        if event not in _STOPS or verdict.decision != "deny" or keep is None:
            return verdict
        why = keep(verdict.reason or "A hook wants you to go on.", event)
        if why is None:
            return replace(verdict, decision=None, reason=None)
        # Its reason is injected, and so reaches the model with the next request.
        return replace(verdict, warnings=(*verdict.warnings, f"A stop was not blocked: {why}"))

    def _limit_stops(self, event: str, verdict: Verdict) -> Verdict:
        """A hook that blocks every stop must not keep the agent working for ever."""
        if event not in _STOPS:
            return verdict
        if verdict.decision != "deny":
            self._blocked_stops = 0
            return verdict
        self._blocked_stops += 1
        handlers = self._selector.by_event[event]
        limit = min(handler.loop_limit for handler in handlers)
        if self._blocked_stops <= limit:
            return verdict
        self._blocked_stops = 0
        sentence = f"Stop hooks blocked {limit} times in a row; the agent may stop now"
        return replace(verdict, decision=None, warnings=(*verdict.warnings, sentence))


def _get_key(event: str, data: Mapping[str, Any]) -> tuple[str, str, str]:
    return event, str(data.get("session_id") or ""), str(data.get("tool_call_id") or "")


_PREFIX = "amplifier-hooks-shell-"
_FOLLOW_UPS = 2  # a modify, an injection and a question: three answers at most


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Read the hook files and begin to listen."""
    options = parse_config(Config, config, NAME)
    if not options.settings and not options.hooks:
        raise ModuleLoadError(f"{NAME}: give 'settings' (files) or 'hooks' (written here)")
    base = options.find_base(get_working_dir(coordinator))
    snapshot: Snapshot | None = coordinator.get_capability("session.snapshot")
    settings = await asyncio.to_thread(read_all, options, base, snapshot)
    if options.fail_closed and settings.notices:
        reasons = "; ".join(settings.notices)
        raise ModuleLoadError(f"{NAME}: 'fail_closed' is set, and not every hook runs: {reasons}")
    for notice in settings.notices:
        logger.warning("%s: %s", NAME, notice)
    folder = _make_folder(private=snapshot is not None)
    env_file = Path(folder.name) / "env.sh"
    env_file.touch()
    env = {"CLAUDE_ENV_FILE": str(env_file)}
    handlers = settings.handlers
    if snapshot is not None:
        pins = Pins(snapshot, base, Path(folder.name) / "scripts")
        handlers = await asyncio.to_thread(lambda: tuple(map(pins.pin, settings.handlers)))
    dispatcher = Dispatcher(coordinator, options, handlers, settings.notices, env)
    remove = combine_removals(_register(coordinator, options, dispatcher))

    async def cleanup() -> None:
        remove()
        await dispatcher.close()
        folder.cleanup()

    return cleanup


def _make_folder(*, private: bool) -> tempfile.TemporaryDirectory[str]:
    """A folder for this session; a private one lies where no tool of the agent reads or writes."""
    if private:
        with suppress(OSError):  # nowhere to keep anything: then there is no trust to betray either
            place = find_data_home() / "amplifier" / "run"
            place.mkdir(parents=True, exist_ok=True, mode=0o700)
            return tempfile.TemporaryDirectory(prefix=_PREFIX, dir=place)
    return tempfile.TemporaryDirectory(prefix=_PREFIX)


def read_all(config: Config, base: Path, snapshot: Snapshot | None = None) -> Settings:
    """The hooks of every file, and those written in the bundle."""
    read = Path.read_bytes if snapshot is None else snapshot.read
    files = find_files(config, base, snapshot)
    found = [read_settings_file(path, config.dialect, read) for path in files]
    if config.hooks:
        # Both `hooks: {PreToolUse: …}` and a whole settings object are understood.
        inner = config.hooks.get("hooks")
        content = config.hooks if isinstance(inner, dict) else {"hooks": config.hooks}
        found.append(read_settings(content, config.dialect, "config"))
    return Settings(
        tuple(handler for settings in found for handler in settings.handlers),
        tuple(notice for settings in found for notice in settings.notices),
    )


def find_files(config: Config, base: Path, snapshot: Snapshot | None = None) -> Iterator[Path]:
    """A plain path must be there; a pattern may find nothing."""
    for pattern in config.settings:
        path = normalize(base / Path(pattern).expanduser())
        if not any(char in pattern for char in "*?["):
            yield path
        elif snapshot is None:
            anchor = Path(path.anchor)
            yield from sorted(anchor.glob(str(path.relative_to(anchor))))
        else:
            yield from sorted(one for one in snapshot.files if match_glob(one, [str(path)]))


def _register(host: Host, options: Config, dispatcher: Dispatcher) -> Iterator[Cleanup]:
    for event, blocks in dispatcher.events.items():
        followers = [dispatcher.make_follower(number) for number in range(_FOLLOW_UPS)]
        for handler in (dispatcher.on_event, *followers):
            yield host.hooks.register(
                event,
                handler,
                priority=options.priority,
                name=NAME,
                on_error="deny" if blocks or options.fail_closed else "continue",
            )


def read_entry_files(config: Mapping[str, Any], folder: Path, snapshot: Snapshot) -> Iterator[Path]:
    """Read the settings and scripts that an entry with these options runs into a snapshot."""
    options = Config.model_validate(config)
    base = options.find_base(folder)
    for path in find_files(options, base):
        if path.is_file():
            snapshot.read(path)
            yield path
    read_scripts(read_all(options, base, snapshot).handlers, base, snapshot)


def list_entry_commands(config: Mapping[str, Any], folder: Path, snapshot: Snapshot) -> list[str]:
    """The command lines and addresses that an entry with these options calls."""
    options = Config.model_validate(config)
    handlers = read_all(options, options.find_base(folder), snapshot).handlers
    return [one.url or " ".join(one.args or (one.command or "",)) for one in handlers]
