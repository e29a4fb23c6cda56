"""One gate: what counts as an answer, for how long, and what is remembered."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="arg-type"

from __future__ import annotations

import asyncio
import math
import time
from dataclasses import replace
from typing import Any

import pytest

from amplifier_core.approval import ApprovalAnswer, ApprovalGate, ApprovalQuestion, GateDecision
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.errors import ApprovalError, ApprovalTimeout, ApprovalTimeoutError
from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult
from tests.support.harness import Harness
from tests.support.hooks import PRE, asks, says
from tests.support.people import AbsentPerson, PlainPerson

MONTH = 30 * 24 * 3600.0
QUESTION = ApprovalQuestion("Go on?", ("Allow", "Deny"), 5.0, "deny", hook="asker", event=PRE)


async def test_the_hook_is_warned_about(caplog):
    harness = Harness(approval=PlainPerson("Maybe"))
    harness.hooks.register(PRE, asks(approval_options=["Allow", "Maybe"]), name="vague")
    assert (await harness.pre()).action == "deny"
    assert "Hook 'vague' offers ['Maybe'], which count as a refusal" in caplog.text


@pytest.mark.parametrize(
    "answer",
    [None, "", "deny", "DENY", "Allow ", " Allow", "allow", "Аllow", True, 1, 7, ["Allow"],
     {"option": "Allow"}, "Allow  always", "x" * 1_000_000, ApprovalAnswer(None),
     ApprovalAnswer("Yes"), type("Text", (str,), {})("Other"), object()],
    ids=lambda answer: repr(answer)[:20],
)  # fmt: skip
async def test_everything_else_is_a_deny(answer):
    """Only an offered option that says yes is one: no look-alike, no truthy value, no long text."""
    for default in ("deny", "allow"):
        harness = Harness(approval=PlainPerson(answer))
        harness.hooks.register(PRE, asks(approval_default=default))
        result = await harness.pre()
        assert result.action == "deny"
        assert len(result.reason) < 500


async def test_the_front_end_is_told_the_time_that_there_is():
    """That of the session if it is shorter, else that of the question; a month at most."""
    told = []

    class Person:
        async def decide(self, question: ApprovalQuestion) -> ApprovalAnswer:
            told.append(question.timeout)
            return ApprovalAnswer("Allow")

    for limit, seconds in ((60.0, 600.0), (600.0, 60.0), (None, 1e9)):
        gate = ApprovalGate(Person(), limit)
        assert (await gate.ask(replace(QUESTION, timeout=seconds))).allowed
    assert told == [60.0, 60.0, 2_592_000.0]


async def test_an_answer_at_the_very_deadline_is_late(monkeypatch):
    """The time given is over when it is over."""
    clock = iter((100.0, 105.0))
    monkeypatch.setattr(
        "amplifier_core.approval.time", type("Clock", (), {"monotonic": lambda: next(clock)})
    )
    decision = await ApprovalGate(PlainPerson("Allow")).ask(QUESTION)
    assert (decision.allowed, decision.how) == (False, "timeout")


@pytest.mark.parametrize(
    ("error", "how", "detail"),
    [
        (ApprovalTimeout("gone for lunch"), "timeout", "gone for lunch"),
        (ApprovalTimeout(), "timeout", "nobody decided in time"),
        (ApprovalError("no terminal"), "error", "no terminal"),
        (ApprovalError(), "error", "the approval system failed: ApprovalError"),
        (OSError("torn"), "error", "the approval system failed: OSError: torn"),
    ],
)
async def test_the_reason_says_how_a_front_end_failed(caplog, error, how, detail):
    """Its own sentence where it has one, else the name of what went wrong, and a traceback."""

    class Broken:
        async def decide(self, question: ApprovalQuestion) -> ApprovalAnswer:
            raise error

    decision = await ApprovalGate(Broken()).ask(QUESTION)
    assert (decision.allowed, decision.how, decision.detail) == (False, how, detail)
    traced = [one for one in caplog.records if one.exc_info]
    assert bool(traced) is detail.startswith("the approval system failed")


async def test_a_long_answer_is_quoted_in_part():
    """Eighty characters of what was not offered are enough to know it."""
    decision = await ApprovalGate(PlainPerson("x" * 81)).ask(QUESTION)
    assert decision.detail == f"'{'x' * 80}' is not one of Allow, Deny"


@pytest.mark.parametrize("option", ["No", "deny", "Reject", "Abbrechen"])
async def test_other_labels_are_no_consent(option):
    """An option that does not say yes refuses, whatever the hook called it."""
    harness = Harness(approval=PlainPerson(option))
    harness.hooks.register(PRE, asks(approval_options=["Yes", option]))
    assert (await harness.pre()).action == "deny"


async def test_yes_and_no_can_allow():
    harness = Harness(approval=PlainPerson("Yes"))
    harness.hooks.register(PRE, asks(approval_options=["Yes", "No"]))
    result = await harness.pre(x=1)
    assert (result.action, result.data["tool_input"]) == ("continue", {"x": 1})


class TestNobodyDecides:
    async def test_without_an_approval_system_it_is_denied(self):
        """Where nobody can be asked, a default of allow does not count."""
        harness = Harness(approval=None)
        harness.hooks.register(PRE, asks(approval_default="allow"))
        result = await harness.pre()
        assert result.reason == "No approval system to ask: Go on?"

    @pytest.mark.parametrize(("default", "action"), [("deny", "deny"), ("allow", "continue")])
    @pytest.mark.parametrize(
        "failure",
        [
            ValueError("x"),
            ApprovalTimeout("late"),
            ApprovalTimeoutError(),
            asyncio.CancelledError(),
        ],
        ids=lambda failure: type(failure).__name__,
    )
    async def test_the_default_holds_on_timeout_and_error(self, failure, default, action):
        """A front end that fails or gives up leaves the decision to the hook's default."""
        harness = Harness(approval=PlainPerson(failure))
        harness.hooks.register(PRE, asks(approval_default=default))
        assert (await harness.pre(x=1)).action == action
        how = harness.bodies("approval_expired") or harness.bodies("approval_decided")
        assert how[0]["how"] in ("timeout", "error")

    async def test_an_approval_system_without_a_method(self):
        harness = Harness(approval=object())
        harness.hooks.register(PRE, asks())
        assert (await harness.pre()).action == "deny"

    @pytest.mark.parametrize("default", ["deny", "allow"])
    @pytest.mark.parametrize("seconds", [0, 0.02])
    async def test_the_kernel_keeps_the_time(self, seconds, default):
        """A front end that never returns cannot hang the session."""
        harness = Harness(approval=AbsentPerson())
        harness.hooks.register(PRE, asks(approval_timeout=seconds, approval_default=default))
        result = await harness.pre()
        assert result.action == ("continue" if default == "allow" else "deny")
        if default == "deny":
            assert result.reason == "Timeout - denied by default: Go on?"
        assert len(harness.bodies("approval_expired")) == 1
        assert asyncio.all_tasks() == {asyncio.current_task()}

    @pytest.mark.parametrize("seconds", [-1.0, math.nan, -math.inf])
    async def test_a_time_that_is_none_is_denied(self, seconds):
        """Less than no time, or a time that is no number: nobody is asked."""
        person = PlainPerson("Allow")
        harness = Harness(approval=person)
        harness.hooks.register(PRE, asks(approval_timeout=seconds, approval_default="allow"))
        assert (await harness.pre()).action == "deny"
        assert person.asked == []

    async def test_a_time_that_is_no_number_is_denied(self):
        result = HookResult.model_construct(action="ask_user", approval_timeout="soon")
        harness = Harness(approval=PlainPerson("Allow"))
        harness.hooks.register(PRE, lambda event, data: result)
        assert (await harness.pre()).action == "deny"

    @pytest.mark.parametrize("seconds", [math.inf, 1e12])
    async def test_a_long_time_is_a_time(self, seconds):
        harness = Harness(approval=PlainPerson("Allow"))
        harness.hooks.register(PRE, asks(approval_timeout=seconds))
        assert (await harness.pre()).action == "continue"

    @pytest.mark.parametrize(
        ("limit", "wanted", "given"),
        [
            (None, math.inf, MONTH),
            (None, MONTH + 1, MONTH),
            (math.inf, math.inf, MONTH),
            (60.0, math.inf, 60.0),
            (60.0, 5.0, 5.0),
        ],
    )
    async def test_no_question_waits_longer_than_the_longest_wait(self, limit, wanted, given):
        """Thirty days, or what the session says if that is less; the person is told that time."""
        person = PlainPerson("Allow")
        gate = ApprovalGate(person, limit)
        assert (await gate.ask(replace(QUESTION, timeout=wanted))).how == "person"
        assert [timeout for _, _, timeout, _ in person.asked] == [given]

    async def test_the_wait_ends_at_the_longest_wait(self):
        """Whatever the hook asked for, and whether or not the front end keeps the time."""
        gate = ApprovalGate(AbsentPerson(), 0.02)
        async with asyncio.timeout(20):
            decision = await gate.ask(replace(QUESTION, timeout=math.inf))
        assert (decision.allowed, decision.how) == (False, "timeout")

    async def test_a_late_yes_is_no_yes(self):
        """The machine may have slept over the deadline: what comes after it does not count."""

        class Blocks:
            async def request_approval(self, *question: Any) -> str:
                time.sleep(0.05)
                return "Allow"

        harness = Harness(approval=Blocks())
        harness.hooks.register(PRE, asks(approval_timeout=0.01))
        assert (await harness.pre()).reason.startswith("Timeout - denied")

    async def test_a_front_end_that_ignores_its_withdrawal(self, caplog):
        class Stubborn:
            async def request_approval(self, *question: Any) -> str:
                while True:
                    try:
                        await asyncio.sleep(60)
                    except asyncio.CancelledError:
                        if self.ends:
                            raise

            ends = False

        stubborn = Stubborn()
        harness = Harness(approval=stubborn)
        harness.hooks.register(PRE, asks(approval_timeout=0.01))
        assert (await harness.pre()).action == "deny"
        stubborn.ends = True
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()


