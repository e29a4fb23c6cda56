"""Questions that another program asks its own person."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.answers import ASKED_ELSEWHERE
from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion, HandedOver
from amplifier_core.handovers import MOST
from amplifier_core.message_models import ToolCall
from amplifier_core.testing import EventRecorder, MockTool
from amplifier_core.tool_call import call_tool, start_call
from tests.support.harness import Harness
from tests.support.hooks import PRE, asks, says


class Elsewhere:
    """Hands every question over, until it has answers."""

    def __init__(self, *, goes_on: bool = True) -> None:
        self.answers: list[ApprovalAnswer] = []
        self._goes_on = goes_on

    async def decide(self, question: ApprovalQuestion) -> ApprovalAnswer | HandedOver:
        return self.answers.pop(0) if self.answers else HandedOver("host", goes_on=self._goes_on)


def make(*, goes_on: bool = True) -> Harness:
    """A session that hands over what a hook asks."""
    harness = Harness(approval=Elsewhere(goes_on=goes_on))
    harness.hooks.register(PRE, asks("Really?"), name="guard")
    return harness


async def judge(harness: Harness, call: str = "c1", **more: Any) -> Any:
    data = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_call_id": call, **more}
    return await harness.judge(PRE, **data)


def bodies(harness: Harness, type: str) -> list[dict[str, Any]]:
    return [one["body"] for one in harness.trail.of_type(type)]


def figures(harness: Harness) -> dict[str, int]:
    """What is counted of the hook's questions, without what is zero."""
    counted: dict[str, int] = harness.hooks.count()["guard"].to_dict()["approvals"]
    return {name: count for name, count in counted.items() if count}


async def test_a_question_that_is_handed_over_is_decided_by_nobody() -> None:
    """The trail says to whom, and no more; no hook is told of a yes or a no."""
    harness = make()
    told = EventRecorder()
    for event in ("approval:granted", "approval:denied", "policy:violation"):
        harness.hooks.register(event, told)
    outcome = await judge(harness)
    assert (outcome.allowed, outcome.handed_over) == (True, True)
    (body,) = bodies(harness, "approval_handed_over")
    assert (body["to"], body["id"], body["tool"]) == ("host", "c1", "Bash")
    assert body["digest"] == bodies(harness, "approval_requested")[0]["digest"]
    assert bodies(harness, "approval_decided") == []
    assert told.events == []
    assert figures(harness) == {"asked": 1, "handed_over": 1, "not_known": 1}


async def test_it_is_recorded_before_it_goes_on() -> None:
    """A trail that takes nothing lets nothing out."""
    harness = make()
    append = harness.trail.append

    def fail(type: str, *given: Any, **more: Any) -> int:
        if type == "approval_handed_over":
            raise OSError("the disk is full")
        return append(type, *given, **more)

    harness.trail.append = fail  # type: ignore[method-assign]
    outcome = await judge(harness)
    assert not outcome.allowed
    assert "takes no records" in outcome.reason


async def test_a_result_says_that_it_was_allowed() -> None:
    """With what shows it, counted once, and told to hooks in the name of the program."""
    harness = make()
    granted = EventRecorder()
    harness.hooks.register("approval:granted", granted)
    await judge(harness)
    for _ in range(2):
        await harness.coordinator.handovers.learn("c1", "allowed", "result")
    (body,) = bodies(harness, "approval_outcome")
    assert (body["state"], body["evidence"], body["settles"]) == ("allowed", "result", "not_known")
    assert (body["to"], body["id"]) == ("host", "c1")
    assert [one["by"] for _, one in granted.events] == ["host"]
    assert figures(harness) == {"asked": 1, "handed_over": 1, "allowed": 1, "overruled": 1}


async def test_that_it_did_not_run_is_taken_back_when_its_result_comes() -> None:
    """The correction says what it corrects; the figures are those of one question."""
    harness = make()
    denied = EventRecorder()
    harness.hooks.register("approval:denied", denied)
    await judge(harness)
    for _ in range(2):
        await harness.coordinator.handovers.conclude("stop")
    assert figures(harness) == {"asked": 1, "handed_over": 1, "not_run": 1}
    await harness.coordinator.handovers.learn("c1", "allowed", "result")
    found = [(one["state"], one["settles"]) for one in bodies(harness, "approval_outcome")]
    assert found == [("not_run", "not_known"), ("allowed", "not_run")]
    assert len(denied.events) == 1
    assert figures(harness) == {"asked": 1, "handed_over": 1, "allowed": 1, "overruled": 1}


async def test_a_stop_of_one_agent_says_nothing_of_another() -> None:
    """A sub-agent may still wait for its person."""
    harness = make()
    await judge(harness, "mine")
    await judge(harness, "theirs", agent_id="sub")
    await harness.coordinator.handovers.conclude("stop", "")
    assert [one["id"] for one in bodies(harness, "approval_outcome")] == ["mine"]
    await harness.coordinator.handovers.conclude("session end")
    assert [one["id"] for one in bodies(harness, "approval_outcome")] == ["mine", "theirs"]


async def test_a_program_that_starts_anew_shows_nothing_of_what_was_before() -> None:
    """It may have died before the person answered, or while the call ran; a result still counts."""
    harness = make()
    await judge(harness)
    harness.coordinator.handovers.lose()
    await harness.coordinator.handovers.conclude("next prompt")
    assert bodies(harness, "approval_outcome") == []
    await harness.coordinator.handovers.learn("c1", "allowed", "result")
    assert figures(harness)["allowed"] == 1


