"""One session of another agent: its events through our hooks, and what the agent is to do."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amplifier_core import events
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.models import Level
from amplifier_core.payloads import EndReason
from amplifier_core.records import AnswerIgnored
from amplifier_core.utils import describe_error
from amplifier_core.utils.calling import run_with_timeout
from amplifier_hooks.agent.session.assembled import AssembledSession
from amplifier_hooks.coding_agents.dialects import Dialect
from amplifier_hooks.coding_agents.dialects.writing import list_ignored
from amplifier_hooks.coding_agents.sessions import handlers, transcripts, watch
from amplifier_hooks.external.conversation import EventContext, current_event
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.session import ExternalSession
from amplifier_hooks.external.verdicts import Verdict
from amplifier_hooks.trails.bodies import GuardAlarm

if TYPE_CHECKING:
    from amplifier_hooks.agent.session.remote_approval import Elsewhere


class AgentDisplay:
    """Shows messages through the agent: they go out with the answer to the event."""

    def __init__(self) -> None:
        self._early: list[str] = []

    def show_message(self, message: str, level: Level, source: str = "hook") -> None:
        """Keep a message until the agent can be given it."""
        who = source.removeprefix("hook:")
        text = message if level == "info" else f"{level}: {who}: {message}"
        event = current_event.get()
        (self._early if event is None else event.notes).append(text)

    def pop_early(self) -> list[str]:
        """What was shown while no event was under way."""
        texts = self._early
        self._early = []
        return texts


logger = logging.getLogger(__name__)

STATE = "guest"
TOLD = "guest_told"
"""In the state of a session: what was said at its start."""

STOPPED = "A hook ended the run."
ENDED = "The session ended while this was judged, so there is no record of it."
_SETTINGS_CHANGED = "guest:config_change"
"""Claude Code is about to use settings that have changed; a denial keeps it at those it has."""
GUARD = "guard"
"""Who denies what comes after the settings that guard the agent were changed."""
_ALARM_WORDS = {
    "changed": "the guard of this agent was changed, and everything is denied",
    "restored": "the guard of this agent is again what it was; this was wrong",
    "off": "hooks are switched off here",
    "unseen": "this session is NOT GUARDED",
}
DEADLINE = "deadline"
"""Who denies what hooks did not judge in time."""
_KEPT_TEXTS = 64
_RELOAD_EVERY = 2.0
_PATIENCE = 10.0


class AgentSession:
    """Takes the events of one agent session, several at once if the agent does that."""

    def __init__(
        self,
        dialect: Dialect,
        external: ExternalSession,
        session: AssembledSession,
        display: AgentDisplay,
        people: Elsewhere | None = None,
        start: Path | None = None,
        *,
        alone: bool = False,
    ) -> None:
        self.dialect = dialect
        self.external = external
        self.session = session
        self.people = people
        self.alone = alone
        """Whether nobody sits in front of it, though it would ask them."""
        self.blocked_stops = 0
        self.going_on = ""
        self.blocked_agents: dict[str, int] = {}
        self._display = display
        self._texts: list[str] = []
        self._notes: list[str] = []
        self._under_way = 0
        self._is_idle = asyncio.Event()
        self._is_idle.set()
        self._checked = 0.0
        self._alarms: list[str] = []
        self._unseen = ""
        self._tells_calls = False
        self._known_transcript: int | None = None
        self._watch = None if start is None else self._open_watch(start)
        self._load_state()
        session.coordinator.register_capability("session.keep_working", self._keep_working)

    @property
    def coordinator(self) -> SessionCoordinator:
        """Of the session behind it."""
        return self.session.coordinator

    @property
    def last_used(self) -> float:
        """When the agent last told something, by the monotonic clock."""
        return self.external.last_used

    @property
    def is_busy(self) -> bool:
        """Whether an event is being handled."""
        return self._under_way > 0

    async def handle(
        self,
        incoming: Incoming,
        dialect: Dialect | None = None,
        seconds: float | None = None,
        host: tuple[str, ...] = (),
    ) -> Verdict:
        """Take one event through the hooks; the verdict is what the agent is to do.

        `dialect` is the form of this event, if it is not the one that the session began with.
        What is not judged within so many seconds is denied, and the trail says so. `host` is the
        command line of the agent, where it matters.
        """
        self.external.use()
        await self._reload_if_changed(incoming)
        dialect = dialect or self.dialect
        row = dialect.events[incoming.native]
        event = EventContext(
            row.powers,
            event=incoming.event,
            agent_id=incoming.agent_id,
            folder=incoming.cwd,
            host=host,
        )
        token = current_event.set(event)
        self._begin()
        try:
            handle = handlers.HANDLERS.get(incoming.event, handlers.pass_on)
            async with asyncio.timeout(seconds) as limit:
                await handlers.learn_from(self, incoming)
                await self._look_at_guard()
                await self._look_at_transcript(incoming)
                if self._alarms and (row.gate or incoming.event == _SETTINGS_CHANGED):
                    verdict = await self._refuse(incoming, event)
                else:
                    verdict = await handle(self, incoming, event)
                await self._say_ignored(dialect, incoming, verdict, event)
        except TimeoutError:
            if not limit.expired():
                raise
            verdict = await self._end_late(incoming, event, seconds, gate=row.gate)
        finally:
            self._finish()
            current_event.reset(token)
        if self.coordinator.cancellation.is_cancelled:
            verdict = replace(verdict, stop=STOPPED)
        verdict = self._add_what_waits(verdict, event)
        return await self._record(verdict, incoming, event, gate=row.gate)

    async def _record(
        self, verdict: Verdict, incoming: Incoming, event: EventContext, *, gate: bool
    ) -> Verdict:
        """Wait until the trail is on disk; what is not recorded is denied at a gate."""
        unrecorded = ENDED if self.external.has_ended else await self._wait_for_disk()
        if unrecorded is not None and gate:
            verdict = replace(verdict, decision="deny", reason=unrecorded)
            await self._note_denial(incoming, event, verdict)
        return verdict

    async def _say_ignored(
        self, dialect: Dialect, incoming: Incoming, verdict: Verdict, event: EventContext
    ) -> None:
        """Say which answers the agent will not obey: nobody may take them for carried out."""
        ignored = list_ignored(dialect, incoming, verdict) + ["modify"] * event.changed
        why = f"{dialect.name} takes no such answer at {incoming.native}"
        report = self.coordinator.report_ignored
        for handler, result, *_ in event.answers:
            if result.action in ignored or (result.action == "ask_user" and "deny" in ignored):
                said = result.reason or result.approval_prompt
                await report(incoming.event, handler, result.action, said, why)
            if result.user_message and not dialect.can("tell"):
                unseen = f"{dialect.name} shows no messages of hooks; the trail has it"
                await report(incoming.event, handler, "user_message", result.user_message, unseen)

    async def _look_at_guard(self) -> None:
        """Compare the settings that guard the agent; a change is said, and closes every gate."""
        if self._watch is None:
            return
        found = await asyncio.to_thread(self._watch.look)
        if found != self._alarms:
            self._say_alarm("changed" if found else "restored", found or self._alarms)
        self._alarms = found

    async def _look_at_transcript(self, incoming: Incoming) -> None:
        """Say so if the agent runs tools and tells us of none: then nobody guards this session."""
        if self._known_transcript is None:
            self._known_transcript = transcripts.measure(incoming.transcript)
        self._tells_calls |= incoming.event == events.TOOL_PRE
        due = incoming.event in (events.ORCHESTRATOR_COMPLETE, events.PROMPT_SUBMIT)
        if self._tells_calls or self._unseen or not due:
            return
        name = self.dialect.name
        path = incoming.transcript
        start = self._known_transcript
        found = await asyncio.to_thread(transcripts.list_calls, name, path, start)
        if found:
            self._unseen = f"{name} ran tools ({', '.join(found)}) and told of none before"
            self._say_alarm("unseen", [self._unseen])

    def _say_alarm(self, kind: str, found: list[str]) -> None:
        """Into the trail, to the person, and into the log of the process."""
        alarm = GuardAlarm(agent=self.dialect.name, kind=kind, found=tuple(found))
        self.coordinator.trail.write(alarm)
        text = f"amplifier: {_ALARM_WORDS[kind]}: {'; '.join(found)}"
        self._notes.append(text)
        logger.warning("%s: %s", self.session.session_id, text)

    async def _refuse(self, incoming: Incoming, event: EventContext) -> Verdict:
        """Deny what comes while the guard is not what it was."""
        agent = self.dialect.name
        reason = (
            f"The guard of this agent was changed since the session began: "
            f"{'; '.join(self._alarms)}. Nothing is allowed until that is undone, or the person "
            f"runs: amplifier guard {agent}"
        )
        outcome = await self.coordinator.deny(incoming.event, GUARD, reason)
        verdict = Verdict(decision="deny", reason=outcome.denial)
        event.denied_by = GUARD
        event.call_id = incoming.call_id or event.call_id
        await self._note_denial(incoming, event, verdict)
        return verdict

    def list_alarms(self) -> list[str]:
        """What is wrong with the guard of this agent now."""
        denied = [f"everything is denied: {one}" for one in self._alarms]
        return [*denied, *([f"NOT GUARDED: {self._unseen}"] if self._unseen else [])]

    async def _end_late(
        self, incoming: Incoming, event: EventContext, seconds: float | None, *, gate: bool
    ) -> Verdict:
        reason = f"the hooks did not answer within {seconds or 0:.1f} seconds"
        outcome = await self.coordinator.deny(incoming.event, DEADLINE, reason)
        if not gate:
            return Verdict()
        verdict = Verdict(decision="deny", reason=outcome.denial)
        event.denied_by = DEADLINE
        await self._note_denial(incoming, event, verdict)
        return verdict

    async def _note_denial(self, incoming: Incoming, event: EventContext, verdict: Verdict) -> None:
        if incoming.event == events.TOOL_PRE and event.call_id:
            await self.external.tools.note_denial(incoming, event, verdict.reason)

    async def _wait_for_disk(self) -> str | None:
        """Keep what was judged before the agent acts on it; returns why not, if that is fatal."""
        trail = self.coordinator.trail
        try:
            await run_with_timeout(trail.sink.commit(), _PATIENCE)
        except Exception as error:  # noqa: BLE001 - not on disk, whatever it was
            why = f"The audit trail takes no records: {describe_error(error)}"
            return why if trail.sink.on_failure != "warn" else None
        return None

    async def _reload_if_changed(self, incoming: Incoming) -> None:
        """Use changed files that a person has trusted, when nothing is under way."""
        reloader = self.session.reloader
        now = time.monotonic()
        due = incoming.event == events.PROMPT_SUBMIT or now - self._checked > _RELOAD_EVERY
        if reloader is None or self._under_way or not due:
            return
        self._checked = now
        self._begin()
        try:
            await self.session.check_files()
        finally:
            self._finish()

    def _begin(self) -> None:
        self._under_way += 1
        self._is_idle.clear()

    def _finish(self) -> None:
        self._under_way -= 1
        if not self._under_way:
            self._is_idle.set()

    def _add_what_waits(self, verdict: Verdict, event: EventContext) -> Verdict:
        """Give the agent what hooks said, or keep it for the next event where that is possible."""
        self._texts += self.external.take_texts([*verdict.context, *event.texts])
        self._notes += [*self._display.pop_early(), *event.notes]
        context: tuple[str, ...] = ()
        notes: tuple[str, ...] = ()
        if "inject" in event.powers:
            context = tuple(self._texts)
            self._texts = []
        if "tell" in event.powers:
            notes = tuple(self._notes)
            self._notes = []
        del self._texts[:-_KEPT_TEXTS], self._notes[:-_KEPT_TEXTS]
        return replace(verdict, context=context, notes=notes)

    def say_at_start(self, text: str) -> None:
        """Say something once in the session: to the person, or else to the agent."""
        state = self.coordinator.session_state
        if state.get(TOLD) != text:
            state[TOLD] = text
            (self._notes if self.dialect.can("tell") else self._texts).append(text)

    def _keep_working(self, reason: str, event: str = events.ORCHESTRATOR_COMPLETE) -> str | None:
        under_way = current_event.get()
        why = handlers.refuse_to_go_on(self, under_way, event)
        if under_way is not None and why is None:
            under_way.go_on.append(reason)
        return why

    # State

    def read_evidence(self) -> dict[str, Any]:
        """What is known of calls that were denied, and of questions that were handed over."""
        return self.external.tools.save_evidence()

    async def read_state(self) -> dict[str, Any]:
        """Everything another process needs to go on."""
        own = {
            **self.external.save(),
            "texts": self._texts,
            "notes": self._notes,
            "blocked_stops": self.blocked_stops,
            "blocked_agents": self.blocked_agents,
            "going_on": self.going_on,
            "watch": None if self._watch is None else self._watch.save(),
            "transcript": self._known_transcript,
            "tells_calls": self._tells_calls,
            "unseen": self._unseen,
        }
        self.coordinator.session_state[STATE] = own
        return await self.external.read_state()

    def _open_watch(self, start: Path) -> watch.Watch:
        """As the session began, also if that was in another process."""
        saved = self.coordinator.session_state.get(STATE)
        seen = saved.get("watch") if isinstance(saved, dict) else None
        found = watch.Watch(self.dialect.name, start, seen)
        if seen is None and (off := found.list_switched_off()):
            self._say_alarm("off", off)
        return found

    def _load_state(self) -> None:
        saved = self.coordinator.session_state.get(STATE)
        if not isinstance(saved, dict):
            return
        self.external.load(saved)
        self._texts += _read_texts(saved.get("texts"))
        self._notes += _read_texts(saved.get("notes"))
        stops = saved.get("blocked_stops")
        self.blocked_stops = stops if isinstance(stops, int) else 0
        self.going_on = str(saved.get("going_on") or "")
        self._unseen = str(saved.get("unseen") or "")
        self._tells_calls = bool(saved.get("tells_calls", True))  # an older version did not say
        known = saved.get("transcript")
        self._known_transcript = known if isinstance(known, int) else None
        agents = saved.get("blocked_agents")
        for agent, kept in agents.items() if isinstance(agents, dict) else ():
            self.blocked_agents[agent] = kept if isinstance(kept, int) else 0

    # End

    async def wait_until_idle(self, seconds: float) -> None:
        """Wait until nothing is under way, but not longer than that."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._is_idle.wait()

    async def conclude(self) -> None:
        """The agent's session is about to be over: what it has not run by now, it never will."""
        await self.coordinator.handovers.conclude("session end")

    async def end(self, reason: EndReason) -> None:
        """The agent's session is over."""
        self.external.has_ended = True
        self._say_unread()
        await self.external.end(reason)

    def _say_unread(self) -> None:
        """What still waits has not reached anybody; a resumed session would pass it on."""
        waits = [("inject_context", self._texts)]
        waits += [("user_message", self._notes)] if self.dialect.can("tell") else []
        for action, texts in waits:
            if texts:
                why = f"the session ended before {self.dialect.name} could be given it"
                ignored = AnswerIgnored(action=action, reason="\n\n".join(texts), why=why)
                self.coordinator.trail.write(ignored)
                logger.warning("%d texts of hooks (%s) had no effect: %s", len(texts), action, why)

    async def suspend(self) -> None:
        """Another process will go on with it: nothing ends but this."""
        self.external.has_ended = True
        if self.people is not None:
            self.people.leave_open()
        await self.external.suspend()


def _read_texts(values: Any) -> list[str]:
    return [one for one in values or () if isinstance(one, str)] if isinstance(values, list) else []
