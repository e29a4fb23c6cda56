"""Questions that another program asks its own person: what came of them is learnt from evidence."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol

from amplifier_core import events, payloads
from amplifier_core.approval import ApprovalQuestion
from amplifier_core.events import DataT, EventOf
from amplifier_core.hook_counts import HookCounts
from amplifier_core.records import ApprovalOutcome
from amplifier_core.trail import Trail
from amplifier_core.utils.time import clock

MOST = 512
"""How many are kept in mind: a program does not tell what came of each."""

State = Literal["allowed", "not_run"]
"""What evidence shows: it ran, or it did not. Without evidence, it is not known."""


class Notify(Protocol):
    """Tells hooks of an event that nothing can undo."""

    async def __call__(self, event: EventOf[DataT], data: DataT) -> None: ...


@dataclass(slots=True)
class Handover:
    """One question that another program asks."""

    to: str
    call: str
    tool: str
    hook: str
    event: str
    digest: str
    prompt: str
    agent: str = ""
    goes_on: bool = True
    """Whether what was asked about went on to the other program, or waits here for the answer."""
    at: str = ""
    """When it was handed over."""
    lost: bool = False
    """Whether the other program has started anew since: that it goes on shows nothing of this."""
    not_run: bool = False
    """Whether evidence showed that it did not run; a result that comes later corrects that."""
    counted: bool = True
    """Whether the figures of this process have what is known of it; not if an earlier one asked."""

    @property
    def known(self) -> str:
        """What is known of it so far."""
        if self.not_run:
            return "not_run"
        return "not_known"


class Handovers:
    """The questions of a session that were handed over, until it is known that they were allowed.

    Nothing here decides: whoever sees what the other program does says what that shows.
    """

    def __init__(
        self, trail: Trail, notify: Notify, find_counts: Callable[[str, str], HookCounts]
    ) -> None:
        self._trail = trail
        self._notify = notify
        self._find_counts = find_counts
        self._pending: list[Handover] = []
        self._now = clock()

    def add(self, question: ApprovalQuestion, to: str, goes_on: bool) -> Handover:
        """Keep a question in mind; the oldest are forgotten, and stay not known."""
        handover = Handover(
            to=to,
            call=question.tool_call_id,
            tool=question.tool_name or "",
            hook=question.hook,
            event=question.event,
            digest=question.digest,
            prompt=question.prompt,
            agent=question.agent_id,
            goes_on=goes_on,
            at=self._now(),
        )
        self._pending.append(handover)
        del self._pending[:-MOST]
        return handover

    def find(self, question: ApprovalQuestion) -> Handover | None:
        """The very same question, if it was handed over before."""
        return next((one for one in self._pending if _is_same(one, question)), None)

    def forget(self, handover: Handover) -> None:
        """A question has been answered."""
        self._pending.remove(handover)

    def list_about(self, call: str) -> list[Handover]:
        """The questions about a call, and about parts of it."""
        parts = f"{call}:"
        return [one for one in self._pending if one.call == call or one.call.startswith(parts)]

    def list_calls(self) -> list[str]:
        """The calls that were asked about, and are not known to have run."""
        return list(dict.fromkeys(one.call for one in self._pending))

    async def conclude(
        self, evidence: str, agent: str | None = None, among: Collection[str] = (events.TOOL_PRE,)
    ) -> None:
        """What was asked about at these events has not run so far, nor will: of all agents, or of
        one."""
        for one in list(self._pending):
            fits = one.event in among and agent in (None, one.agent)
            if fits and one.goes_on and not one.lost:
                await self._learn(one, "not_run", evidence)

    async def learn_event(self, event: str, evidence: str) -> None:
        """What was asked about at an event that is no tool call has happened."""
        for one in list(self._pending):
            if one.event == event and one.goes_on and not one.not_run:
                await self._learn(one, "allowed", evidence)

    def lose(self) -> None:
        """The other program has restarted: the outcome of open questions stays unknown."""
        for one in self._pending:
            one.lost = True

    async def withdraw(self, event: str, call: str) -> None:
        """What was asked about has been denied here: it never came to the other program."""
        for one in list(self._pending):
            if (one.event, one.call) == (event, call) and one.goes_on:
                await self._learn(one, "not_run", "denied")

    async def learn(self, call: str, state: State, evidence: str) -> None:
        """Record what is known now of all questions about a call, and what shows it.

        That a call did not run is taken back when its result comes after all; that it ran is final.
        """
        for one in [one for one in self._pending if one.call == call]:
            await self._learn(one, state, evidence)

    async def _learn(self, handover: Handover, state: State, evidence: str) -> None:
        if handover not in self._pending or (state == "not_run" and handover.not_run):
            return
        known = handover.known
        counts = self._find_counts(handover.hook, handover.event)
        counts.count_outcome(state, known if handover.counted else "")
        handover.counted = True
        if state == "allowed":
            self._pending.remove(handover)
        else:
            handover.not_run = True
        outcome = ApprovalOutcome(
            state=state,
            evidence=evidence,
            settles=known,
            id=handover.call,
            handed_over_at=handover.at,
            to=handover.to,
            tool=handover.tool,
            digest=handover.digest,
        )
        self._trail.write(outcome, event=handover.event, hook=handover.hook)
        await self._announce(handover, state)

    async def _announce(self, handover: Handover, state: State) -> None:
        about: payloads.ApprovalDeniedData = {
            "hook": handover.hook,
            "prompt": handover.prompt,
            "digest": handover.digest,
            "decision": None,
            "by": handover.to,
            "how": "handed_over",
        }
        if state == "allowed":
            await self._notify(events.APPROVAL_GRANTED, payloads.ApprovalGrantedData(**about))
        else:
            await self._notify(events.APPROVAL_DENIED, about)

    # For another process that goes on with the session

    def save(self) -> list[dict[str, Any]]:
        """As values that JSON can hold."""
        return [asdict(one) for one in self._pending]

    def load(self, saved: Any) -> None:
        """What an earlier process kept in mind; what is not one is left out."""
        for one in saved if isinstance(saved, list) else ():
            try:
                self._pending.append(Handover(**{**one, "counted": False}))
            except TypeError:
                continue
        del self._pending[:-MOST]


def _is_same(handover: Handover, question: ApprovalQuestion) -> bool:
    return (handover.call, handover.hook, handover.digest, handover.prompt) == (
        question.tool_call_id,
        question.hook,
        question.digest,
        question.prompt,
    )