async def test_what_is_denied_after_all_never_came_to_the_program() -> None:
    """A second gate says no: the question of the first one was put to nobody."""
    harness = make()
    elsewhere: Any = harness.approval
    harness.hooks.register(PRE, asks("Surely?"), priority=60, name="second")

    async def decide(question: ApprovalQuestion) -> ApprovalAnswer | HandedOver:
        first = question.hook == "guard"
        return HandedOver("host", goes_on=True) if first else ApprovalAnswer("Deny", by="ann")

    elsewhere.decide = decide
    assert not (await judge(harness)).allowed
    (body,) = bodies(harness, "approval_outcome")
    assert (body["state"], body["evidence"]) == ("not_run", "denied")


async def test_what_waits_for_an_answer_is_denied_by_nobody() -> None:
    """A question that does not go on comes again with its answer: it is one question."""
    harness = make(goes_on=False)
    violations = EventRecorder()
    harness.hooks.register("policy:violation", violations)
    first = await judge(harness)
    assert (first.allowed, first.handed_over) == (False, True)
    assert "handed over to host" in first.reason
    second = await judge(harness)
    assert not second.allowed
    elsewhere: Any = harness.approval
    elsewhere.answers = [ApprovalAnswer("Allow", by="ann")]
    assert (await judge(harness)).allowed
    assert violations.events == []
    assert [one.get("again") for one in bodies(harness, "approval_requested")] == [None, True, True]
    assert [one.get("again") for one in bodies(harness, "approval_handed_over")] == [None, True]
    (decided,) = bodies(harness, "approval_decided")
    assert (decided["by"], decided["settles"], decided["id"]) == ("ann", "not_known", "c1")
    assert figures(harness) == {"asked": 1, "handed_over": 1, "allowed": 1, "overruled": 1}


async def test_a_tool_of_our_own_does_not_run_unasked() -> None:
    """Whoever hands a question over must be the one who asks before the tool runs."""
    harness = make()
    tool = MockTool()
    call = ToolCall(id="c1", name="Bash", arguments={"command": "ls"})
    result = await call_tool(harness.coordinator, call, {"Bash": tool})
    assert result.denied
    assert ASKED_ELSEWHERE in str(result.error)
    assert tool.call_count == 0
    assert [one["evidence"] for one in bodies(harness, "approval_outcome")] == ["denied"]


async def test_loops_that_emit_by_themselves_are_told_no() -> None:
    """Nobody would ask before they run the tool."""
    harness = make()
    data = {"tool_name": "Bash", "tool_input": {}, "tool_call_id": "c1"}
    assert (await harness.run(PRE, **data)).reason == ASKED_ELSEWHERE
    answer = await harness.hooks.emit(PRE, data)
    carried = await harness.coordinator.process_hook_result(answer, PRE)
    assert (carried.action, carried.reason) == ("deny", ASKED_ELSEWHERE)


@pytest.mark.parametrize("gated", [True, False])
async def test_what_may_never_run_is_not_recorded_as_started(gated: bool) -> None:
    """Also where only a part of it was asked about; a digest that differs denies all the same."""
    harness = make() if gated else Harness()
    outcome = (await judge(harness))._replace(handed_over=True)
    left = dict(outcome.data)
    assert await start_call(harness.coordinator, outcome, left, same_tool=True) is None
    assert bodies(harness, "tool_started") == []
    changed = {**left, "tool_input": {"command": "rm"}}
    why = await start_call(harness.coordinator, outcome, changed, same_tool=True)
    assert why == ("the input of Bash is not what was approved" if gated else None)


async def test_another_process_goes_on_with_what_is_open() -> None:
    """What it is given is checked; hooks that are gone are counted by their name."""
    harness = make()
    await judge(harness)
    saved = harness.coordinator.handovers.save()
    later = Harness()
    later.coordinator.handovers.load(None)
    later.coordinator.handovers.load([*saved, {"call": "c2"}])
    assert later.coordinator.handovers.list_calls() == ["c1"]
    await later.coordinator.handovers.learn("c1", "allowed", "result")
    assert figures(later) == {"allowed": 1, "overruled": 1}


async def test_what_was_asked_about_no_tool_is_learnt_from_what_follows() -> None:
    """A request to a model follows a prompt that was let through."""
    harness = Harness(approval=Elsewhere())
    harness.hooks.register("prompt:submit", asks("Really?"), name="guard")
    await harness.judge("prompt:submit", prompt="hi")
    await harness.coordinator.handovers.conclude("next prompt")
    await harness.coordinator.handovers.learn_event("provider:request", "reply")
    assert figures(harness)["not_known"] == 1
    await harness.coordinator.handovers.learn_event("prompt:submit", "request")
    assert figures(harness) == {"asked": 1, "handed_over": 1, "allowed": 1, "overruled": 1}


async def test_the_oldest_are_forgotten() -> None:
    """They stay not known."""
    harness = make()
    for number in range(MOST + 1):
        await judge(harness, f"c{number}")
    calls = harness.coordinator.handovers.list_calls()
    assert (len(calls), calls[0]) == (MOST, "c1")


async def test_a_denial_without_a_question_settles_nothing() -> None:
    """Of another call."""
    harness = make()
    await judge(harness)
    harness.hooks.register(PRE, says("deny", reason="never"), priority=1)
    await judge(harness, "c2")
    assert bodies(harness, "approval_outcome") == []


async def test_the_questions_about_a_call_are_those_about_its_parts_too() -> None:
    """A part is named by the call, a colon and a number; another call may begin alike."""
    harness = make()
    for call in ("c1", "c1:0", "c1:1", "c10"):
        await judge(harness, call)
    listed = [one.call for one in harness.coordinator.handovers.list_about("c1")]
    assert listed == ["c1", "c1:0", "c1:1"]
    assert harness.coordinator.handovers.list_about("c2") == []
