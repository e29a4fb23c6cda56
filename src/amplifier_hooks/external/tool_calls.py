"""Tool calls that another program runs: judged before it does, recorded and judged again after it.

Both halves are those of the kernel's one path. In between, this remembers each call, so that a
report finds the call that it is about, in this process or in the next one.
"""

from __future__ import annotations

import shlex
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

from amplifier_core import events
from amplifier_core.answers import Outcome
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.handovers import Handover, State
from amplifier_core.models import ToolResult
from amplifier_core.payloads import ToolPreData
from amplifier_core.records import DenialContradicted
from amplifier_core.tool_call import (
    JudgedCall,
    after_failure,
    after_tool,
    count_call,
    judge_call,
    record_denial_contradicted,
    record_end,
    start_call,
)
from amplifier_core.utils import digest
from amplifier_core.utils.copying import is_same
from amplifier_hooks.external.conversation import EventContext
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.verdicts import UNCHANGED, Verdict
from amplifier_hooks.guards.policy.tool_calls import PATH_KEYS
from amplifier_hooks.machine.files import normalize
from amplifier_hooks.modules.registration import read_command

MOST = 512
"""How many are remembered: an agent does not report every call back."""

_NEW_START = frozenset({"startup", "resume"})
APPROVED = "A person approved exactly this."

REFUSED = "guest:permission_denied"
"""The event by which a program tells that it refused a call by itself."""

_REFUSALS = frozenset({"denied", "rejected"})
"""How a program calls a result that is none, because it has not run the tool."""


@dataclass(frozen=True, slots=True)
class OpenCall:
    """One call that was allowed, or denied."""

    id: str
    """As the trail knows it."""

    given: str
    """The agent's own id of it; empty where it gives none."""

    tool: str
    input: dict[str, Any]
    """As it was allowed to run."""

    asked: dict[str, Any]
    """As the agent wanted it, if a hook has changed it."""

    started: float
    approved: bool = False
    """A person has said yes to exactly this."""

    denied_by: str = ""
    """Who denied it, of a call that must not run."""

    reason: str = ""
    """What the agent was told then."""

    folder: str = ""
    """Where the program was, if it says so."""

    def describe(self) -> dict[str, Any]:
        """The call in the terms of our events."""
        return {"tool_name": self.tool, "tool_input": self.input, "tool_call_id": self.id}


class OpenCalls:
    """Finds the call that a report is about."""

    def __init__(self) -> None:
        self.most = MOST
        """How many are remembered: most programs do not report every call."""
        self._calls: list[OpenCall] = []

    def add(self, call: OpenCall) -> None:
        """Remember a call; the oldest are forgotten."""
        self._calls.append(call)
        del self._calls[: -self.most]

    def find(self, given: str, tool: str, tool_input: Mapping[str, Any]) -> OpenCall | None:
        """By the agent's id; else the first one of that tool with that input."""
        if given:
            return next((one for one in self._calls if one.given == given), None)
        wanted = digest(tool_input)
        same = [one for one in self._calls if one.tool == tool]
        fits = (one for one in same if wanted in (digest(one.input), digest(one.asked)))
        return next(fits, None)

    def take(self, given: str, tool: str, tool_input: Mapping[str, Any]) -> OpenCall | None:
        """The same, and forget it: it is over."""
        found = self.find(given, tool, tool_input)
        if found is not None:
            self._calls.remove(found)
        return found

    def drop(self, call_id: str) -> None:
        """Forget a call, by the id that the trail knows."""
        self._calls = [one for one in self._calls if one.id != call_id]

    def list_ids(self) -> list[str]:
        """The ids of all that are open."""
        return [one.id for one in self._calls]

    def list_given(self) -> list[OpenCall]:
        """Those that the agent itself has an id for."""
        return [one for one in self._calls if one.given]

    def save(self) -> list[dict[str, Any]]:
        """As values that JSON can hold."""
        return [asdict(one) for one in self._calls]

    def load(self, saved: Any) -> None:
        """What an earlier process knew; what is not one is left out."""
        for one in saved if isinstance(saved, list) else ():
            try:
                self.add(OpenCall(**one))
            except TypeError:
                continue


OnRun = Callable[[OpenCall, list[Handover]], None]
"""Hears of a call that has run as it was judged, with the questions that the program was handed."""


