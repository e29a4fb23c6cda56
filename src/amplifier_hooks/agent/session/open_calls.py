"""Outcomes of calls that a session left open when it ended early."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from amplifier_core.events import TOOL_PRE
from amplifier_core.gatekeeper import digest_operation
from amplifier_core.records import ApprovalRequested, ToolFinished, ToolStarted
from amplifier_core.session import AmplifierSession
from amplifier_core.utils.conversation import add_message
from amplifier_hooks.modules.conversation import OPEN_CALLS, list_open_calls
from amplifier_hooks.trails.bodies import read_body

NOT_RUN = "The call was not run: the process ended while it waited for a person to allow it."
FINISHING_LOOPS = frozenset({"loop-basic", "loop-streaming"})
"""Loops that run the open calls of a conversation before they take the next prompt."""


def follow_waiting(
    records: Iterable[Mapping[str, Any]], waiting: dict[str, str], session: str
) -> Iterator[Mapping[str, Any]]:
    """Pass records on; `waiting` has then the calls asked about and not started, with digests."""
    for record in records:
        body = read_body(record)
        if record["session"] == session:
            if isinstance(body, ApprovalRequested) and body.id:
                waiting[body.id] = body.digest
            elif isinstance(body, ToolStarted | ToolFinished):
                waiting.pop(body.id or "", None)
        yield record


def is_unchanged(call: Mapping[str, Any], shown: str) -> bool:
    """Whether a call is, as it was saved, exactly what a person was shown."""
    data = {"tool_name": call.get("name"), "tool_input": call.get("arguments")}
    return bool(shown) and digest_operation(TOOL_PRE, data) == shown


_Message = dict[str, Any]


RUNNING_ELSEWHERE = "running_elsewhere"
"""In the state of a session: the ids of calls that another program runs and will report, or ALL."""
ALL = "all"


@dataclass(frozen=True, slots=True)
class UnknownOutcome:
    """A call that a trail shows as started and not as finished."""

    tool: str
    call_id: str
    session: str | None = None
    time: str = ""
    gated: bool = False
    digest: str = ""

    @property
    def sentence(self) -> str:
        """What the person and the agent read."""
        approved = ", which was approved," if self.gated else ""
        when = f" at {self.time}" if self.time else ""
        return (
            f"The outcome of a call of {self.tool}{approved} is unknown: it was started{when}, and "
            "the process ended before it was finished. It has not been run again; find out what it "
            "did before repeating it."
        )


def unknown_outcomes(
    records: Iterable[Mapping[str, Any]], session: str | None = None
) -> list[UnknownOutcome]:
    """The calls in a trail that were started and not finished, of one session or of all."""
    open_calls: dict[tuple[Any, str], list[UnknownOutcome]] = {}
    for record in records:
        if session is None or record["session"] == session:
            _follow_call(record, open_calls)
    return list(chain.from_iterable(open_calls.values()))


def _follow_call(
    record: Mapping[str, Any], open_calls: dict[tuple[Any, str], list[UnknownOutcome]]
) -> None:
    body = read_body(record)
    if not isinstance(body, ToolStarted | ToolFinished):
        return
    # A list each: nothing keeps a model from giving two calls the same id.
    waiting = open_calls.setdefault((record["session"], str(body.id)), [])
    if isinstance(body, ToolStarted):
        waiting.append(_read_started(record, body))
    elif waiting:
        waiting.pop()


def _read_started(record: Mapping[str, Any], body: ToolStarted) -> UnknownOutcome:
    return UnknownOutcome(
        tool=str(body.tool),
        call_id=str(body.id),
        session=record["session"],
        time=str(record["time"]),
        gated=body.gated,
        digest=body.digest,
    )


async def report_unknown_outcomes(
    session: AmplifierSession, outcomes: Iterable[UnknownOutcome]
) -> None:
    """Tell person, agent and trail that the outcome of these calls is unknown."""
    reported_later = session.coordinator.session_state.get(RUNNING_ELSEWHERE) or ()
    for one in outcomes if reported_later != ALL else ():
        if one.call_id in reported_later:
            continue
        await session.coordinator.show(one.sentence, "warning", "session")
        note = {"role": "system", "content": one.sentence, "metadata": {"source": "session"}}
        await add_message(session.context, note)
        session.coordinator.trail.write(
            ToolFinished(tool=one.tool, id=one.call_id, outcome="unknown")
        )


def complete_state(
    state: Mapping[str, Any], waiting: Mapping[str, str] | None = None, *, finishes: bool = False
) -> dict[str, Any]:
    """A saved state in which every tool call has a result, even if it is only "unknown".

    `waiting` has the calls that were asked about and never started. Where the loop `finishes`
    them, those of the last reply stay open, if nothing about them has changed.
    """
    messages = list(state.get("messages", ()))
    known = waiting or {}
    going_on = [
        call["id"]
        for call in (list_open_calls(messages) if finishes else ())
        if is_unchanged(call, known.get(str(call.get("id")), ""))
    ]
    kept = {**state.get("session_state", {}), OPEN_CALLS: going_on}
    return {
        **state,
        "messages": add_missing_results(messages, known, going_on),
        "session_state": kept,
    }


def add_missing_results(
    messages: Iterable[_Message],
    waiting: Mapping[str, str] | None = None,
    going_on: Collection[Any] = (),
) -> list[_Message]:
    """Add a result to each call in a saved conversation that has none; models insist on one."""
    found = list(messages)
    answered = {one.get("tool_call_id") for one in found if one.get("role") == "tool"}
    result: list[_Message] = []
    missing: list[_Message] = []
    for message in found:
        if message.get("role") != "tool":
            result += missing
            missing = []
        result.append(message)
        for call in message.get("tool_calls") or ():
            if call.get("id") not in answered and call.get("id") not in going_on:
                missing.append(_make_result(call, waited=str(call.get("id")) in (waiting or {})))
    return result + missing


def _make_result(call: Mapping[str, Any], *, waited: bool) -> _Message:
    name = call.get("name") or call.get("tool")  # loops of the ecosystem write the latter
    unknown = UnknownOutcome(str(name), str(call.get("id"))).sentence
    return {
        "role": "tool",
        "content": NOT_RUN if waited else unknown,
        "tool_call_id": call.get("id"),
        "name": name,
        "metadata": {"success": False, "outcome": "not run" if waited else "unknown"},
    }
