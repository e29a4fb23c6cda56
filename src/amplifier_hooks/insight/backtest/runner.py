"""Puts the events of a recorded session before the hooks of a policy, at their time."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import wraps
from inspect import isawaitable
from pathlib import Path
from typing import Any

from amplifier_audit.own_records import LogOpened
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.dispatch import Follow
from amplifier_core.events import AGENT_SPAWN
from amplifier_core.handlers import Handler, Mode
from amplifier_core.hook_counts import HookCounts
from amplifier_core.hooks import HookHandler, HookRegistry
from amplifier_core.loader import ModuleLoader
from amplifier_core.models import CONTINUE, HookResult, Level
from amplifier_core.mount_plan import ModuleEntry, read_mode
from amplifier_core.mounting import Mounting
from amplifier_core.records import HookAnswer, SessionEnded, SessionStarted, plain
from amplifier_hooks.insight.backtest.policy import Policy, PolicyError
from amplifier_hooks.insight.backtest.verdicts import (
    GapAccesses,
    MissingValue,
    Verdict,
    read_dispatch,
)
from amplifier_hooks.insight.changes import repeat_change
from amplifier_hooks.modules.clock import CAPABILITY
from amplifier_hooks.trails import Header, Note, RecordedEvent, RecordedHook


class RecordedClock:
    """Stands at the time of the event that is being judged."""

    def __init__(self) -> None:
        self.text = ""
        self._seconds: float | None = None

    def set(self, time: str) -> None:
        """Set it to the time of a record."""
        # As registries write it: in milliseconds.
        self.text = f"{time[:23]}+00:00" if time.endswith("Z") and len(time) > 23 else time
        self._seconds = None

    def __call__(self) -> float:
        """Seconds since 1970."""
        if self._seconds is None:
            self._seconds = read_time(self.text).timestamp()
        return self._seconds


def read_time(text: str) -> datetime:
    """The time of a record; the first moment of all for one that has none."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


class RecordedTimeRegistry(HookRegistry):
    """A registry whose events happened when the clock says."""

    def __init__(
        self, clock: RecordedClock, parent: HookRegistry | None = None, mode: Mode = "enforce"
    ) -> None:
        super().__init__(parent, mode)
        self.clock = lambda: clock.text


_OWN_HOOKS = ("cli-", "hosting-", "guest-", "mcp-", "tool-", "trail-guard", "reload")
"""How the names of hooks begin that no bundle asks for, in trails that do not say who they are."""


class RecordedAnswers:
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

    def stands_for(self, hook: RecordedHook, *, names_modules: bool) -> bool:
        """Whether a recorded hook is stood in for; `names_modules`: the trail names modules."""
        if hook.module in self._acting or hook.name in self._acting:
            self.found.add(hook.module if hook.module in self._acting else hook.name)
            return True
        if names_modules:
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

    def list_not_asked(self, event: RecordedEvent) -> list[str]:
        """Who stood behind the denial of an event then, and was not asked."""
        asked = {one.id for one in event.answers}
        waiting = (hook for hook, _ in self._registered.values() if hook.id not in asked)
        return sorted({hook.name for hook in waiting if fnmatchcase(event.event, hook.event)})

    def set_event(self, event: RecordedEvent, data: dict[str, Any], left: dict[str, Any]) -> None:
        """From now on, answer for this event; `data` and `left` as hooks are given them now."""
        self._event = event
        self._data = data
        self._left = left
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
        if self._event and sum(one.action == "modify" for one in self._event.answers) > 1:
            self.doubt = f"the trail does not say which of several changes {said.hook} made"
        changed = repeat_change(self._data, self._left, data)
        return HookResult(action="modify", data=changed)


class _SilentDisplay:
    """Nobody looks."""

    def show_message(self, message: str, level: Level, source: str) -> None:
        """What hooks show in a rehearsal is not shown."""


class _HookWatcher:
    """Knows which hook runs."""

    def __init__(self, looks: GapAccesses) -> None:
        self._looks = looks

    def begin(self, handler: HookHandler) -> Follow | None:
        self._looks.hook = handler.name
        return None

    def end(self, handler: HookHandler) -> None:
        self._looks.hook = ""