class ToolCalls:
    """The tool calls of one session, which another program runs between the two halves of each.

    A call is denied, handed over to the program's own person, or allowed to run; what the program
    reports later shows what became of it: see ARCHITECTURE.md, "Sessions behind other loops".
    """

    def __init__(self, coordinator: SessionCoordinator, program: str) -> None:
        self._coordinator = coordinator
        self.program = program
        """Who runs the tools, in sentences and records."""
        self.running = OpenCalls()
        """Those that were allowed, or handed over, and are not reported back."""
        self.denied = OpenCalls()
        """Those that must not run: the program may show a result of one all the same."""
        self.on_run: OnRun = lambda call, asked: None
        self.refusals = _REFUSALS
        """Types of errors by which the program tells that it has not run a tool."""

    # Before the tool

    async def before(self, call: Incoming, event: EventContext) -> Verdict:
        """Judge the call, and every part of it; what is allowed here is recorded as started.

        What the program is to ask its person about may never start.
        """
        count_call(self._coordinator)
        event.call_id = call.call_id or _make_id()
        verdict = await self._judge(call, event)
        if verdict.decision == "deny":
            await self.note_denial(call, event, verdict.reason)
        return verdict

    async def _judge(self, call: Incoming, event: EventContext) -> Verdict:
        requested = _describe(call, call.data, event.call_id)
        # The program has the tool; which others it has, nobody here knows.
        judged = await judge_call(self._coordinator, requested, {requested["tool_name"]: self})
        outcome = judged.outcome
        left = judged.call
        event.note(events.TOOL_PRE, outcome)
        event.outcome = outcome
        if not outcome.allowed:
            return _refuse(outcome, event)
        if judged.refusal is not None:
            return Verdict(decision="deny", reason=self._explain(judged))
        refused = await self.judge_parts(call, event)
        refused = refused or await self._judge_where_it_runs(call, left, event)
        if refused is not None:
            return refused
        handed_over = outcome.handed_over or bool(event.question)  # also if a part of it is
        going = outcome._replace(handed_over=handed_over)
        why = await start_call(self._coordinator, going, left, same_tool=True)
        if why is not None:
            return Verdict(decision="deny", reason=why)
        changed = not is_same(left["tool_input"], requested["tool_input"])
        self.running.add(
            OpenCall(
                id=event.call_id,
                given=call.call_id,
                tool=left["tool_name"],
                input=left["tool_input"],
                asked=dict(requested["tool_input"]) if changed else {},
                started=time.time(),
                approved=bool(outcome.digest) and not (handed_over or event.left_to_program),
                folder=call.cwd,
            )
        )
        return _allow(going, event, left["tool_input"] if changed else None)

    def _explain(self, judged: JudgedCall) -> str:
        """What a hook made of the call that the program cannot be told."""
        if judged.tool is None:
            name = judged.call.get("tool_name")
            return f"a hook chose another tool ({name!r}), and {self.program} cannot be given one"
        return "" if judged.refusal is None else judged.refusal.get_serialized_output()

    async def judge_parts(self, call: Incoming, event: EventContext) -> Verdict | None:
        """Judge what else the call does; returns what is to happen instead, if it must not."""
        for number, part in enumerate(call.also, 1):
            requested = _describe(call, part, f"{event.call_id}:{number}")
            outcome = await self._ask(requested, event)
            if not outcome.allowed:
                return _refuse(outcome, event)
            left = outcome.data or {}
            if not is_same(left.get("tool_input"), requested["tool_input"]):
                name = requested["tool_name"]
                why = f"a hook changed a part of this ({name}), which cannot be done"
                return Verdict(decision="deny", reason=why)
        return None

    async def _judge_where_it_runs(
        self, call: Incoming, left: dict[str, Any], event: EventContext
    ) -> Verdict | None:
        """Judge the call as it is to run where the program is now, if that is elsewhere."""
        folder = self._coordinator.get_capability("session.working_dir")
        if folder is None:
            return None  # hooks that know no folder take every path as the program does
        given = dict(call.data["tool_input"])
        moved = replace(call, data={**call.data, "tool_input": left["tool_input"]})
        for number, part in enumerate(move_calls(moved, Path(folder)), 1):
            requested = _describe(call, part, f"{event.call_id}:there:{number}")
            outcome = await self._ask(requested, event)
            if not outcome.allowed:
                return _refuse(outcome, event)
            seen = (outcome.data or {}).get("tool_input")
            # A hook that changes every such call has changed this one by now.
            if is_same(left["tool_input"], given) and not is_same(seen, requested["tool_input"]):
                why = f"a hook would change this in {call.cwd}, where the agent is, and cannot"
                return Verdict(decision="deny", reason=why)
        return None

    async def _ask(self, requested: ToolPreData, event: EventContext) -> Outcome:
        outcome = await self._coordinator.judge(events.TOOL_PRE, requested)
        event.note(events.TOOL_PRE, outcome)
        return outcome

    # After the tool

    async def after(self, call: Incoming, event: EventContext) -> Verdict:
        """Record how the call ended, and let the hooks change or withhold what the model reads."""
        told = call.data["tool_result"]
        if is_refusal(told.get("error"), self.refusals):
            return await self.note_refusal(call, event)
        if not told["success"] and self._repeats_denial(call, told.get("error")):
            return Verdict()
        ended = await self._take(call, "result", told["success"])
        result = ToolResult(success=told["success"], output=told["output"])
        started = _measure_start(call, ended)
        judged = await after_tool(self._coordinator, ended.describe(), started, result, told)
        event.note(events.TOOL_POST, judged.outcome)
        event.outcome = judged.outcome
        if not judged.outcome.allowed:
            denial = judged.outcome.denial
            return Verdict(output=denial, reason=denial, withhold=True)
        if not judged.is_changed:
            return Verdict()
        left = judged.tool_result
        return Verdict(output=left.get("output", UNCHANGED) if isinstance(left, dict) else left)

    async def after_failure(self, call: Incoming, event: EventContext) -> Verdict:
        """Record that the call failed, and tell the hooks."""
        error = call.data["error"]
        if is_refusal(error, self.refusals):
            return await self.note_refusal(call, event)
        if self._repeats_denial(call, error):
            return Verdict()
        ended = await self._take(call, "failure")
        record_end(self._coordinator, ended.describe(), _measure_start(call, ended), "raised")
        outcome = await after_failure(self._coordinator, ended.describe(), error)
        event.note(events.TOOL_ERROR, outcome)
        return Verdict()

    def give_up(self, call: Incoming) -> None:
        """Record that a call which was allowed does not run after all."""
        data = call.data
        given_up = self.running.take(call.call_id, data["tool_name"], data["tool_input"])
        if given_up is not None:
            record_end(self._coordinator, given_up.describe(), time.perf_counter(), "cancelled")

    async def _take(self, call: Incoming, shown: str, success: bool = False) -> OpenCall:
        """The call that is over; one that was never judged here is taken as it is told."""
        tool = call.data["tool_name"]
        given = call.data["tool_input"]
        found = self.running.take(call.call_id, tool, given)
        denied = self.denied.take(call.call_id, tool, given) if found is None else None
        if denied is not None:
            self.record_contradiction(call.event, denied, shown, success)
        told = OpenCall(
            call.call_id or _make_id(), call.call_id, tool, dict(given), {}, time.time()
        )
        ended = found or denied or told
        if found is not None and is_same(found.input, dict(given)):
            self.on_run(found, self._coordinator.handovers.list_about(found.id))
        await self._learn(ended.id, "allowed", shown)
        return ended

    # What the program shows of questions that it was handed, and of calls that were denied

    async def learn_from(self, event: Incoming) -> None:
        """Learn from an event what became of calls that the program asked its person about.

        An agent goes on when each of its calls has a result. So what has none by the time that it
        stops, or takes the next prompt, did not run; of a sub-agent, its own stop shows that.
        """
        handovers = self._coordinator.handovers
        stops = event.event == events.AGENT_COMPLETE and bool(event.agent_id)
        if stops or event.event == events.ORCHESTRATOR_COMPLETE:
            await handovers.conclude("stop", event.agent_id)
        elif event.event == events.PROMPT_SUBMIT and not event.agent_id:
            await handovers.conclude("next prompt", "")
        elif event.event == events.SESSION_START and event.data.get("source") in _NEW_START:
            handovers.lose()
        elif event.event == REFUSED:
            await self._note_refused(event)

    async def note_refusal(self, call: Incoming, event: EventContext) -> Verdict:
        """The program reports that it did not run the tool: there is no result to judge."""
        await self._note_refused(call)
        told: Any = {**call.data, "reason": "refused"}
        event.note(REFUSED, await self._coordinator.judge(cast(Any, REFUSED), told))
        return Verdict()

    async def _note_refused(self, call: Incoming) -> None:
        data = call.data
        found = self.running.find(call.call_id, data["tool_name"], data["tool_input"])
        if found is not None:
            await self.note_not_run(found.id, "the agent refused it")

    async def note_not_run(self, call_id: str, why: str) -> None:
        """The call has not run."""
        await self._learn(call_id, "not_run", why)

    async def _learn(self, call_id: str, state: State, evidence: str) -> None:
        """What is known now of the questions about a call, and about parts of it."""
        handovers = self._coordinator.handovers
        for one in dict.fromkeys(about.call for about in handovers.list_about(call_id)):
            await handovers.learn(one, state, evidence)

    async def note_denial(self, call: Incoming, event: EventContext, reason: str | None) -> None:
        """Keep a denied call in mind: the program may show a result of it all the same."""
        data = call.data
        self.running.drop(event.call_id)
        self.denied.drop(event.call_id)
        self.denied.add(
            OpenCall(
                id=event.call_id,
                given=call.call_id,
                tool=data["tool_name"],
                input=dict(data["tool_input"]),
                asked={},
                started=time.time(),
                denied_by=event.denied_by,
                reason=reason or "",
            )
        )
        await self.note_not_run(event.call_id, "denied")

    def _repeats_denial(self, call: Incoming, error: Any) -> bool:
        """Whether a failure that the program reports is nothing but our own denial of the call."""
        data = call.data
        if self.running.find(call.call_id, data["tool_name"], data["tool_input"]) is not None:
            return False
        denied = self.denied.find(call.call_id, data["tool_name"], data["tool_input"])
        told = error.get("message") if isinstance(error, dict) else error
        return denied is not None and bool(denied.reason) and denied.reason in str(told)

    def record_contradiction(self, event: str, call: OpenCall, shown: str, success: bool) -> None:
        """Record that the program shows a result of a call that was denied."""
        body = DenialContradicted(
            tool=call.tool,
            id=call.id,
            input=call.input,
            agent=self.program,
            reason=call.reason,
            shown=shown,
            success=success,
        )
        record_denial_contradicted(self._coordinator, event, call.denied_by, body)

    # For another process that goes on with the session

    def save(self) -> dict[str, Any]:
        """As values that JSON can hold."""
        return {"calls": self.running.save(), **self.save_evidence()}

    def save_evidence(self) -> dict[str, Any]:
        """What is known of calls that were denied, and of questions that were handed over."""
        return {"denied": self.denied.save(), "handed_over": self._coordinator.handovers.save()}

    def load(self, saved: Mapping[str, Any]) -> None:
        """What an earlier process knew."""
        self.running.load(saved.get("calls"))
        self.denied.load(saved.get("denied"))
        self._coordinator.handovers.load(saved.get("handed_over"))


