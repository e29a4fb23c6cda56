"""Asking a person: the question, what its options mean, and the gate with its deadline."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="arg-type"

from __future__ import annotations

import asyncio
import dataclasses
import math
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core import approval
from amplifier_core.approval import (
    ALLOWING,
    REFUSING,
    ApprovalAnswer,
    ApprovalGate,
    ApprovalQuestion,
    ApprovalSystem,
    DecidingApprovalSystem,
    GateDecision,
    OptionMeaning,
    allows,
    allows_unoffered,
    find_unclear_options,
    read_option,
    resolve_options,
)
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.errors import ApprovalError, ApprovalTimeout, ApprovalTimeoutError
from amplifier_core.gatekeeper import digest_operation
from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult
from amplifier_core.testing import ScriptedApproval
from tests.support.harness import Harness
from tests.support.hooks import PRE, asks, modifies, says
from tests.support.people import AbsentPerson, PlainPerson


def test_protocols_of_approval():
    assert isinstance(PlainPerson(), ApprovalSystem)
    assert isinstance(ScriptedApproval(), DecidingApprovalSystem)


async def test_the_prompt_goes_verbatim():
    """Control characters included: to show them safely is the front end's work."""
    person = PlainPerson("Allow")
    harness = Harness(approval=person)
    fields = {"approval_options": ["Allow", "Deny"], "approval_timeout": 7.5}
    harness.hooks.register(PRE, asks("Weird \u202e \x1b[2K?", **fields))
    await harness.pre()
    assert person.asked == [("Weird \u202e \x1b[2K?", ["Allow", "Deny"], 7.5, "deny")]


async def test_a_question_without_a_prompt_has_one():
    person = PlainPerson("Allow")
    harness = Harness(approval=person)
    harness.hooks.register(PRE, says("ask_user"))
    await harness.pre()
    assert person.prompts == ["Allow this operation?"]


async def test_the_person_sees_the_final_call():
    """Also what a hook changed that runs after the one that asked."""
    reader = ScriptedApproval("Allow")
    harness = Harness(approval=reader)
    harness.hooks.register(PRE, asks("w?", reason="because"), priority=0, name="guard")
    harness.hooks.register(PRE, modifies(tool_input={"path": "/safe"}), priority=1)
    result = await harness.judge(PRE, tool_name="Write", tool_input={"path": "/etc"})
    [question] = reader.questions
    assert question.tool_input == result.data["tool_input"] == {"path": "/safe"}
    assert (question.hook, question.event, question.reason) == ("guard", PRE, "because")
    assert (question.tool_name, question.session_id) == ("Write", "test-session")
    assert question.digest == digest_operation(PRE, result.data)
    assert result.digest == question.digest
    recorded = {body["digest"] for body in harness.bodies("approval_requested")}
    recorded |= {body["digest"] for body in harness.bodies("approval_decided")}
    assert recorded == {question.digest}


words = st.sampled_from([*ALLOWING, *REFUSING, "always", "once", "maybe", "allowance"])
marks = st.sampled_from(["", " ", "_", "-", "(", ")", "! ", ", ", "\n", "\u00a0"])
options = st.one_of(
    st.text(max_size=20),
    st.lists(st.tuples(marks, words, marks).map("".join), max_size=4).map("".join),
)


@pytest.mark.parametrize(
    ("option", "allows", "refuses", "remembered"),
    [
        ("Allow", True, False, False),
        ("YES, go on", True, False, False),
        ("Allow always", True, False, True),
        ("Allow (always)", True, False, True),
        ("allow_always", True, False, True),
        ("Allow always.", True, False, True),
        ("Always allow", False, False, False),
        ("Allow always, but ask", True, False, False),
        ("Deny", False, True, False),
        ("No, never allow", False, True, False),
        ("Deny always!", False, True, True),
        ("Allowance", False, False, False),
        ("Disallow", False, False, False),
        ("Allowalways", False, False, False),
        ("Maybe", False, False, False),
        ("always", False, False, True),
        ("", False, False, False),
        (" _ ?! ", False, False, False),
    ],
)
def test_the_first_word_decides_and_the_last_may_be_always(
    option: str, allows: bool, refuses: bool, remembered: bool
) -> None:
    """Words count, not letters; case and punctuation do not matter."""
    assert read_option(option) == OptionMeaning(allows, refuses, remembered)


@given(options)
def test_no_option_both_allows_and_refuses(option: str) -> None:
    """An option is a yes, a no, or unclear; unclear ones are reported as such."""
    meaning = read_option(option)
    assert not (meaning.allows and meaning.refuses)
    unclear = not meaning.allows and not meaning.refuses
    assert find_unclear_options([option]) == ([option] if unclear else [])


