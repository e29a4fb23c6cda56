"""The way of one operation through all of its gates."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="arg-type"

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest

from amplifier_core.answers import Outcome
from amplifier_core.approval import ApprovalAnswer
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.errors import ApprovalError
from amplifier_core.gatekeeper import digest_operation
from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult
from amplifier_core.operation import MOST_ROUNDS
from amplifier_core.testing import EventRecorder, MemoryAudit, MockTool, ScriptedApproval
from tests.support.harness import Harness
from tests.support.hooks import PRE, Data, asks, injects, modifies, raises, says
from tests.support.people import AbsentPerson, PlainPerson
from tests.support.sessions import SessionHarness
from tests.support.waiting import wait_until


class TestWhoIsAsked:
    @pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
    async def test_all_gates_whatever_the_order(self, order):
        """A denial among them wins in every order, and nobody is bothered."""
        hooks = [asks("one?"), asks("two?"), says("deny", reason="never"), modifies(x=1)]
        person = PlainPerson("Allow")
        harness = Harness(approval=person)
        for place, which in enumerate(order):
            harness.hooks.register(PRE, hooks[which], priority=place)
        result = await harness.pre()
        assert (result.action, result.reason) == ("deny", "never")
        assert person.asked == []

    @pytest.mark.parametrize("answers", list(itertools.product(["Allow", "Deny"], repeat=3)))
    async def test_every_gate_must_allow(self, answers):
        """A yes to one hook's question is no answer to another's; the first no ends it."""
        person = PlainPerson(*answers)
        harness = Harness(approval=person)
        for number in (2, 1, 3):
            harness.hooks.register(PRE, asks(f"{number}?"), priority=number)
        result = await harness.pre()
        asked = answers.index("Deny") + 1 if "Deny" in answers else 3
        assert person.prompts == [f"{number}?" for number in range(1, asked + 1)]
        assert result.action == ("deny" if "Deny" in answers else "continue")

    async def test_the_reason_names_hook_and_prompt(self):
        """The agent reads who refused and what was asked."""
        harness = Harness(approval=PlainPerson("Deny"))
        harness.hooks.register(PRE, asks("Delete it?"), name="guard")
        outcome = await harness.judge(PRE, tool_name="Write", tool_input={})
        assert outcome.denial == "Operation denied by guard: User denied: Delete it?"
        assert Outcome(False).denial == "Operation denied by a hook: no reason given"

    async def test_the_question_and_its_record_name_the_call(self):
        """So that a store, and a process that resumes, find it again."""
        person = ScriptedApproval("Allow")
        harness = Harness(approval=person)
        harness.hooks.register(PRE, asks("Sure?"))
        await harness.judge(PRE, tool_name="Write", tool_input={}, tool_call_id="call_1")
        await harness.judge(PRE, tool_name="Write", tool_input={})
        assert [one.tool_call_id for one in person.questions] == ["call_1", ""]
        assert [one["id"] for one in harness.bodies("approval_requested")] == ["call_1", ""]

    async def test_injections_and_messages_are_not_lost(self):
        """What other hooks said beside the question is carried out after it is allowed."""
        harness = Harness(approval=PlainPerson("Allow"))
        harness.hooks.register(PRE, injects("found", user_message="look"), name="scanner")
        harness.hooks.register(PRE, asks("go?", user_message="asking"), name="guard")
        assert (await harness.pre()).action == "continue"
        assert harness.texts == ["found"]
        assert [(text, source) for text, _, source in harness.shown] == [
            ("look", "hook:scanner"),
            ("asking", "hook:guard"),
        ]

    async def test_events_are_told_in_order(self):
        """Observers hear of the question, of the notification, and of the decision."""
        for answer, outcome in (("Allow", "approval:granted"), ("Deny", "approval:denied")):
            harness, seen = Harness(approval=PlainPerson(answer)), EventRecorder()
            harness.hooks.register("approval:*", seen)
            harness.hooks.register("user:*", seen)
            harness.hooks.register(PRE, asks("go?"), name="guard")
            await harness.pre()
            assert seen.names == ["approval:required", "user:notification", outcome]
            required, notification, decided = (data for _, data in seen.events)
            assert required["options"] == ["Allow", "Deny"]
            assert (required["timeout"], required["default"]) == (300.0, "deny")
            assert notification["notification_type"] == "approval_required"
            assert (decided["decision"], decided["how"]) == (answer, "person")

    async def test_a_denial_is_a_policy_violation(self):
        harness, seen = Harness(), EventRecorder()
        harness.hooks.register("policy:violation", seen)
        harness.hooks.register(PRE, says("deny", reason="no"), name="guard")
        await harness.pre()
        [(_, data)] = seen.events
        assert (data["event"], data["hook"], data["reason"]) == (PRE, "guard", "no")


class TestWhatWasApprovedIsWhatRuns:
    async def test_nothing_that_happens_while_waiting_reaches_it(self):
        """Neither the caller, nor the front end, nor a hook that kept its data changes the call."""
        given: Data = {"tool_name": "Write", "tool_input": {"path": "/safe", "rows": [1]}}
        kept: list[Data] = []

        async def keeper(event: str, data: Data) -> HookResult:
            kept.append(data)
            return HookResult(action="modify", data=data)

        async def meddling(question) -> str:
            question.tool_input["path"] = "/etc"
            given["tool_input"]["path"] = "/etc"
            for data in kept:
                data["tool_input"]["rows"].append(2)
            return "Allow"

        harness = Harness(approval=ScriptedApproval(meddling))
        harness.hooks.register(PRE, keeper)
        harness.hooks.register(PRE, asks())
        result = await harness.coordinator.judge(PRE, given)
        assert result.data["tool_input"] == {"path": "/safe", "rows": [1]}
        assert result.digest == digest_operation(PRE, result.data)

    async def test_a_deny_hook_that_comes_while_waiting(self):
        """A guard that was added before the person answered is heard."""

        async def adding(question) -> str:
            harness.hooks.register(PRE, says("deny", reason="new policy"))
            return "Allow"

        harness = Harness(approval=ScriptedApproval(adding))
        harness.hooks.register(PRE, asks())
        assert (await harness.pre()).reason == "new policy"

    async def test_a_modify_hook_that_comes_while_waiting_is_asked_about(self):
        answers = []

        async def adding(question) -> str:
            answers.append(question.tool_input)
            if len(answers) == 1:
                harness.hooks.register(PRE, modifies(tool_input={"path": "/other"}))
            return "Allow"

        harness = Harness(approval=ScriptedApproval(adding))
        harness.hooks.register(PRE, asks())
        result = await harness.pre(path="/safe")
        assert answers == [{"path": "/safe"}, {"path": "/other"}]
        assert result.data["tool_input"] == {"path": "/other"}

    async def test_a_harmless_change_does_not_ask_again(self):
        seen = EventRecorder()

        async def adding(question) -> str:
            harness.hooks.register(PRE, seen)
            return "Allow"

        reader = ScriptedApproval(adding)
        harness = Harness(approval=reader)
        harness.hooks.register(PRE, asks())
        assert (await harness.pre()).action == "continue"
        assert (len(reader.questions), len(seen.events)) == (1, 1)

    @pytest.mark.parametrize("change", ["deny", "prompt", "raise", "cancel"])
    async def test_an_asking_guard_is_heard_again(self, change, capsys):
        """A file that was changed while the person read about it is judged again."""
        world = {"script": "ls"}

        async def guard(event: str, data: Data) -> HookResult:
            print("looking")  # noqa: T201
            script = world["script"]
            if script == "raise":
                raise OSError("gone")
            if script == "cancel":
                raise asyncio.CancelledError
            if script == "deny":
                return HookResult(action="deny", reason="changed")
            return HookResult(action="ask_user", approval_prompt=f"Run {script}?")

        async def swapping(question) -> str:
            world["script"] = change if world["script"] == "ls" else world["script"]
            return "Allow" if question.prompt == "Run ls?" else "Deny"

        reader = ScriptedApproval(swapping)
        harness = Harness(approval=reader)
        harness.hooks.register(PRE, guard, on_error="deny")
        assert (await harness.pre()).action == "deny"
        assert len(reader.questions) == (2 if change == "prompt" else 1)
        assert capsys.readouterr().out == ""

    async def test_a_prompt_that_never_stays_is_denied(self):
        numbers = itertools.count()

        async def restless(event: str, data: Data) -> HookResult:
            return HookResult(action="ask_user", approval_prompt=f"{next(numbers)}?")

        harness = Harness(approval=PlainPerson("Allow"))
        harness.hooks.register(PRE, restless, on_error="deny")
        result = await harness.pre()
        assert result.reason == f"the operation was changed more than {MOST_ROUNDS} times"

    async def test_what_was_allowed_stays_gated_if_its_hook_does_not_ask_again(self):
        """The outcome carries the digest of what a person saw, to be compared at the run."""
        asked: list[str] = []

        async def once(event: str, data: Data) -> HookResult:
            asked.append(event)
            return (await asks()(event, data)) if len(asked) == 1 else HookResult()

        harness = Harness(approval=PlainPerson("Allow"))
        harness.hooks.register(PRE, once, on_error="deny")
        outcome = await harness.judge(PRE, tool_name="Write", tool_input={"path": "/a"})
        assert len(asked) == 2
        assert outcome.digest == digest_operation(PRE, outcome.data or {})


class TestRicherAnswers:
    async def test_a_comment_becomes_part_of_the_reason(self):
        answer = ApprovalAnswer("Allow", by="anna", comment="only today")
        harness = Harness(approval=ScriptedApproval(answer))
        harness.hooks.register(PRE, asks("one?"))
        harness.hooks.register(PRE, asks("two?"))
        assert (await harness.pre()).reason == "only today; only today"
        harness = Harness(approval=ScriptedApproval(ApprovalAnswer("Deny", comment="use staging")))
        harness.hooks.register(PRE, asks("one?"))
        assert (await harness.pre()).reason == "The user said: use staging\nUser denied: one?"

    async def test_edited_input_goes_through_the_hooks_once_more(self):
        """An edit is a new call to the guards; a gate asks again only if its words changed."""

        async def guard(event: str, data: Data) -> HookResult:
            path = data["tool_input"]["path"]
            if path == "/forbidden":
                return HookResult(action="deny", reason="forbidden")
            return HookResult(action="ask_user", approval_prompt=f"Write {path}?")

        edit = ApprovalAnswer("Allow", edited_input={"path": "/b"})
        reader = ScriptedApproval(edit, "Allow", "Allow")
        harness = Harness(approval=reader)
        harness.hooks.register(PRE, guard)
        harness.hooks.register(PRE, asks("Sure?"), priority=-1)
        result = await harness.pre(path="/a")
        assert result.data["tool_input"] == {"path": "/b"}
        assert [question.prompt for question in reader.questions] == [
            "Sure?", "Write /b?",
        ]  # fmt: skip
        harness = Harness(
            approval=ScriptedApproval(ApprovalAnswer("Allow", edited_input={"path": "/forbidden"}))
        )
        harness.hooks.register(PRE, guard)
        assert (await harness.pre(path="/a")).reason == "forbidden"

    @pytest.mark.parametrize("option", ["Allow", "Allow always"])
    async def test_what_was_edited_away_does_not_come_back(self, option):
        """Hooks that change after an edit judge the edited call, not the first one."""
        options = ["Allow", "Allow always", "Deny"]

        async def and_the_hooks_change(question: Any) -> Any:
            harness.hooks.register(PRE, says())
            return option

        edit = ApprovalAnswer(option, edited_input={"path": "/b"})
        harness = Harness(approval=ScriptedApproval(edit, and_the_hooks_change, option))
        harness.hooks.register(PRE, asks("one?", approval_options=options))
        harness.hooks.register(PRE, asks("two?", approval_options=options))
        result = await harness.pre(path="/a")
        assert result.data["tool_input"] == {"path": "/b"}

    async def test_an_edit_that_is_no_input_is_a_no(self):
        """Type checks on the answer: who edits does not want what was shown to run."""
        harness = Harness(approval=ScriptedApproval(ApprovalAnswer("Allow", edited_input="rm")))
        harness.hooks.register(PRE, asks())
        result = await harness.pre(path="/a")
        assert result.action == "deny"
        assert "an edited input of type str" in result.reason

    @pytest.mark.parametrize("option", ["Allow", "Deny"])
    async def test_odd_names_and_comments_crash_nothing(self, option):
        """A front end may fill in anything."""
        harness = Harness(approval=ScriptedApproval(ApprovalAnswer(option, by=object(), comment=5)))
        harness.hooks.register(PRE, asks())
        result = await harness.pre()
        assert "5" in result.reason
        (decided,) = harness.bodies("approval_decided")
        assert "object" in decided["by"]

    async def test_edited_input_is_detached(self):
        mine: Data = {"rows": [1]}
        harness = Harness(
            approval=ScriptedApproval(ApprovalAnswer("Allow", edited_input=mine), "Allow")
        )
        harness.hooks.register(PRE, asks())
        result = await harness.pre()
        mine["rows"].append(2)
        assert result.data["tool_input"] == {"rows": [1]}


class TestCancelling:
    """An agent that stops waiting leaves a record, no task and no waiter."""

    async def test_during_the_wait(self):
        never = AbsentPerson()
        harness = Harness(approval=never)
        harness.hooks.register(PRE, asks())
        task = asyncio.ensure_future(harness.pre())
        await never.waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(harness.bodies("approval_cancelled")) == 1
        assert harness.bodies("approval_decided") == []
        assert asyncio.all_tasks() == {asyncio.current_task()}

    async def test_while_it_is_announced(self):
        started = asyncio.Event()

        async def slow(event: str, data: Data) -> HookResult:
            started.set()
            await asyncio.sleep(60)
            return HookResult()

        person = PlainPerson("Allow")
        harness = Harness(approval=person)
        harness.hooks.register("approval:required", slow)
        harness.hooks.register(PRE, asks())
        task = asyncio.ensure_future(harness.pre())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(harness.bodies("approval_cancelled")) == 1
        assert person.asked == []

    @pytest.mark.parametrize("count", [1_000, pytest.param(10_000, marks=pytest.mark.slow)])
    async def test_many_waiters(self, count):
        """10,000 waiting approvals in one process are cancelled, and no task is left."""
        hooks = HookRegistry()
        hooks.register(PRE, asks())
        session = SessionCoordinator(hooks, approval_system=AbsentPerson())
        data = {"tool_name": "Write", "tool_input": {}}
        tasks = [asyncio.ensure_future(session.execute_with_hooks(PRE, data)) for _ in range(count)]
        for _ in range(20):
            await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert all(task.cancelled() for task in tasks)
        assert asyncio.all_tasks() == {asyncio.current_task()}


class TestApprovalInsideApproval:
    async def test_the_same_question_is_not_asked_twice_in_one_stack(self):
        """A gate that leads to itself while it waits does not ask again."""
        person = PlainPerson("Allow")
        harness = Harness(approval=person)
        inner: list[HookResult] = []

        async def circular(event: str, data: Data) -> HookResult:
            inner.append(await harness.pre())
            return HookResult()

        harness.hooks.register(PRE, asks("go?"))
        harness.hooks.register("approval:required", circular)
        assert (await harness.pre()).action == "continue"
        assert [result.action for result in inner] == ["deny"]
        assert "being asked already" in inner[0].reason
        assert person.prompts == ["go?"]

    async def test_another_question_is(self):
        person = PlainPerson("Allow")
        harness = Harness(approval=person)

        async def nested(event: str, data: Data) -> HookResult:
            if data["tool_name"] == "Write":
                await harness.coordinator.execute_with_hooks(
                    PRE, {"tool_name": "Bash", "tool_input": {}}
                )
            return HookResult()

        harness.hooks.register(PRE, asks("go?"))
        harness.hooks.register("approval:required", nested)
        assert (await harness.pre()).action == "continue"
        assert len(person.asked) == 2


class TestTheTrail:
    @pytest.mark.parametrize("somebody", [True, False])
    async def test_a_question_is_recorded_as_shown_only_if_there_is_somebody(self, somebody):
        """Without an approval system nobody has seen it."""
        harness = Harness(approval=PlainPerson("Allow") if somebody else None)
        harness.hooks.register(PRE, asks())
        await harness.pre()
        (requested,) = harness.bodies("approval_requested")
        shown = [{"digest": requested["digest"]}] if somebody else []
        assert harness.bodies("approval_shown") == shown

    @pytest.mark.parametrize("edited", [{"path": "/b"}, None])
    async def test_a_decision_says_whether_the_input_was_edited(self, edited):
        """What ran is then not what the request shows."""
        harness = Harness(approval=ScriptedApproval(ApprovalAnswer("Allow", edited_input=edited)))
        harness.hooks.register(PRE, asks())
        await harness.pre(path="/a")
        assert harness.bodies("approval_decided")[0]["edited"] is (edited is not None)

    @pytest.mark.parametrize("when", ["before", "while asking"])
    async def test_no_durable_record_no_execution(self, when):
        """Without a trail nothing that needs approval runs."""
        audit = MemoryAudit()

        async def failing(question) -> str:
            audit.fail()
            return "Allow"

        harness, seen = Harness(approval=ScriptedApproval(failing), audit=audit), EventRecorder()
        harness.hooks.register(PRE, asks())
        harness.hooks.register("approval:denied", seen)
        if when == "before":
            audit.fail()
        result = await harness.pre()
        assert (result.action, harness.coordinator.trail.failed) == ("deny", True)
        assert seen.names == ["approval:denied"]

    async def test_configurable_to_warn(self, caplog):
        audit = MemoryAudit(on_failure="warn")
        harness = Harness(approval=PlainPerson("Allow"), audit=audit)
        harness.hooks.register(PRE, asks())
        audit.fail()
        assert (await harness.pre()).action == "continue"
        assert caplog.text.count("The audit trail has failed") == 1

    async def test_a_commit_that_fails_is_no_record(self):
        class Torn(MemoryAudit):
            async def commit(self, sequence: int | None = None) -> None:
                raise OSError("EIO")

        harness = Harness(approval=PlainPerson("Allow"), audit=Torn())
        harness.hooks.register(PRE, asks())
        assert (await harness.pre()).reason == "Not approved, EIO: Go on?"


async def test_the_approval_system_is_fixed_once_the_session_started():
    """An application chooses it; what is mounted later cannot put itself in its place."""
    harness = Harness(approval=None)
    harness.coordinator.approval_system = PlainPerson("Deny")
    harness.coordinator.seal()
    with pytest.raises(ApprovalError, match="fixed once the session has started"):
        harness.coordinator.approval_system = PlainPerson("Allow")
    assert harness.bodies("configuration_changed") == [{"what": "approval_system", "refused": True}]
    harness.hooks.register(PRE, asks())
    assert (await harness.pre()).action == "deny"
    assert isinstance(harness.coordinator.approval_system, PlainPerson)


async def test_a_guard_that_crashes_is_denied_before_anybody_is_asked():
    person = PlainPerson("Allow")
    harness = Harness(approval=person)
    harness.hooks.register(PRE, asks())
    harness.hooks.register(PRE, raises(ValueError("x")), name="guard", on_error="deny")
    assert "fails closed" in (await harness.pre()).reason
    assert person.asked == []


def test_the_operation_is_digested_not_its_time():
    call = {"tool_name": "Write", "tool_input": {"a": 1}}
    assert digest_operation("tool:pre", {**call, "timestamp": 1}) == digest_operation(
        "tool:pre", call
    )
    assert digest_operation("e", {"a": 1, "timestamp": 1}) == digest_operation("e", {"a": 1})
    assert digest_operation("e", {"a": 1}) != digest_operation("f", {"a": 1})


async def test_an_approval_that_nobody_waits_for_any_more_is_forgotten() -> None:
    """A hundred agents stop waiting: no question and no task is left."""
    before = len(asyncio.all_tasks())

    class Endless(ScriptedApproval):
        async def decide(self, question: Any) -> str:
            self.questions.append(question)
            await asyncio.sleep(60)
            return "Allow"

    approval = Endless()
    ask = HookResult(action="ask_user", approval_prompt="run?")
    async with SessionHarness(tools=[MockTool("Echo")], approval=approval) as harness:
        harness.hooks.register("tool:pre", EventRecorder(ask))
        waiting = [
            asyncio.create_task(harness.session.execute_tool("Echo", {"n": n})) for n in range(100)
        ]
        await wait_until(lambda: len(approval.questions) == 100)
        for one in waiting:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert len(harness.trail.of_type("approval_cancelled")) == 100
    assert len(asyncio.all_tasks()) == before


@pytest.mark.parametrize(
    ("comment", "reason"),
    [(None, "Denied by rule:edits: Go on?"), ("not here", "Denied by rule:edits: not here")],
)
async def test_what_a_rule_decided_is_not_said_to_be_a_persons_word(comment, reason):
    """The trail and the agent can tell a rule from a person; what it chose is not remembered."""
    always = ["Allow", "Deny always"]
    rule = ScriptedApproval(ApprovalAnswer("Deny always", by="rule:edits", comment=comment))
    harness = Harness(approval=rule)
    harness.hooks.register(PRE, asks(approval_options=always))
    assert (await harness.pre()).reason == reason
    await harness.pre()
    assert len(rule.questions) == 2
    decided = [one["body"] for one in harness.trail.records if one["type"] == "approval_decided"]
    assert {(one["how"], one["by"]) for one in decided} == {("rule", "rule:edits")}