def _make_id() -> str:
    return f"call_{uuid.uuid4().hex[:12]}"


def _describe(call: Incoming, data: Mapping[str, Any], call_id: str) -> ToolPreData:
    described = ToolPreData(
        tool_name=data["tool_name"], tool_input=dict(data["tool_input"]), tool_call_id=call_id
    )
    about = {"agent_id": call.agent_id} if call.agent_id else {}
    return cast(ToolPreData, {**described, **about})


def _refuse(outcome: Outcome, event: EventContext) -> Verdict:
    """A denial; or, of what waits for an answer that another program gets, that it waits."""
    if outcome.handed_over:
        return Verdict(decision="defer", reason=outcome.denial)
    event.denied_by = outcome.hook
    event.outcome = outcome
    return Verdict(decision="deny", reason=outcome.denial)


def _allow(outcome: Outcome, event: EventContext, changed: dict[str, Any] | None) -> Verdict:
    said = tuple(f"The user allowed this and said: {one}" for one in outcome.comments)
    if outcome.handed_over:
        return Verdict(decision="ask", reason=event.question, tool_input=changed, context=said)
    if outcome.digest and not event.left_to_program:
        return Verdict(decision="allow", reason=APPROVED, tool_input=changed, context=said)
    return Verdict(tool_input=changed, context=said)


