"""Questions that another program asked its own person, as trails tell of them.

Only evidence says what came of one. A trail has a record of that; older ones say `approval_decided`
and "allowed" at the moment when a question was handed over, and that a call has started which may
never have run. Both are read here as what they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeVar

from amplifier_core.records import SessionEnded
from amplifier_hooks.trails.recorded import (
    Item,
    Note,
    RecordedApproval,
    RecordedCall,
    RecordedEvent,
)

MOST = 4_096
"""Questions that are kept in mind; a trail may lack the end of any number."""

_RAN = frozenset({"returned", "raised", "interrupted"})
_TURN_ENDS = {"prompt:submit": "next prompt", "orchestrator:complete": "stop"}
HEARD = frozenset({"tool:pre", *_TURN_ENDS})
"""The events whose data tell of questions."""

Place = tuple[str, str]
"""A session, and a call in it without its parts."""

T = TypeVar("T")
K = TypeVar("K")


@dataclass(slots=True)
class _Handed:
    """A question that was handed over, and is not known to have been allowed."""

    step: RecordedApproval
    is_older: bool
    agent: str
    state: str = "not_known"


class HandoverFollower:
    """Takes the items of a trail, and keeps in mind which questions were asked and handed over."""

    def __init__(self) -> None:
        self._asked: dict[tuple[str, str, str], list[RecordedApproval]] = {}
        self._handed: dict[Place, list[_Handed]] = {}
        self._agents: dict[Place, str] = {}

    def take(self, item: Item) -> Iterator[Item]:
        """What an item is worth: itself, nothing, or also what it tells of earlier questions."""
        if isinstance(item, RecordedApproval):
            yield from self._take_step(item)
        elif isinstance(item, RecordedCall):
            yield from self._take_call(item)
        else:
            yield item
            if isinstance(item, RecordedEvent):
                yield from self._take_event(item)
            elif isinstance(item, Note) and isinstance(item.body, SessionEnded):
                yield from self._conclude(item, "session end", None)

    # Questions

    def _take_step(self, step: RecordedApproval) -> Iterator[Item]:
        if step.stage == "requested":
            yield self._ask(step)
        elif step.is_older:
            yield self._hand_over(self._complete(step), is_older=True)
        elif step.stage == "handed_over":
            yield self._hand_over(step, is_older=False)
        elif step.stage == "outcome":
            yield from self._settle(step)
        elif step.stage == "remembered":
            yield step
        else:
            yield self._decide(step)

    def _ask(self, step: RecordedApproval) -> RecordedApproval:
        _add(self._asked, (step.session, step.hook, step.digest), step)
        known = self._find(step)
        return replace(step, again=True) if known is not None and known.is_older else step

    def _complete(self, step: RecordedApproval) -> RecordedApproval:
        """A handover of an older version, with the call of its request."""
        asked = self._take_request(step)
        if asked is None:
            return step
        return replace(step, call_id=asked.call_id, tool=asked.tool)

    def _decide(self, step: RecordedApproval) -> RecordedApproval:
        asked = self._take_request(step)
        known = None if asked is None else self._find(asked)
        if known is None:
            return step
        self._forget(known)
        if step.settles or step.stage not in ("decided", "expired"):
            return step
        return replace(step, settles=known.state, handed_at=known.step.time)

    def _take_request(self, step: RecordedApproval) -> RecordedApproval | None:
        """The oldest request that a step without the id of its call can be about."""
        asked = self._asked.get((step.session, step.hook, step.digest), [])
        fits = (one for one in asked if step.call_id in ("", one.call_id))
        found = next(fits, None)
        if found is not None:
            asked.remove(found)
        if not asked:
            self._asked.pop((step.session, step.hook, step.digest), None)
        return found

    def _hand_over(self, step: RecordedApproval, *, is_older: bool) -> RecordedApproval:
        if is_older and self._find(step) is not None:
            return replace(step, again=True)
        if not is_older:
            self._take_request(step)
        if not step.again:
            agent = self._agents.get(_get_place(step), "")
            _add(self._handed, _get_place(step), _Handed(step, is_older, agent))
        return step

    def _settle(self, step: RecordedApproval) -> Iterator[Item]:
        """An outcome that was recorded; one that says what is known already says nothing."""
        known = self._find(step)
        if known is None:
            yield step
        elif known.state != step.state:
            yield replace(step, settles=known.state, handed_at=known.step.time)
            self._keep(known, step.state)

    def _find(self, step: RecordedApproval) -> _Handed | None:
        about = (step.call_id, step.hook, step.digest)
        found = self._handed.get(_get_place(step), ())
        fits = (one for one in found if (one.step.call_id, one.step.hook, one.step.digest) == about)
        return next(fits, None)

    def _keep(self, known: _Handed, state: str) -> None:
        known.state = state
        if state == "allowed":  # nothing shows the contrary of a result
            self._forget(known)

    def _forget(self, known: _Handed) -> None:
        place = _get_place(known.step)
        self._handed[place].remove(known)
        if not self._handed[place]:
            del self._handed[place]

    # Evidence

    def _take_call(self, item: RecordedCall) -> Iterator[Item]:
        known = self._handed.get(_get_place(item), ()) if item.call_id else ()
        found = [one for one in known if _is_part(one.step, item)]
        if item.stage == "started":
            if not any(one.is_older and one.step.goes_on for one in found):
                yield item
            return
        if item.outcome in _RAN:
            for one in found:
                yield _learn(one, item, "allowed", "result")
                self._keep(one, "allowed")
        yield item

    def _take_event(self, item: RecordedEvent) -> Iterator[Item]:
        agent = item.data.get("agent_id")
        if item.event == "tool:pre" and isinstance(agent, str):
            call = item.data.get("tool_call_id")
            self._agents[item.session, _name_whole(str(call))] = agent
            _bound(self._agents)
        elif item.event in _TURN_ENDS and not agent:
            yield from self._conclude(item, _TURN_ENDS[item.event], "")

    def _conclude(
        self, item: RecordedEvent | Note, evidence: str, agent: str | None
    ) -> Iterator[Item]:
        """What older trails do not say: a call without a result by then did not run."""
        for one in list(chain.from_iterable(self._handed.values())):
            open_here = one.is_older and one.step.goes_on and one.state == "not_known"
            if open_here and one.step.session == item.session and agent in (None, one.agent):
                yield _learn(one, item, "not_run", evidence)
                self._keep(one, "not_run")


def _get_place(item: RecordedApproval | RecordedCall) -> Place:
    return item.session, _name_whole(item.call_id)


def _name_whole(call_id: str) -> str:
    """The call, where an id names a part of it."""
    return call_id.split(":", 1)[0]


def _add(kept: dict[K, list[T]], key: K, value: T) -> None:
    kept.setdefault(key, []).append(value)
    _bound(kept)


def _bound(kept: dict[K, T]) -> None:
    if len(kept) > MOST:
        del kept[next(iter(kept))]


def _is_part(step: RecordedApproval, call: RecordedCall) -> bool:
    """Whether a question was about a call, or about a part of it."""
    return step.call_id == call.call_id or step.call_id.startswith(f"{call.call_id}:")


def _learn(
    handed: _Handed, item: RecordedCall | RecordedEvent | Note, state: str, evidence: str
) -> RecordedApproval:
    """A step that no record has, at the place of the record that shows it."""
    return replace(
        handed.step,
        stage="outcome",
        sequence=item.sequence,
        time=item.time,
        turn=item.turn,
        state=state,
        evidence=evidence,
        settles=handed.state,
        handed_at=handed.step.time,
        derived=True,
    )
