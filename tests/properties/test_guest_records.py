"""What is said of a guest's session, against a model of what its events showed.

An agent asks its person, runs calls, refuses them, fails, dies, is stopped, goes on and shows late
results, in any order. The trail and each view of it must say what the events show: never "allowed"
without a result, never "started" for what may never have run, and one figure for one question.
"""

from __future__ import annotations

import asyncio
import json
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

from amplifier_audit import open_log, read_records
from amplifier_hooks.approvals.reporting import write_record
from amplifier_hooks.approvals.stores.statistics import list_figures
from amplifier_hooks.coding_agents.daemon.protocol import Request
from amplifier_hooks.coding_agents.sessions.judge import AgentJudge
from amplifier_hooks.insight.backtest import Tally, backtest_trails
from amplifier_hooks.insight.backtest.policy import PolicySource, load_policy
from amplifier_hooks.insight.rule_suggestions.drafts import read_evidence
from amplifier_hooks.trails import read_history
from amplifier_hooks.trails.recount import recount
from tests.hooks.cli.program import invoke
from tests.hooks.coding_agents.sessions.agents import PLAIN, make_project, record
from tests.properties.test_one_count import (
    view_audit_stats,
    view_hooks_stats,
    view_mcp_server,
    view_report,
    view_store,
)

RULES = """
  - module: hooks-rules
    config:
      rules:
        - {name: ask, tool: Bash, command: "ask *", action: ask_user, approval_prompt: "Really?"}
        - {name: deny, tool: Bash, command: "deny *", action: deny, reason: "never"}
"""
HOOK = "hooks-rules"
KINDS = ["ask", "deny", "plain"]
AGENTS = ["", "a1"]


@dataclass
class Call:
    """A call, as far as the agent's events tell."""

    id: str
    kind: str
    agent: str
    state: str = "not_known"
    """Of one that was handed over."""
    lost: bool = False
    """Whether the agent started anew since."""
    results: int = 0


@dataclass
class Expected:
    """All that the events showed so far."""

    calls: list[Call] = field(default_factory=list)
    outcomes: list[tuple[str, str]] = field(default_factory=list)
    processes: int = 1

    def learn(self, call: Call, state: str) -> None:
        """What an event shows of a question; that something ran is final."""
        if call.kind == "ask" and call.state not in ("allowed", state):
            call.state = state
            self.outcomes.append((call.id, state))

    def conclude(self, agent: str | None) -> None:
        for call in self.calls:
            if not call.lost and agent in (None, call.agent):
                self.learn(call, "not_run")

    def count(self, kind: str, **wanted: Any) -> int:
        fits = (one for one in self.calls if one.kind == kind)
        return sum(all(getattr(one, k) == v for k, v in wanted.items()) for one in fits)