@given(options)
async def test_the_gate_carries_out_what_the_option_means(option: str) -> None:
    """A person's answer is allowed and remembered exactly as its option reads."""
    question = ApprovalQuestion("Go?", (option,), 5, "deny", hook="h")
    gate = ApprovalGate(PlainPerson(option))
    verdict = await gate.ask(question)
    meaning = read_option(option)
    assert verdict.allowed == meaning.allows
    assert gate.remember(1, question, verdict, None) == meaning.remembered
    assert (gate.recall(1, question) is not None) == meaning.remembered


@pytest.mark.parametrize(
    "option",
    ["Allow", "allow once", "YES!", "Yes, always", "approve", "Accept.", "ok", "Proceed",
     "continue", "Run it", "Confirm", "(allow)", "Allow — nur dieses Mal", "allow_all"],
)  # fmt: skip
def test_yes(option):
    assert allows(option)


@pytest.mark.parametrize(
    "option",
    ["Deny", "No", "", " ", "!", "Disallow", "not ok", "Аllow", "allow2ban", "✓", "1. Allow",
     "Denyallow", "runs", "okay"],
)  # fmt: skip
def test_no(option):
    assert not allows(option)


def test_unclear_options_are_found():
    """Neither yes nor no: the author of the hook should hear of it."""
    assert find_unclear_options(["Allow", "Deny", "Maybe", "Never", "Later"]) == [
        "Maybe",
        "Later",
    ]
    assert resolve_options([]) == resolve_options(None) == ("Allow", "Deny")


@pytest.mark.parametrize(
    ("option", "remembered", "scoped"),
    [
        ("Allow always", True, False),
        ("Allow (always)", True, False),
        ("Allow always for this path", True, True),
        ("Deny, always for *.env", True, True),
        ("Allow always for", False, False),
        ("Allow, but not always here", False, False),
        ("Allow for always", True, False),
        ("Allow once", False, False),
    ],
)
def test_words_behind_always_are_its_scope(option: str, remembered: bool, scoped: bool) -> None:
    """ "Always for …" is for what the words say; "always" alone is for exactly what was shown."""
    meaning = read_option(option)
    assert (meaning.remembered, meaning.scoped) == (remembered, scoped)


@pytest.mark.parametrize(
    ("answer", "offered", "yes"),
    [
        ("Allow", ["Yes", "No"], True),
        ("Allow once", ["Run it", "Deny"], True),
        ("Allow always", ["Allow", "Deny"], True),
        ("Allow", ["Deny", "Later"], False),
        ("Allow", [], False),
        ("Yes", ["Allow", "Deny"], False),
        ("allow", ["Yes", "No"], False),
    ],
)
def test_the_usual_words_are_a_yes_where_a_yes_was_offered(
    answer: str, offered: list[str], yes: bool
) -> None:
    """Front ends with an "always" of their own answer so; any other word must have been offered."""
    assert allows_unoffered(answer, offered) is yes


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
        for one in inputs:
            assert (await harness.pre(**one)).action == "continue"
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


def test_a_question_is_a_value_that_nobody_changes() -> None:
    """What was shown is what was asked."""
    question = ApprovalQuestion("Go on?", ("Allow", "Deny"), 5.0, "deny", "guard")
    assert (question.tool_input, question.tool_name, question.session_id) == ({}, None, None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        question.prompt = "Something else?"  # type: ignore[misc]


def test_an_answer_needs_an_option_only() -> None:
    """Both values are found where approval systems look for them."""
    answer = ApprovalAnswer("Allow")
    assert (answer.by, answer.comment, answer.edited_input) == (None, None, None)
    assert approval.ApprovalAnswer is ApprovalAnswer
    assert approval.ApprovalQuestion is ApprovalQuestion


class RemembersElsewhere(PlainPerson):
    """An approval system with a memory of its own."""

    def __init__(self, recalled: ApprovalAnswer | None) -> None:
        super().__init__("Deny")
        self.recalled = recalled

    def recall(self, question: ApprovalQuestion) -> ApprovalAnswer | None:
        return self.recalled


@pytest.mark.parametrize(
    ("recalled", "action"),
    [
        (ApprovalAnswer("Allow", by="rule:ours"), "continue"),
        (ApprovalAnswer("Deny", by="rule:ours"), "deny"),
        (None, "deny"),
    ],
)
async def test_an_approval_system_may_know_an_earlier_yes(
    recalled: ApprovalAnswer | None, action: str
) -> None:
    """Nobody is asked then; whatever is not a yes has the person asked, who refuses here."""
    person = RemembersElsewhere(recalled)
    harness = Harness(approval=person)
    harness.hooks.register(PRE, asks("Really?"))
    assert (await harness.pre(text="x")).action == action
    assert len(person.asked) == (0 if action == "continue" else 1)
    assert [one["by"] for one in harness.bodies("approval_cache_hit")] == (
        ["rule:ours"] if action == "continue" else []
    )