class MountedPolicy:
    """The hooks of a policy, mounted as they would have been in a recorded session.

    Hooks that are no part of the policy, such as those of tools, answer as they did then. Answers
    are kept and none is carried out.
    """

    def __init__(
        self, policy: Policy, header: Header, loader: ModuleLoader, looks: GapAccesses
    ) -> None:
        self._policy = policy
        self._folder = header.folder or str(Path.cwd())
        # What is in the bundle as it was then, answers what it answered then where a value is
        # masked, or missing and looked at.
        self._kept = policy.kept if header.hooks_digest == policy.base else frozenset()
        self._loader = loader
        self._looks = looks
        self._watch = _HookWatcher(self._looks)
        self._clock = RecordedClock()
        self.recorded_answers = RecordedAnswers(policy.acting)
        self._waiting: list[RecordedHook] = []
        self._names_modules = True
        self._root = ""
        self._hosts: dict[str, SessionCoordinator] = {}
        self._mountings: dict[str, Mounting] = {}
        self._parents: dict[str, str] = {}
        self._process: Any = None
        self._state: dict[str, Any] = {}
        self._agents: dict[str, list[str]] = {}
        self._counts: dict[str, HookCounts] = {}
        self._own: set[str] = set()
        self._is_masked = False
        self._plan = policy.material.bundle.mount_plan

    def scrub(self, value: Any) -> Any:
        """A value as the trail of such a session would have it."""
        host = self._hosts.get(self._root)
        return value if host is None else host.scrub(value)

    # What a trail tells of, besides events

    async def add_hook(self, hook: RecordedHook) -> None:
        """A hook was registered; those of the policy's modules are mounted from the policy."""
        # Trails of earlier versions do not say which module a hook came from.
        if hook.name.startswith("hooks-") and not hook.module:
            self._names_modules = False
        if not self._hosts:
            self._waiting.append(hook)
        elif self.recorded_answers.stands_for(hook, names_modules=self._names_modules):
            self.recorded_answers.add(hook, self._hosts[self._root].hooks)

    async def add_note(self, note: Note) -> None:
        """A session started or ended; one that another process goes on with mounts hooks anew."""
        match note.body:
            case SessionStarted(parent=parent):
                self._parents[note.session] = parent or ""
            case SessionEnded():
                await self._end(note.session)
            case LogOpened(process=process):
                before = self._process
                self._process = process
                if before != process and self._hosts:  # the one before it was killed
                    await self._end(self._root)

    # Events

    async def has_listeners(self, event: RecordedEvent) -> bool:
        """Whether any hook listens to the event; opens its session if that is new."""
        self._clock.set(event.time)
        host = self._hosts.get(event.session) or await self._open(event)
        if event.event == AGENT_SPAWN:
            spawned = str(event.left.get("agent_name") or "")
            self._agents.setdefault(event.session, []).append(spawned)
        return host.hooks.has_listeners(event.event)

    def listens(self, name: str) -> bool:
        """Whether events of a name matter to any session so far; True if none is open."""
        if not self._hosts or name == AGENT_SPAWN:
            return True
        return any(host.hooks.has_listeners(name) for host in self._hosts.values())

    async def judge(
        self, event: RecordedEvent, data: dict[str, Any], left: dict[str, Any]
    ) -> Verdict:
        """Put an event before the hooks, at the time that it happened."""
        host = self._hosts.get(event.session) or await self._open(event)
        self._clock.set(event.time)
        self._is_masked = bool(event.masked)
        self.recorded_answers.set_event(event, data, left)
        given = {**data, "session_id": event.session}
        run = await host.hooks.dispatch(event.event, given, self._watch)
        run.data = {key: one for key, one in run.data.items() if key in data or key not in _ADDED}
        return read_dispatch(run, self._looks.pop_all(), self.recorded_answers.doubt)

    # Sessions

    async def _open(self, event: RecordedEvent) -> SessionCoordinator:
        if not self._hosts:
            return await self._open_root(event.session)
        parent = self._parents.get(event.session) or self._root
        above = self._hosts.get(parent) or self._hosts[self._root]
        waiting = self._agents.get(parent) or [""]
        entries = self._policy.agents.get(waiting.pop(0), ())
        host = self._make_host(event.session, above)
        await self._mount(host, entries)
        return host

    async def _open_root(self, session: str) -> SessionCoordinator:
        self._root = session
        self._policy.forget_modules()
        host = self._make_host(session, None)
        host.session_state.update(self._state)
        standing = [
            one
            for one in self._waiting
            if self.recorded_answers.stands_for(one, names_modules=self._names_modules)
        ]
        # Of equal priority, who was registered first runs first: tools before hooks.
        first = min((one.id for one in self._waiting if one not in standing), default=0)
        for hook in (one for one in standing if one.id < first):
            self.recorded_answers.add(hook, host.hooks)
        await self._mount(host, self._policy.entries)
        for hook in (one for one in standing if one.id >= first):
            self.recorded_answers.add(hook, host.hooks)
        self._waiting = []
        return host

    def _make_host(self, session: str, parent: SessionCoordinator | None) -> SessionCoordinator:
        above = None if parent is None else parent.hooks
        registry = RecordedTimeRegistry(self._clock, above, read_mode(self._plan))
        host = SessionCoordinator(
            registry,
            display_system=_SilentDisplay(),
            config=self._plan,
            session_id=session,
            parent_id=None if parent is None else parent.session_id,
        )
        host.register_capability("session.working_dir", self._folder)
        host.register_capability("session.snapshot", self._policy.material.snapshot)
        host.register_capability(CAPABILITY, self._clock)
        self._hosts[session] = host
        return host

    async def _mount(self, host: SessionCoordinator, entries: tuple[ModuleEntry, ...]) -> None:
        mounting = Mounting(host, self._loader.copy())
        self._mountings[str(host.session_id)] = mounting
        for entry in entries:
            wanted = entry.model_copy(update={"required": False})
            mounted = await mounting.mount("hooks", wanted)
            if mounted.failure is not None:
                raise PolicyError(f"The policy cannot be tried: {mounted.failure}")
            for handler in mounted.handlers:
                self._own.add(handler.name)
                if entry.module in self._kept:
                    handler.handler = self._let_recall(handler.name, handler.handler)
        await mounting.ready()

    def _let_recall(self, name: str, own: Handler) -> Handler:
        @wraps(own)
        async def answer(event: str, data: dict[str, Any]) -> Any:
            before = len(self._looks.seen)
            try:
                answer = own(event, data)
                answer = await answer if isawaitable(answer) else answer
            except Exception:
                if len(self._looks.seen) == before:
                    raise
            looked = len(self._looks.seen) > before
            known = self.recorded_answers.recall(name, data) if looked or self._is_masked else None
            if known is not None:
                del self._looks.seen[before:]
                return known
            if looked:
                raise MissingValue(f"the trail has no answer of {name} either")
            return answer

        return answer

    async def _end(self, session: str) -> None:
        """Unmount the hooks of a session, and with the first session all; its state is kept."""
        if session != self._root:
            await self._unmount(session)
            return
        self._state = dict(self._hosts[session].session_state) if session in self._hosts else {}
        for one in reversed(list(self._hosts)):
            await self._unmount(one)

    async def _unmount(self, session: str) -> None:
        host = self._hosts.pop(session, None)
        mounting = self._mountings.pop(session, None)
        if host is None or mounting is None:
            return
        await mounting.unmount_all()
        for name, counts in host.hooks.count().items():
            self._counts.setdefault(name, HookCounts()).add(counts)
        await host.cleanup()

    async def close(self) -> dict[str, HookCounts]:
        """Unmount everything; returns what each hook of the policy has done."""
        for one in reversed(list(self._hosts)):
            await self._unmount(one)
        return {name: counts for name, counts in self._counts.items() if name in self._own}


_ADDED = ("timestamp", "session_id")
"""What the registry tells hooks of every event, and records do not repeat."""