class GuestRecords(RuleBasedStateMachine):
    """One session of Claude Code, through the judge that its hooks reach."""

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.patch = pytest.MonkeyPatch()
        home = Path(self.folder.name) / "home"
        home.mkdir()
        self.patch.setenv("HOME", str(home))
        for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "AMPLIFIER_STORE"):
            self.patch.delenv(name, raising=False)
        self.project = make_project(Path(self.folder.name) / "project", PLAIN + RULES)
        self.trail = home / ".local" / "share" / "amplifier" / "audit" / "claude-s"
        self.loop = asyncio.new_event_loop()
        self.judge = AgentJudge()
        self.expected = Expected()
        self.number = 0
        self.is_open = False
        self.tell("SessionStart")

    def teardown(self) -> None:
        if not hasattr(self, "judge"):
            return
        try:
            self.loop.run_until_complete(self.judge.close())
            self.check_views()
        finally:
            self.loop.run_until_complete(asyncio.sleep(0))
            self.loop.close()
            self.patch.undo()
            self.folder.cleanup()

    # Events

    async def _tell(self, name: str, **changes: Any) -> str:
        payload = record("claude", name, session_id="s", cwd=str(self.project), **changes)
        request = Request("claude", name.split(".")[0], json.dumps(payload).encode(), 60.0)
        response = await self.judge.answer(request)
        assert response.code == 0, response.stderr
        return response.stdout.decode()

    def tell(self, name: str, **changes: Any) -> str:
        self.is_open = name != "SessionEnd"
        return self.loop.run_until_complete(self._tell(name, **changes))

    def make_call(self, kind: str, agent: str) -> tuple[Call, dict[str, Any]]:
        self.number += 1
        call = Call(f"c{self.number}", kind, agent)
        self.expected.calls.append(call)
        return call, self.describe(call)

    def describe(self, call: Call) -> dict[str, Any]:
        given = {"command": f"{call.kind} {call.id}"}
        about = {"agent_id": call.agent} if call.agent else {}
        return {"tool_use_id": call.id, "tool_input": given, **about}

    @rule(
        wanted=st.lists(
            st.tuples(st.sampled_from(KINDS), st.sampled_from(AGENTS)), min_size=1, max_size=3
        )
    )
    def call(self, wanted: list[tuple[str, str]]) -> None:
        """Calls, several at once."""
        self.is_open = True
        made = [self.make_call(*one) for one in wanted]

        async def tell_all() -> list[str]:
            return await asyncio.gather(*(self._tell("PreToolUse", **told) for _, told in made))

        for (call, _), answer in zip(made, self.loop.run_until_complete(tell_all()), strict=True):
            said = {"ask": '"ask"', "deny": '"deny"', "plain": ""}[call.kind]
            assert said in answer
            assert said or "permissionDecision" not in answer

    def pick(self, number: int) -> Call | None:
        """One that has no result yet."""
        left = [one for one in self.expected.calls if not one.results]
        return left[number % len(left)] if left else None

    @rule(number=st.integers(0, 9), failed=st.booleans())
    def show_result(self, number: int, failed: bool) -> None:
        """In time or late, also of what was denied."""
        call = self.pick(number)
        if call is None:
            return
        told = self.describe(call)
        if failed:
            self.tell("PostToolUseFailure", error="Exit code 3", **told)
        else:
            self.tell("PostToolUse", **told)
        call.results += 1
        self.expected.learn(call, "allowed")

    @rule(number=st.integers(0, 9))
    def refuse(self, number: int) -> None:
        """The agent says itself that it does not run a call."""
        call = self.pick(number)
        if call is None:
            return
        payload = record("claude", "PreToolUse", **self.describe(call))
        payload |= {"session_id": "s", "cwd": str(self.project)}
        payload["hook_event_name"] = "PermissionDenied"
        request = Request("claude", "PermissionDenied", json.dumps(payload).encode(), 60.0)
        self.is_open = True
        self.loop.run_until_complete(self.judge.answer(request))
        self.expected.learn(call, "not_run")

    @rule()
    def stop(self) -> None:
        self.tell("Stop")
        self.expected.conclude("")

    @rule()
    def stop_agent(self) -> None:
        self.tell("SubagentStop", agent_id="a1")
        self.expected.conclude("a1")

    @rule()
    def prompt(self) -> None:
        self.tell("UserPromptSubmit")
        self.expected.conclude("")

    @rule()
    def resume(self) -> None:
        """The agent has started anew."""
        self.tell("SessionStart.resume")
        for call in self.expected.calls:
            call.lost = True

    @precondition(lambda self: self.is_open)
    @rule()
    def end(self) -> None:
        self.tell("SessionEnd")
        self.expected.conclude(None)
        self.expected.processes += 1

    @rule()
    def suspend(self) -> None:
        """Our process ends in order."""
        self.loop.run_until_complete(self.judge.close())
        self.start_process()

    @rule()
    def crash(self) -> None:
        """Our process is killed: nothing is saved, nothing is written."""
        self.loop.run_until_complete(self._crash())
        self.start_process()

    async def _crash(self) -> None:
        sessions = self.judge._sessions
        for task in sessions._saving.values():
            task.cancel()
        for guest in sessions._open.values():
            await guest.coordinator.trail.sink.close()

    def start_process(self) -> None:
        self.judge = AgentJudge()
        self.expected.processes += 1

    # Comparing

    def read(self, type: str) -> list[dict[str, Any]]:
        return [one["body"] for one in read_records(open_log(self.trail)) if one["type"] == type]

    @invariant()
    def the_trail_says_what_the_events_show(self) -> None:
        """At every moment."""
        if not hasattr(self, "expected"):
            return
        calls = self.expected.calls
        started = Counter(one["id"] for one in self.read("tool_started"))
        assert started == Counter(one.id for one in calls if one.kind == "plain")
        finished = Counter(one["id"] for one in self.read("tool_finished"))
        assert finished == Counter(one.id for one in calls if one.results)
        contradicted = Counter(one["id"] for one in self.read("denial_contradicted"))
        assert contradicted == Counter(
            one.id for one in calls if one.kind == "deny" and one.results
        )
        assert not self.read("approval_decided")
        told = [(one["id"], one["state"]) for one in self.read("approval_outcome")]
        assert sorted(told) == sorted(self.expected.outcomes)

    def check_views(self) -> None:
        """Each view of the whole trail."""
        asked = self.expected.count("ask")
        states = {
            name: self.expected.count("ask", state=name)
            for name in ("allowed", "not_run", "not_known")
        }
        contradicted = sum(one.results for one in self.expected.calls if one.kind == "deny")
        counts = recount(read_history(self.trail))[HOOK]
        assert {name: getattr(counts, name) for name in states} == states
        assert (counts.asked, counts.handed_over, counts.refused) == (asked, asked, 0)
        assert counts.contradicted == contradicted
        views = [view_hooks_stats(self.trail), view_audit_stats(self.trail)]
        views += [view_mcp_server(self.trail), view_report(self.trail)]
        assert all(one == views[0] for one in views)
        if self.expected.calls:
            figures = views[0][HOOK]
            assert (figures["denials"], figures["asks"]) == (self.expected.count("deny"), asked)
            stored = view_store(self.trail)[HOOK]
            assert (stored["calls"], stored["asks"]) == (figures["calls"], asked)
        self.check_report(states, contradicted)
        self.check_suggestions(states)
        self.check_backtest(states)
        self.check_store(states, contradicted)
        self.check_ends()
        self.check_story()

    def check_report(self, states: dict[str, int], contradicted: int) -> None:
        told = json.loads(invoke("report", self.trail, "--format", "json", "-o", "-").stdout)
        questions = told["totals"]["questions"]
        assert {name: questions[name] for name in states} == states
        assert told["contradictions"]["count"] == contradicted

    def check_suggestions(self, states: dict[str, int]) -> None:
        said = Counter(one.said for one in read_evidence([self.trail]).questions)
        expected = {
            "yes": states["allowed"],
            "not run": states["not_run"],
            "nothing": states["not_known"],
        }
        assert said == Counter(expected)

    def check_backtest(self, states: dict[str, int]) -> None:
        """A policy that denies whatever was asked about: what had people said?"""
        rules = Path(self.folder.name) / "rules.yaml"
        rules.write_text(
            '- {name: deny, tool: Bash, command: "ask *", action: deny, reason: never}\n'
        )
        policy = load_policy(PolicySource(rules=(str(rules),), only=True), self.project)

        async def run() -> Tally:
            (found,) = [tally async for _, tally in backtest_trails([self.trail], policy)]
            return found

        found = self.loop.run_until_complete(run())
        said = found.people.get("newly_denied", {})
        assert {name: said.get(name, 0) for name in states} == states
        assert not said.get("refused")

    def check_store(self, states: dict[str, int], contradicted: int) -> None:
        """What the page and the counters show of the same records."""
        sums: Counter[str] = Counter()
        for number, one in enumerate(read_records(open_log(self.trail)), 1):
            about = {key: one[key] for key in ("turn", "event", "hook")}
            for figures in list_figures(write_record(number, one["type"], one["body"], **about)):
                for name in (*states, "asked", "handed_over", "contradicted", "refused"):
                    sums[name] += getattr(figures, name) * (figures.hook == HOOK)
        asked = self.expected.count("ask")
        known = {"asked": asked, "handed_over": asked, "contradicted": contradicted, "refused": 0}
        for name, number in {**states, **known}.items():
            assert sums[name] == number, name

    def check_ends(self) -> None:
        """The figures that each session of ours ended with: what it asked and what it learnt."""
        asked: set[str] = set()
        learnt: dict[str, str] = {}
        for one in read_records(open_log(self.trail)):
            body = one["body"]
            if one["type"] == "session_started":
                asked, learnt = set(), {}
            elif one["type"] == "approval_handed_over":
                asked.add(body["id"])
            elif one["type"] == "approval_outcome":
                learnt[body["id"]] = body["state"]
            elif one["type"] == "session_ended":
                figures = body["stats"]["hooks"].get(HOOK, {"approvals": Counter()})["approvals"]
                found = Counter(learnt.values())
                found["not_known"] = len(asked - learnt.keys())
                for name in ("allowed", "not_run", "not_known"):
                    assert figures[name] == found[name], name
                assert figures["handed_over"] == len(asked)

    def check_story(self) -> None:
        """What a person reads of each call."""
        shown = invoke("audit", "show", self.trail).stdout
        lines = [f"{line} " for line in shown.splitlines()]
        assert sum("denied by hooks-rules: never" in one for one in lines) == self.expected.count(
            "deny"
        )
        for call in self.expected.calls:
            about = [one for one in lines if f"{call.kind} {call.id} " in one]

            def says(text: str, about: list[str] = about) -> int:
                return sum(text in one for one in about)

            is_asked, has_run = call.kind == "ask", bool(call.results)
            known = [one for one in about if "ran" in one or "did not run" in one]
            assert says("handed over to claude") == is_asked, shown
            assert says("was allowed where claude asked: it ran") == (is_asked and has_run), shown
            assert says("ran although denied") == (call.kind == "deny" and has_run), shown
            assert ("did not run" in known[-1] if known else False) == (call.state == "not_run")
            assert bool(known) == ((has_run and call.kind != "plain") or call.state == "not_run")


def run_machine(examples: int, steps: int) -> None:
    run_state_machine_as_test(
        GuestRecords,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.explicit, Phase.reuse, Phase.generate),
        ),
    )


def test_what_is_said_of_a_guest_is_what_its_events_showed() -> None:
    """In any order."""
    run_machine(8, 12)


def test_a_process_that_only_learns_what_became_of_questions_says_so_when_it_ends() -> None:
    """It called no hook; those that had asked, and denied, have figures all the same."""
    session = GuestRecords()
    session.begin()
    try:
        session.call([("ask", ""), ("ask", ""), ("deny", "")])
        session.suspend()
        session.show_result(0, failed=False)
        session.show_result(1, failed=False)
        session.end()
    finally:
        session.teardown()


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_same_for_hundreds_of_sessions() -> None:
    """Longer ones, too."""
    run_machine(100, 25)