class TestTheCache:
    """An answer for always holds for one registration, one tool and one prompt of one session."""

    options = {"approval_options": ["Allow once", "Allow always", "Deny", "Deny always"]}

    async def test_always_is_asked_once(self):
        person = PlainPerson("Allow always")
        harness = Harness(approval=person)
        harness.hooks.register(PRE, asks("w?", **self.options))
        for _ in range(3):
            assert (await harness.pre()).action == "continue"
        assert len(person.asked) == 1
        assert len(harness.bodies("approval_cache_stored")) == 1
        assert len(harness.bodies("approval_cache_hit")) == 2

    async def test_a_refusal_for_always_too(self):
        """No for always is remembered as yes for always is."""
        person = PlainPerson("Deny always")
        harness = Harness(approval=person)
        harness.hooks.register(PRE, asks("w?", **self.options))
        for _ in range(2):
            assert (await harness.pre()).action == "deny"
        assert len(person.asked) == 1

    async def test_once_is_once(self):
        person = PlainPerson("Allow once")
        harness = Harness(approval=person)
        harness.hooks.register(PRE, asks("w?", **self.options))
        for _ in range(2):
            await harness.pre()
        assert len(person.asked) == 2

    async def test_the_scope(self):
        """Another registration, tool or prompt is another question, however alike they read."""
        person = PlainPerson("Allow always")
        harness = Harness(approval=person)
        undo = harness.hooks.register(PRE, asks("a:b?", **self.options), name="hook")
        await harness.pre()
        undo()
        harness.hooks.register(PRE, asks("a:b?", **self.options), name="hook")
        await harness.pre()
        await harness.coordinator.execute_with_hooks(PRE, {"tool_name": "Bash", "tool_input": {}})
        await harness.coordinator.execute_with_hooks(
            PRE, {"tool_name": "Write:a", "tool_input": {}}
        )
        harness.hooks.unregister("hook")
        harness.hooks.register(PRE, asks("b?", **self.options), name="hook:a")
        await harness.pre()
        assert len(person.asked) == 5

    async def test_another_tool_under_the_same_name(self):
        """A name is not a tool: its replacement was never allowed."""
        person = PlainPerson("Allow always")
        harness = Harness(approval=person)
        harness.hooks.register(PRE, asks("w?", **self.options))
        for tool in ("one", "one", "two"):
            await harness.coordinator.mount("tools", tool, name="Write")
            await harness.pre()
        assert len(person.asked) == 2

    async def test_a_new_session_and_a_sub_agent_ask_again(self):
        """What was allowed here was not allowed there."""
        person = PlainPerson("Allow always")
        harness = Harness(approval=person)
        harness.hooks.register(PRE, asks("w?", **self.options))
        await harness.pre()
        child = SessionCoordinator(HookRegistry(parent=harness.hooks), approval_system=person)
        await child.execute_with_hooks(PRE, {"tool_name": "Write", "tool_input": {}})
        assert len(person.asked) == 2

    async def test_it_is_cleared_at_the_end(self):
        """A session that ended remembers no answer."""
        person = PlainPerson("Allow always")
        harness = Harness(approval=person)
        harness.hooks.register(PRE, asks("w?", **self.options))
        await harness.pre()
        await harness.coordinator.cleanup()
        await harness.pre()
        assert len(person.asked) == 2
        assert harness.bodies("approval_cache_cleared") == [{"answers": 1}]

    async def test_deny_hooks_come_first(self):
        """A remembered yes does not outvote a hook that denies."""
        harness = Harness(approval=PlainPerson("Allow always"))
        harness.hooks.register(PRE, asks("w?", **self.options), priority=0)
        await harness.pre()
        harness.hooks.register(PRE, says("deny", reason="new"), priority=100)
        assert (await harness.pre()).reason == "new"
        assert harness.bodies("approval_cache_hit") == []

    async def test_a_default_is_not_cached(self):
        harness = Harness(approval=PlainPerson(ValueError("x"), "Deny"))
        harness.hooks.register(
            PRE, asks("w?", approval_default="allow", approval_options=["Allow always", "Deny"])
        )
        assert (await harness.pre()).action == "continue"
        assert (await harness.pre()).action == "deny"

    @pytest.mark.parametrize("how", ["timeout", "error", "nobody", "invalid", "cache"])
    @pytest.mark.parametrize("option", ["Allow always", "Deny always"])
    async def test_what_no_person_decided_is_never_remembered(self, how, option):
        """Only a person's word holds for the rest of the session, whatever option it names."""
        gate = ApprovalGate(PlainPerson("Allow"))
        said = GateDecision(option == "Allow always", how, option)
        assert not gate.remember(1, QUESTION, said, None)
        assert gate.recall(1, QUESTION) is None
        assert gate.remember(1, QUESTION, replace(said, how="person"), None)
        assert gate.recall(1, QUESTION) is not None

    @pytest.mark.parametrize("failure", [ApprovalTimeout("late"), ValueError("x")])
    async def test_after_a_question_that_nobody_answered_the_next_is_asked(self, failure):
        """Nothing of it is kept, in the gate or on record."""
        person = PlainPerson(failure, failure, "Deny")
        harness = Harness(approval=person)
        options = ["Allow always", "Deny always", "Deny"]
        harness.hooks.register(PRE, asks(approval_default="allow", approval_options=options))
        assert [(await harness.pre()).action for _ in range(3)] == ["continue", "continue", "deny"]
        assert (len(person.asked), harness.bodies("approval_cache_stored")) == (3, [])

    async def test_another_input_is_asked_about_under_the_same_prompt(self):
        """What the person read is what is allowed for always: the exact input, not the words."""
        person = PlainPerson("Allow always")
        harness = Harness(approval=person)
        harness.hooks.register(PRE, asks("Write to /production?", **self.options))
        long = "x" * 3_000
        inputs = ({"text": long}, {"text": long + "y"}, {"text": long}, {"text": long, "more": 1})
        for given in inputs:
            assert (await harness.pre(**given)).action == "continue"
        assert len(person.asked) == 3
        assert len(harness.bodies("approval_cache_hit")) == 1

    @pytest.mark.parametrize("refuses", [False, True])
    async def test_a_scope_in_words_holds_for_every_input_under_that_prompt(self, refuses):
        """Who chooses "always for this path" has chosen more than one input, and nothing else."""
        verb = "Deny" if refuses else "Allow"
        options = ["Allow always", "Allow always for this path", "Deny always for this path"]
        person = PlainPerson(f"{verb} always for this path")
        harness = Harness(approval=person)
        harness.hooks.register(PRE, asks("Write to /a?", approval_options=options), name="a")
        for text in ("one", "two"):
            action = (await harness.pre(text=text)).action
            assert action == ("deny" if refuses else "continue")
        assert person.prompts == ["Write to /a?"]
        harness.hooks.unregister("a")
        harness.hooks.register(PRE, asks("Write to /b?", approval_options=options))
        await harness.pre(text="one")
        assert person.prompts == ["Write to /a?", "Write to /b?"]

    @pytest.mark.parametrize(
        "answers",
        [
            ["Allow always", "Deny always for this path"],
            ["Deny always", "Allow always for this path"],
        ],
    )
    async def test_a_remembered_no_is_stronger_than_a_remembered_yes(self, answers):
        """A person who said no to something does not say yes to it by the way."""
        options = {"approval_options": [*answers, "Allow always for this path"]}
        harness = Harness(approval=PlainPerson(*answers))
        harness.hooks.register(PRE, asks("Write to /a?", **options))
        for text in ("one", "two"):
            await harness.pre(text=text)
        assert (await harness.pre(text="one")).action == "deny"

    @pytest.mark.parametrize(
        ("event", "asked"),
        [("provider:request", 1), ("context:pre-compact", 1), ("prompt:submit", 2), ("my:own", 2)],
    )
    async def test_events_that_carry_the_conversation_go_by_the_prompt(self, event, asked):
        """No two of these are alike: "always" is about the words there, else about the data."""
        person = PlainPerson("Allow always")
        harness = Harness(approval=person)
        harness.hooks.register(event, asks("Over budget. Go on?", **self.options))
        for number in (1, 2, 2):
            await harness.run(event, messages=[{"content": str(number)}], prompt=str(number))
        assert len(person.asked) == asked

    async def test_another_result_of_the_same_call_is_asked_about(self):
        """After a call its result is what the question is about."""
        person = PlainPerson("Allow always")
        harness = Harness(approval=person)
        harness.hooks.register("tool:post", asks("Show it?", **self.options))
        for output in ("one", "two", "two"):
            await harness.run(
                "tool:post", tool_name="Read", tool_input={}, tool_result={"output": output}
            )
        assert len(person.asked) == 2
