"""A session behind somebody else's loop, against the graph that ARCHITECTURE.md draws of it.

A program asks for calls, runs them or lets them be run from here, reports what became of them or
does not, begins turns, starts anew, dies, goes on and ends, in any order. A model of a dozen lines
knows what may happen and what the trail must say; the session and the trail are real.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from amplifier_audit import open_log, read_records, verify
from amplifier_core import events
from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion, HandedOver
from amplifier_core.errors import SessionDenied
from amplifier_core.models import HookResult, ToolResult
from amplifier_core.testing import TestCoordinator
from amplifier_hooks import AssembledSession, load_bundle, open_session
from amplifier_hooks.external.calling import LoopSeat, Wanted
from amplifier_hooks.external.conversation import ExternalContext
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.session import ExternalSession
from amplifier_hooks.external.verdicts import UNCHANGED, Verdict
from tests.hooks.coding_agents.sessions.agents import PLAIN, make_project

KINDS = ["plain", "deny", "hand over", "approve", "change", "other tool"]
SAYS = {
    "plain": None,
    "deny": "deny",
    "hand over": "ask",
    "approve": "allow",
    "change": None,
    "other tool": "deny",
}
STARTED = {"plain", "approve", "change"}
DENIED = {"deny", "other tool"}
AGENTS = ["", "a1"]


async def guard(_: str, data: dict[str, Any]) -> HookResult:
    """Answers by the command of a call."""
    command = data["tool_input"]["command"]
    if command.startswith("deny"):
        return HookResult(action="deny", reason="never")
    if command.startswith(("hand over", "approve")):
        return HookResult(action="ask_user", approval_prompt=command)
    if command.startswith("change"):
        changed = {"command": f"safe {command}"}
        return HookResult(action="modify", data={**data, "tool_input": changed})
    if command.startswith("other tool"):
        return HookResult(action="modify", data={**data, "tool_name": "Other"})
    return HookResult()


async def judge_texts(event: str, data: dict[str, Any]) -> HookResult:
    """Refuses one prompt, and rewrites another one."""
    text = data["prompt"]
    if text == "deny":
        return HookResult(action="deny", reason="not this")
    return HookResult(action="modify", data={**data, "prompt": text.upper()})


async def hide(_: str, data: dict[str, Any]) -> HookResult:
    """Withholds one result, and changes another one."""
    output = data["tool_result"]["output"]
    if output == "secret":
        return HookResult(action="deny", reason="secret")
    if output == "long":
        return HookResult(action="modify", data={**data, "tool_result": {"output": "short"}})
    return HookResult()


class People:
    """Somebody here says yes; for the rest the program asks its own person."""

    async def decide(self, question: ApprovalQuestion) -> ApprovalAnswer | HandedOver:
        if question.prompt.startswith("approve"):
            return ApprovalAnswer("Allow", by="ann")
        return HandedOver("the program", goes_on=True)


@dataclass
class Call:
    """A call in halves."""

    id: str
    kind: str
    agent: str
    state: str = "asked"
    """denied, handed over, running; then finished, failed, given up, or lost for good."""
    allowed: str = "not known"
    """Of one that was handed over: what was learnt of its question."""
    lost: bool = False


@dataclass
class Expected:
    """What may be in the trail."""

    calls: list[Call] = field(default_factory=list)
    started: list[str] = field(default_factory=list)
    finished: list[tuple[str, str]] = field(default_factory=list)
    contradicted: list[str] = field(default_factory=list)
    outcomes: list[tuple[str, str]] = field(default_factory=list)
    processes: int = 1
    suspended: int = 0

    def learn(self, call: Call, state: str) -> None:
        """That a call ran is final; that it did not, a late result takes back."""
        if call.kind == "hand over" and call.allowed not in ("allowed", state):
            call.allowed = state
            self.outcomes.append((call.id, state))

    def conclude(self, agent: str | None) -> None:
        for call in self.calls:
            if not call.lost and agent in (None, call.agent):
                self.learn(call, "not_run")


class Sessions(RuleBasedStateMachine):
    """One session, in one process after the other."""

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.patch = pytest.MonkeyPatch()
        home = Path(self.folder.name) / "home"
        home.mkdir()
        self.patch.setenv("HOME", str(home))
        for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "AMPLIFIER_STORE"):
            self.patch.delenv(name, raising=False)
        self.project = make_project(Path(self.folder.name) / "project", PLAIN)
        self.trail = home / ".local" / "share" / "amplifier" / "audit" / "s"
        self.loop = asyncio.new_event_loop()
        self.expected = Expected()
        self.ran: list[str] = []
        self.number = 0
        self.saved: dict[str, Any] | None = None
        self.run(self.open())

    def run(self, work: Any) -> Any:
        return self.loop.run_until_complete(work)

    async def open(self) -> None:
        def register(session: AssembledSession) -> None:
            hooks = session.coordinator.hooks
            hooks.register(events.TOOL_PRE, guard, name="guard")
            hooks.register(events.TOOL_POST, hide, name="hide")
            hooks.register(events.PROMPT_SUBMIT, judge_texts, name="texts")

        self.session = await open_session(
            load_bundle(project_dir=self.project),
            session_id="s",
            approval_system=People(),
            working_dir=self.project,
            resume=self.saved,
            hot_reload=False,
            prepare=register,
        )
        self.external = await ExternalSession.attach(self.session, "the program")
        known = self.session.coordinator.session_state.get("external")
        if known is not None:
            self.external.load(known)
        await self.save()

    async def save(self) -> None:
        """As whoever stands behind a program does before it answers."""
        await self.session.coordinator.trail.sink.commit()
        self.session.coordinator.session_state["external"] = self.external.save()
        self.saved = await self.external.read_state()

    def teardown(self) -> None:
        if not hasattr(self, "external"):
            return
        try:
            self.run(self.end())
        finally:
            self.run(asyncio.sleep(0))
            self.loop.close()
            self.patch.undo()
            self.folder.cleanup()

    async def end(self) -> None:
        """What was not run by now never will be; and nothing is allowed from here on."""
        await self.external.coordinator.handovers.conclude("session end")
        self.expected.conclude(None)
        await self.external.end()
        late = Call("late", "plain", "")
        assert (await self.external.before_tool(self.report(late))).decision == "deny"
        assert not (await self.external.submit({"prompt": "more"})).allowed
        assert (await self.call_whole("plain", "late")).result.denied
        assert not (await self.external.judge("guest:anything", {})).allowed
        assert "late" not in self.ran
        self.check()
        assert verify(self.trail).verdict in ("consistent", "recovered")
        types = Counter(one["type"] for one in read_records(open_log(self.trail)))
        assert types["session_ended"] == 1
        assert types["session_started"] == self.expected.processes
        assert types["session_suspended"] == self.expected.suspended

    # Calls in halves

    def report(self, call: Call, name: str = events.TOOL_PRE, **more: Any) -> Incoming:
        """What the program tells of a call."""
        about = {"tool_name": "Bash", "tool_input": {"command": f"{call.kind} {call.id}"}}
        return Incoming(name, {**about, **more}, name, "s", call_id=call.id, agent_id=call.agent)

    @rule(
        wanted=st.lists(
            st.tuples(st.sampled_from(KINDS), st.sampled_from(AGENTS)), min_size=1, max_size=3
        )
    )
    def ask(self, wanted: list[tuple[str, str]]) -> None:
        """Calls, several at once."""
        made = [Call(f"c{self.number + n}", *one) for n, one in enumerate(wanted, 1)]
        self.number += len(made)

        async def ask_all() -> list[Verdict]:
            asked = [self.external.before_tool(self.report(call)) for call in made]
            found = await asyncio.gather(*asked)
            await self.save()
            return found

        for call, verdict in zip(made, self.run(ask_all()), strict=True):
            assert verdict.decision == SAYS[call.kind]
            assert (verdict.tool_input is not None) == (call.kind == "change")
            call.state = "denied" if call.kind in DENIED else "running"
            self.expected.calls.append(call)
            if call.kind in STARTED:
                self.expected.started.append(call.id)

    def pick(self, number: int) -> Call | None:
        left = [one for one in self.expected.calls if one.state in ("denied", "running")]
        return left[number % len(left)] if left else None

    @rule(number=st.integers(0, 9), output=st.sampled_from(["done", "secret", "long"]))
    def finish(self, number: int, output: str) -> None:
        """A result, in time or late, also of what was denied."""
        call = self.pick(number)
        if call is None:
            return
        result = {"success": True, "output": output, "error": None}
        told = self.report(call, events.TOOL_POST, tool_result=result)
        verdict = self.run(self.tell(self.external.after_tool(told)))
        assert verdict.withhold == (output == "secret")
        assert (verdict.output is UNCHANGED) == (output == "done")
        self.note_end(call, "returned")

    @rule(number=st.integers(0, 9))
    def fail(self, number: int) -> None:
        call = self.pick(number)
        if call is None:
            return
        error = {"type": "ToolError", "message": "exit code 3"}
        self.run(self.tell(self.external.after_failure(self.report(call, error=error))))
        self.note_end(call, "raised")

    async def tell(self, work: Any) -> Any:
        try:
            return await work
        finally:
            await self.save()

    def note_end(self, call: Call, how: str) -> None:
        if call.state == "denied":
            self.expected.contradicted.append(call.id)
        call.state = "finished"
        self.expected.finished.append((call.id, how))
        self.expected.learn(call, "allowed")

    @rule(number=st.integers(0, 9))
    def report_denial(self, number: int) -> None:
        """The program reports our own denial as the failure of the call: that is no news."""
        call = self.pick(number)
        if call is None or call.state != "denied":
            return
        reason = self.external.tools.denied.list_given()
        said = next(one.reason for one in reason if one.given == call.id)
        error = {"type": "ToolError", "message": f"blocked: {said}"}
        self.run(self.tell(self.external.after_failure(self.report(call, error=error))))

    @rule(number=st.integers(0, 9))
    def refuse(self, number: int) -> None:
        """The program says itself that it did not run a call; it may be wrong."""
        call = self.pick(number)
        if call is None:
            return
        error = {"type": "rejected", "message": "the user said no"}
        self.run(self.tell(self.external.after_failure(self.report(call, error=error))))
        if call.state == "running":
            self.expected.learn(call, "not_run")

    @rule(number=st.integers(0, 9))
    def give_up(self, number: int) -> None:
        """The program does not run a call that was allowed, and says so."""
        call = self.pick(number)
        if call is None or call.state != "running" or call.kind not in STARTED:
            return
        self.external.tools.give_up(self.report(call))
        self.run(self.save())
        call.state = "given up"
        self.expected.finished.append((call.id, "cancelled"))

    # Calls as a whole

    async def call_whole(self, kind: str, call_id: str, *, fails: bool = False) -> Any:
        def handle(given: dict[str, Any]) -> str:
            self.ran.append(call_id)
            if fails:
                raise ValueError("broken")
            return "done"

        given = {"command": f"{kind} {call_id}"}
        wanted = Wanted("Bash", given, call_id, handle, lambda value: ToolResult(output=value))
        return await self.external.call(wanted, LoopSeat(self.loop))

    @rule(kind=st.sampled_from(KINDS), fails=st.booleans())
    def call(self, kind: str, fails: bool) -> None:
        """What is allowed runs here, once, and what it raises is raised again."""
        self.number += 1
        call_id = f"w{self.number}"
        runs = kind in STARTED
        work = self.tell(self.call_whole(kind, call_id, fails=fails))
        if runs and fails:
            with pytest.raises(ValueError, match="broken"):
                self.run(work)
        else:
            called = self.run(work)
            assert called.ran == runs
            assert called.text == "done" if runs else not called.result.success
        assert self.ran.count(call_id) == runs
        if runs:
            self.expected.started.append(call_id)
            self.expected.finished.append((call_id, "raised" if fails else "returned"))
        elif kind == "hand over":  # nobody asks before it runs here
            self.expected.outcomes.append((call_id, "not_run"))

    # Turns

    @rule(prompt=st.sampled_from(["deny", "go on"]))
    def submit(self, prompt: str) -> None:
        self.learn(events.PROMPT_SUBMIT, "", prompt=prompt)
        verdict = self.run(self.tell(self.external.submit({"prompt": prompt})))
        assert verdict.allowed == (prompt != "deny")
        assert verdict.text == (
            "GO ON" if verdict.allowed else "Operation denied by texts: not this"
        )
        self.expected.conclude("")

    @rule()
    def answer(self) -> None:
        verdict = self.run(self.external.answer("all done"))
        assert (verdict.allowed, verdict.text) == (True, "all done")

    @rule(agent=st.sampled_from(AGENTS))
    def stop(self, agent: str) -> None:
        """A turn is over, of the agent or of a sub-agent."""
        self.learn(events.AGENT_COMPLETE if agent else events.ORCHESTRATOR_COMPLETE, agent)
        self.expected.conclude(agent)

    @rule()
    def start_anew(self) -> None:
        """The program goes on in another process: what it was asked, it forgets."""
        self.learn(events.SESSION_START, "", source="resume")
        for call in self.expected.calls:
            call.lost = True

    def learn(self, name: str, agent: str, **data: Any) -> None:
        told = Incoming(name, data, name, "s", agent_id=agent)
        self.run(self.tell(self.external.tools.learn_from(told)))

    # Our own process

    @rule()
    def suspend(self) -> None:
        """Ours ends in order, and another one goes on."""
        self.run(self.external.suspend())
        self.expected.suspended += 1
        self.go_on()

    @rule()
    def kill(self) -> None:
        """Ours dies: nothing is written, and another one goes on with what was saved."""
        self.run(self.session.coordinator.trail.sink.close())
        self.go_on()

    def go_on(self) -> None:
        self.expected.processes += 1
        self.run(self.open())

    # The trail

    def read(self, type: str) -> list[dict[str, Any]]:
        return [one["body"] for one in read_records(open_log(self.trail)) if one["type"] == type]

    @invariant()
    @precondition(lambda self: hasattr(self, "external"))
    def check(self) -> None:
        """At every moment."""
        expected = self.expected
        assert Counter(one["id"] for one in self.read("tool_started")) == Counter(expected.started)
        finished = Counter((one["id"], one["outcome"]) for one in self.read("tool_finished"))
        assert finished == Counter(expected.finished)
        shown = Counter(one["id"] for one in self.read("denial_contradicted"))
        assert shown == Counter(expected.contradicted)
        told = sorted((one["id"], one["state"]) for one in self.read("approval_outcome"))
        assert told == sorted(expected.outcomes)
        decided = [one["gated"] for one in self.read("tool_started")]
        assert sum(decided) == len(self.read("approval_decided"))


def run_machine(examples: int, steps: int) -> None:
    """No shrinking: each step takes as long as an event of a real session."""
    run_state_machine_as_test(
        Sessions,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.explicit, Phase.reuse, Phase.generate),
        ),
    )


def test_a_session_behind_any_loop_follows_its_graph() -> None:
    """In any order."""
    run_machine(30, 25)


def test_one_walk_along_every_edge() -> None:
    """What chance may leave out."""
    walk = Sessions()
    walk.begin()
    try:
        for leave in (walk.suspend, walk.kill, walk.start_anew, lambda: walk.stop("")):
            walk.ask([(kind, agent) for kind in KINDS for agent in AGENTS])
            walk.refuse(0)
            leave()
            walk.stop("a1")
            walk.submit("go on")
            walk.check()
            for end in (walk.report_denial, walk.fail, walk.give_up):
                for number in range(4):
                    end(number)
            while walk.pick(0) is not None:
                walk.finish(0, "long")
            walk.check()
        for kind in KINDS:
            for fails in (False, True):
                walk.call(kind, fails)
        walk.check()
    finally:
        walk.teardown()


async def test_what_is_allowed_after_the_end_runs_nothing() -> None:
    """The session may end while its person thinks about a call."""
    coordinator = TestCoordinator()
    ended = asyncio.Event()
    external = ExternalSession(
        coordinator, ExternalContext(), lambda _: asyncio.sleep(0), program="x"
    )

    async def think(event: str, data: dict[str, Any]) -> HookResult:
        await ended.wait()
        return HookResult()

    coordinator.hooks.register(events.TOOL_PRE, think)
    ran: list[Any] = []
    wanted = Wanted("Bash", {}, "1", ran.append, lambda value: ToolResult(output=value))
    calling = asyncio.ensure_future(external.call(wanted, LoopSeat(asyncio.get_running_loop())))
    await asyncio.sleep(0)
    await external.end()
    ended.set()
    assert not (await calling).result.success
    assert ran == []


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_same_for_hundreds_of_sessions() -> None:
    """Longer ones, too."""
    run_machine(300, 40)


async def test_a_session_that_a_hook_refuses_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing stands behind the program then, and the trail says that it ended as denied."""
    monkeypatch.setenv("HOME", str(tmp_path))

    async def refuse(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="deny", reason="not today")

    with pytest.raises(SessionDenied, match="not today"):
        await open_session(
            load_bundle(project_dir=make_project(tmp_path / "project", PLAIN)),
            session_id="s",
            prepare=lambda one: one.coordinator.hooks.register("session:start", refuse),
        )