def _measure_start(call: Incoming, ended: OpenCall) -> float:
    """When the call began by `perf_counter`; the program may say how long it took."""
    spent = call.data.get("duration_ms") or (time.time() - ended.started) * 1000
    usable = spent if isinstance(spent, int | float) and spent > 0 else 0
    return time.perf_counter() - usable / 1000


def measure_start(spent_ms: Any) -> float:
    """When a call began by `perf_counter`, if it took so many milliseconds."""
    spent = spent_ms if isinstance(spent_ms, int | float) and spent_ms > 0 else 0
    return time.perf_counter() - spent / 1000


# Where a call really happens: the program may have gone elsewhere since its session began

Part = dict[str, Any]


def move_calls(call: Incoming, folder: Path) -> tuple[Part, ...]:
    """The call and its parts as they look from `folder`, if they start from another one.

    Hooks take every path as seen from the folder of the session.
    """
    if not call.cwd or normalize(Path(call.cwd)) == normalize(folder):
        return ()
    parts = (call.data, *call.also)
    return tuple(moved for part in parts for moved in _move(part, call.cwd))


def _move(part: Part, cwd: str) -> Iterator[Part]:
    given = part["tool_input"]
    command = read_command(given.get("command")) if part["tool_name"] == "Bash" else None
    if command:
        there = {"command": f"cd {shlex.quote(cwd)} && {command}"}
        yield {"tool_name": "Bash", "tool_input": {**given, **there}}
        return
    moved = {key: str(Path(cwd, given[key])) for key in PATH_KEYS if _is_relative(given.get(key))}
    if moved:
        yield {"tool_name": part["tool_name"], "tool_input": {**given, **moved}}


def _is_relative(path: Any) -> bool:
    return isinstance(path, str) and bool(path.strip()) and not path.startswith(("/", "~"))


def is_refusal(error: Any, refusals: Collection[str] = _REFUSALS) -> bool:
    """Whether what the program reports as an error says that it did not run the tool."""
    return isinstance(error, dict) and error.get("type") in refusals
