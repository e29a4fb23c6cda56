"""What is known of a yes: nobody is asked twice about exactly the same call."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit import open_log, read_records
from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion, HandedOver
from amplifier_core.errors import ApprovalError
from amplifier_core.events import TOOL_PRE
from amplifier_hooks.agent.session.trail import locate_trail
from amplifier_hooks.coding_agents.sessions.approval import HostPrompt, RememberingApproval
from amplifier_hooks.external.conversation import EventContext, current_event
from amplifier_hooks.external.verdicts import Verdict
from tests.hooks.coding_agents.sessions.agents import Agent, Data, start


def _ask(*options: str) -> ApprovalQuestion:
    return ApprovalQuestion("May it?", options, 10.0, "deny", hook="h")


async def test_nothing_is_handed_over_where_the_agent_cannot_ask() -> None:
    """Outside of an event, or at one without a prompt, the answer is no."""
    prompt = HostPrompt("claude")
    with pytest.raises(ApprovalError, match="nobody can be asked"):
        await prompt.decide(_ask("Allow once", "Deny"))
    token = current_event.set(EventContext())
    with pytest.raises(ApprovalError, match="nobody can be asked"):
        await prompt.decide(_ask("Allow once", "Deny"))
    current_event.reset(token)


async def test_only_a_yes_for_once_is_handed_over() -> None:
    """The agent's person is asked each time: no "always" is said in their name."""
    token = current_event.set(EventContext(frozenset({"ask"})))
    prompt = HostPrompt("claude")
    handed = await prompt.decide(_ask("Allow always", "Allow once", "Deny"))
    assert handed == HandedOver("claude", goes_on=True)
    with pytest.raises(ApprovalError, match="none of Allow always, Deny"):
        await prompt.decide(_ask("Allow always", "Deny"))
    current_event.reset(token)


QUESTION = ApprovalQuestion(
    "May it?", ("Allow once", "Allow always", "Deny always"), 10.0, "deny", hook="h", digest="d1"
)


