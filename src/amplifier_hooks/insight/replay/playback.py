"""The state of a replay: how far it has come, what differs, and who stands for whom."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from datetime import datetime
from typing import Any

from amplifier_core.events import canonical
from amplifier_core.utils.nested import rewrite
from amplifier_hooks.insight.replay.comparison import (
    Difference,
    Matcher,
    Totals,
    compare,
    find_doubts,
    is_compared,
    is_quiet,
    name_item,
    note_gone,
    note_new,
)
from amplifier_hooks.insight.replay.recording import Recording, Run
from amplifier_hooks.trails import RecordedCall, RecordedEvent

MOST_DIFFERENCES = 100
_MOST_ROUNDS = 1_000
"""How often others may go on before an event happens out of its order."""

current_call: ContextVar[RecordedCall | None] = ContextVar("amplifier_replayed_call", default=None)
"""The recorded tool call that is being replayed in this task."""


class Playback:
    """Follows a replay along its recording."""

    def __init__(self, recording: Recording, *, keep_going: bool = False) -> None:
        self.recording = recording
        self.keep_going = keep_going
        self.differences: list[Difference] = []
        self.totals = Totals()
        self.stopped = False
        self.on_stop: Callable[[], object] = lambda: None
        self.cancel: Callable[[bool], Any] | None = None
        """Asks the session to stop, at once or not."""
        self._hanging: list[int] = []
        self._doubts = _collect_doubts(recording)
        self._run: Run | None = None
        self._matchers: dict[str, Matcher] = {}
        self._names = {recording.root: recording.root}
        self._taken: set[str] = {recording.root}
        self._requests: dict[str, int] = {}
        self._cancels: deque[RecordedEvent] = deque()
        self._time = recording.header.started
        for session, items in recording.sessions.items():
            if session != recording.root:
                self._matchers[session] = Matcher(items)

    def begin(self, run: Run) -> None:
        """Follow what the next process did."""
        self._run = run
        self._matchers[self.recording.root] = Matcher(run.items)
        self._cancels = deque(
            one
            for one in run.items
            if isinstance(one, RecordedEvent) and one.event == "cancel:requested"
        )

    # Names

    def find_session(self, session: str | None) -> str:
        """The recorded session that a session of this replay stands for."""
        if session not in self._names:
            self._names[str(session)] = self._find_child()
        return self._names[str(session)]

    def _find_child(self) -> str:
        """The sub-agent that the call of this task had started, by the records of that call."""
        call = current_call.get()
        if call is None:
            return ""
        end = find_end(self.recording, call)
        for session, parent in self.recording.parents.items():
            first = self.recording.sessions[session][0].sequence
            near = parent == call.session and call.sequence < first < end
            if near and session not in self._taken and self._fits(session, call):
                self._taken.add(session)
                return session
        return ""

    def _fits(self, child: str, call: RecordedCall) -> bool:
        """Whether the first prompt of a sub-agent is the task of that call."""
        prompt = next(self.recording.list_events(child, "prompt:submit"), None)
        tasks = [
            str((one.left.get("tool_input") or {}).get("task") or "")
            for one in self.recording.list_events(call.session, "tool:pre")
            if one.data.get("tool_call_id") == call.call_id
        ]
        return prompt is None or any(task in str(prompt.data.get("prompt")) for task in tasks)

    def translate(self, value: Any) -> Any:
        """A value of this replay with the recorded ids of sessions in the place of new ones."""
        return rewrite(value, lambda text, _: self._names.get(text, text), keys=False)

    # Following

    def compare_next(self, item: Any) -> None:
        """Compare something that happens now with what happened then."""
        if self.stopped or not is_compared(item):
            return
        matcher = self._matchers.get(item.session) or Matcher(())
        then = matcher.match(item)
        if then is None and self.keep_going:
            self._note_all(matcher.skip_to(item))
            then = matcher.match(item)
        if then is None:
            self._miss(item, matcher.next)
            return
        self._time = then.time
        if isinstance(then, RecordedCall):
            current_call.set(then)
        if isinstance(then, RecordedEvent) and then.event == "provider:request" and not then.again:
            self._requests[then.session] = then.sequence
        self.totals.count(then)
        if difference := compare(then, item):
            self._judge(difference, then, item)

    def _judge(self, difference: Difference, then: Any, now: Any) -> None:
        """What a missing value may explain, and nothing comes of, is a doubt and no difference."""
        doubts = difference.doubts or self._doubts.get((then.session, _find_call(then)), ())
        if doubts and _leads_on_alike(then, now):
            self.note_doubt(then, doubts)
        else:
            self._note(difference)

    def note_doubt(self, then: Any, doubts: Iterable[str]) -> None:
        """Note that an item could not be compared fully."""
        self.totals.doubts.setdefault(then.sequence, f"{name_item(then)}: {'; '.join(doubts)}")

    def _miss(self, item: Any, upcoming: Any) -> None:
        if upcoming is None and self._run is not None and self._run.end == "broken off":
            self.stop()  # the process died here: nobody knows what came next
        elif is_quiet(item) and upcoming is not None and not is_quiet(upcoming):
            self._note(note_gone(upcoming))
        else:
            self._note(note_new(item, upcoming, item.session))

    def finish_run(self) -> None:
        """The process is over: what has not happened again will not."""
        for matcher in self._matchers.values() if not self.stopped else ():
            if matcher.next is not None and self._is_over(matcher.next):
                self._note(note_gone(matcher.next))
                return

    def _is_over(self, item: Any) -> bool:
        last = self._run.items[-1].sequence if self._run is not None and self._run.items else 0
        return (
            bool(item.sequence <= last) and self._run is not None and self._run.end != "broken off"
        )

    def _note_all(self, gone: list[Any]) -> None:
        for one in gone:
            self._note(note_gone(one))

    def _note(self, difference: Difference) -> None:
        self.differences.append(difference)
        if not self.keep_going or len(self.differences) >= MOST_DIFFERENCES:
            self.stop()

    def stop(self) -> None:
        """Go no further."""
        if not self.stopped:
            self.stopped = True
            self.on_stop()

    # For substitutes

    def find_event(self, session: str, event: str, data: Mapping[str, Any]) -> RecordedEvent | None:
        """The recorded event that hooks are being told of."""
        matcher = self._matchers.get(session)
        call = data.get("tool_call_id")
        near = [] if matcher is None else matcher.list_near()
        found = [
            one
            for one in near
            if isinstance(one, RecordedEvent)
            and canonical(one.event) == canonical(event)
            and one.data.get("tool_call_id") == call
        ]
        # Hooks are not told that an input which a person has edited is judged again.
        return next(iter(found), None)

    def list_left(self, session: str) -> list[Any]:
        """What has not happened again yet."""
        matcher = self._matchers.get(session)
        return [] if matcher is None else matcher.left

    def is_left(self, event: RecordedEvent) -> bool:
        """Whether an event has not happened again yet: a hook may have seen to it."""
        return any(one is event for one in self.list_left(event.session))

    def find_request(self, session: str) -> int | None:
        """The record of the request to the model that is under way."""
        return self._requests.get(session)

    def get_time(self) -> float:
        """The recorded time, in seconds since 1970."""
        upcoming = [matcher.next for matcher in self._matchers.values() if matcher.next is not None]
        later = [one.time for one in upcoming if one.time >= self._time]
        try:
            return datetime.fromisoformat(min(later, default=self._time)).timestamp()
        except ValueError:
            return 0.0

    async def wait(self, begin: int, end: int | None) -> None:
        """Let happen what happened between two records; for ever if the second never came."""
        limit = float("inf") if end is None else end
        while self._cancels and begin < self._cancels[0].sequence < limit:
            wish = self._cancels.popleft()
            await self.let_happen(wish.session, wish.sequence)
            if self.cancel is not None and self.is_left(wish):
                await self.cancel(wish.data.get("immediate") is True)
        if end is None:
            self._hanging.append(begin)
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                self._hanging.remove(begin)

    async def let_happen(self, session: str, sequence: int) -> None:
        """Let others do what they had done before a record."""
        for _ in range(_MOST_ROUNDS):
            left = self.list_left(session)
            if self.stopped or not left or left[0].sequence >= sequence:
                return
            await asyncio.sleep(0)

    @property
    def hangs(self) -> bool:
        """Whether something waits that was broken off then, and not by the time limit of a turn."""
        errors = self.recording.list_events(self.recording.root, "error:orchestration")
        begin = min(self._hanging, default=0)
        limits = any(_is_timeout(one) and one.sequence > begin for one in errors)
        return bool(self._hanging) and not limits


def find_end(recording: Recording, call: RecordedCall) -> float:
    """The record of the end of a call; ids may be used again later."""
    for one in recording.sessions[call.session]:
        same = isinstance(one, RecordedCall) and one.call_id == call.call_id
        if same and one.stage == "finished" and one.sequence > call.sequence:
            return float(one.sequence)
    return float("inf")


def _find_call(item: Any) -> str:
    if isinstance(item, RecordedEvent):
        return str(item.data.get("tool_call_id"))
    return str(getattr(item, "call_id", ""))


def _collect_doubts(recording: Recording) -> dict[tuple[str, str], tuple[str, ...]]:
    """What is missing of the input of each call: everything that follows from it is in doubt."""
    return {
        (session, _find_call(event)): tuple(doubts)
        for session in recording.sessions
        for event in recording.list_events(session, "tool:pre")
        if (doubts := find_doubts(event))
    }


def _is_timeout(event: RecordedEvent) -> bool:
    return (event.data.get("error") or {}).get("type") == "TimeoutError"


def _leads_on_alike(then: Any, now: Any) -> bool:
    """Whether the session goes on the same way from both."""
    if not isinstance(then, RecordedEvent):
        return True
    stops = {"deny", "ask_user"}
    return then.action == now.action or not stops & {then.action, now.action}