class Person:
    """Says what it is given, and counts."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked = 0

    async def decide(self, question: ApprovalQuestion) -> Any:
        self.asked += 1
        return self.answer


class Terminal:
    """The older form of an approval system."""

    async def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: str
    ) -> str:
        return options[1]


async def test_an_answer_for_always_outlives_the_process() -> None:
    """Another system with the same state does not ask again, and says whose answer it was.

    That of the older form counts as well; what is not a table of answers counts as nothing.
    """
    state: dict[str, Any] = {}
    first = Person(ApprovalAnswer("Allow always", by="ann"))
    await RememberingApproval(first, state).decide(QUESTION)
    damaged = Person("Allow once")
    await RememberingApproval(damaged, {"guest_always": [1]}).decide(QUESTION)
    assert damaged.asked == 1
    older: dict[str, Any] = {}
    assert await RememberingApproval(Terminal(), older).decide(QUESTION) == "Allow always"
    assert await RememberingApproval(Person("x"), older).decide(QUESTION) == ApprovalAnswer(
        "Allow always", by="rule:always, said by a person"
    )
    second = Person(ApprovalAnswer("Deny always"))
    answer = await RememberingApproval(second, state).decide(QUESTION)
    assert answer == ApprovalAnswer("Allow always", by="rule:always, said by ann")
    assert second.asked == 0


async def test_an_answer_for_a_scope_holds_for_other_inputs() -> None:
    """Its words say for what: the prompt is the scope, and not the exact input."""
    options = ("Allow once", "Allow always for this folder", "Deny")
    question = replace(QUESTION, options=options)
    state: dict[str, Any] = {}
    await RememberingApproval(Person(options[1]), state).decide(question)
    person = Person("Deny")
    asking = RememberingApproval(person, state)
    answer = await asking.decide(replace(question, digest="d2"))
    assert isinstance(answer, ApprovalAnswer)
    assert (answer.option, person.asked) == (options[1], 0)


async def test_other_questions_are_asked() -> None:
    """Another input, hook or prompt is another question."""
    state: dict[str, Any] = {}
    await RememberingApproval(Person("Allow always"), state).decide(QUESTION)
    person = Person("Allow once")
    asking = RememberingApproval(person, state)
    others = [replace(QUESTION, digest="d2"), replace(QUESTION, hook="x")]
    others += [replace(QUESTION, prompt="?"), replace(QUESTION, tool_name="Read")]
    for other in others:
        await asking.decide(other)
    assert person.asked == 4


async def test_an_answer_for_once_is_not_kept() -> None:
    """Nor is one with an edited input, nor one that was not offered."""
    state: dict[str, Any] = {}
    for answer in ("Allow once", ApprovalAnswer("Allow always", edited_input={}), "Yes always", 5):
        person = Person(answer)
        await RememberingApproval(person, state).decide(QUESTION)
        assert person.asked == 1


# A call that the agent asked its person about, and then ran

COMMAND: Data = {"command": "npm ci", "description": "Install"}


def make_asking(one: Agent, prompt: str = "Really?", **more: Any) -> list[Data]:
    """A hook that asks about every call."""
    return one.hook(TOOL_PRE, action="ask_user", approval_prompt=prompt, **more)


async def call(one: Agent, call_id: str, given: Data = COMMAND, **more: Any) -> Verdict:
    """The agent wants to run a command."""
    told = {"tool_use_id": call_id, "tool_input": given, **more}
    return await one.tell("PreToolUse", **told)


async def run(one: Agent, call_id: str, given: Data = COMMAND, **more: Any) -> Verdict:
    """The same; its person says yes, so a result comes."""
    verdict = await call(one, call_id, given, **more)
    await one.tell("PostToolUse", tool_use_id=call_id, tool_input=given, **more)
    return verdict


async def test_other_calls_are_asked_about(project: Path) -> None:
    """Another input, tool or folder is another call."""
    (project / "below").mkdir()
    async with start("claude", project) as one:
        make_asking(one)
        await run(one, "c1")
        other = {**COMMAND, "command": "npm ci x"}
        assert (await call(one, "c2", other)).decision == "ask"
        assert (await call(one, "c3", tool_name="Other")).decision == "ask"
        assert (await call(one, "c4", cwd=str(project / "below"))).decision == "ask"
        assert (await call(one, "c5")).decision == "allow"


async def test_a_call_that_ran_is_not_asked_about_again(project: Path) -> None:
    """Its result shows that the person said yes; the trail and hooks are told by which call."""
    async with start("claude", project) as one:
        make_asking(one)
        assert (await run(one, "c1")).decision == "ask"
        required = one.hook("approval:required", action="continue")
        granted = one.hook("approval:granted", action="continue")
        assert [(await run(one, name)).decision for name in ("c2", "c3")] == ["allow", "allow"]
    assert required == []
    assert [told["by"] for told in granted] == ["rule:remembered from c1"] * 2
    records = list(read_records(open_log(locate_trail({}, "s1"))))
    found = [record for record in records if record["type"] == "approval_cache_hit"]
    assert {(one["hook"], one["body"]["by"]) for one in found} == {
        ("test", "rule:remembered from c1")
    }
    assert [one["type"] for one in records].count("approval_requested") == 1


async def test_without_a_clear_sign_it_is_asked_about_again(project: Path) -> None:
    """No result, one that comes after the end of the turn, or one of another input."""
    other = {**COMMAND, "command": "npm ci --force"}
    async with start("claude", project) as one:
        make_asking(one)
        await call(one, "c1")
        assert (await call(one, "c2")).decision == "ask"
        await one.tell("Stop")
        assert (await call(one, "c3")).decision == "ask"
        await one.tell("PostToolUse", tool_use_id="c1", tool_input=COMMAND)
        assert (await call(one, "c4")).decision == "ask"
        await one.tell("PostToolUse", tool_use_id="c4", tool_input=other)
        assert (await call(one, "c5")).decision == "ask"
        assert (await call(one, "c6", other)).decision == "ask"


async def test_hooks_are_asked_each_time(project: Path) -> None:
    """Another question is put, without the one that was allowed; what they deny stays denied."""
    async with start("claude", project) as one:
        make_asking(one)
        await run(one, "c1")
        make_asking(one, name="second")
        verdict = await call(one, "c2")
        assert (verdict.decision, verdict.reason) == ("ask", "Really?")
        make_asking(one, "Are you sure?", name="test")
        assert "Are you sure?" in str((await call(one, "c3")).reason)
        one.hook(TOOL_PRE, name="strict", action="deny", reason="no more")
        verdict = await call(one, "c4")
    assert (verdict.decision, "no more" in str(verdict.reason)) == ("deny", True)


async def test_it_holds_for_the_session_and_in_another_process(project: Path) -> None:
    """After a crash of ours, and when it is resumed; a damaged memory allows nothing."""
    async with start("claude", project) as one:
        make_asking(one)
        await run(one, "c1")
        state = await one.guest.read_state()
    async with start("claude", project, state=state) as resumed:
        make_asking(resumed)
        assert (await call(resumed, "c2")).decision == "allow"
        resumed.guest.coordinator.session_state["guest_ran"] = ["x"]
        assert (await call(resumed, "c3")).decision == "ask"
    async with start("claude", project, "s2") as other:
        make_asking(other)
        assert (await call(other, "c1")).decision == "ask"
