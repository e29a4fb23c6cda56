"""Approval gates: what counts as yes, who is asked, what runs in the end."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="arg-type"

from __future__ import annotations

import asyncio
import itertools
import math
import time
from typing import Any

import pytest

from amplifier_core.approval import ApprovalAnswer, allows, find_unclear_options, resolve_options
from amplifier_core.approval.passage import digest_operation
from amplifier_core.coordinator import MOST_ROUNDS, SessionCoordinator, denial_text
from amplifier_core.errors import ApprovalError, ApprovalTimeout, ApprovalTimeoutError
from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult
from amplifier_core.testing import EventRecorder, MemoryAudit, ScriptedApproval
from tests.support.harness import Harness
from tests.support.hooks import PRE, Data, asks, injects, modifies, raises, says
from tests.support.people import AbsentPerson, PlainPerson


class TestWhatCountsAsYes:
    """Exactly one of the offered options, whose first word is one of the nine."""

    @pytest.mark.parametrize(
        "option",
        ["Allow", "allow once", "YES!", "Yes, always", "approve", "Accept.", "ok", "Proceed",
         "continue", "Run it", "Confirm", "(allow)", "Allow — nur dieses Mal", "allow_all"],
    )  # fmt: skip
    def test_yes(self, option):
        assert allows(option)

    @pytest.mark.parametrize(
        "option",
        ["Deny", "No", "", " ", "!", "Disallow", "not ok", "Аllow", "allow2ban", "✓", "1. Allow",
         "Denyallow", "runs", "okay"],
    )  # fmt: skip
    def test_no(self, option):
        assert not allows(option)

    def test_unclear_options_are_found(self):
        """An option of neither kind is warned about when it asks."""
        assert find_unclear_options(["Allow", "Deny", "Maybe", "Never", "Later"]) == [
            "Maybe",
            "Later",
        ]
        assert resolve_options([]) == resolve_options(None) == ("Allow", "Deny")

    async def test_the_hook_is_warned_about(self, caplog):
        harness = Harness(approval=PlainPerson("Maybe"))
        harness.hooks.register(PRE, asks(approval_options=["Allow", "Maybe"]), name="vague")
        assert (await harness.pre()).action == "deny"
        assert "Hook 'vague' offers ['Maybe'], which count as a refusal" in caplog.text

    @pytest.mark.parametrize(
        "answer",
        [None, "", "deny", "DENY", "Allow ", " Allow", "allow", "Аllow", True, 1, 7, ["Allow"],
         {"option": "Allow"}, "Allow always", "x" * 1_000_000, ApprovalAnswer(None),
         ApprovalAnswer("Yes"), type("Text", (str,), {})("Other"), object()],
        ids=lambda answer: repr(answer)[:20],
    )  # fmt: skip
    async def test_everything_else_is_a_deny(self, answer):
        """None, "", "deny", a space, Cyrillic А, True, 1, a list, 1 MB, one not offered (T9)."""
        for default in ("deny", "allow"):
            harness = Harness(approval=PlainPerson(answer))
            harness.hooks.register(PRE, asks(approval_default=default))
            result = await harness.pre()
            assert result.action == "deny"
            assert len(result.reason) < 500

    @pytest.mark.parametrize("option", ["No", "deny", "Reject", "Abbrechen"])
    async def test_other_labels_are_no_consent(self, option):
        """Every other label, "No", "deny", "Reject", would be treated as consent (F6)."""
        harness = Harness(approval=PlainPerson(option))
        harness.hooks.register(PRE, asks(approval_options=["Yes", option]))
        assert (await harness.pre()).action == "deny"

    async def test_yes_and_no_can_allow(self):
        harness = Harness(approval=PlainPerson("Yes"))
        harness.hooks.register(PRE, asks(approval_options=["Yes", "No"]))
        result = await harness.pre(x=1)
        assert (result.action, result.data["tool_input"]) == ("continue", {"x": 1})


class TestWhoIsAsked:
    async def test_the_prompt_goes_verbatim(self):
        """`request_approval(prompt, options, timeout, default)` gets the hook's prompt verbatim."""
        person = PlainPerson("Allow")
        harness = Harness(approval=person)
        fields = {"approval_options": ["Allow", "Deny"], "approval_timeout": 7.5}
        harness.hooks.register(PRE, asks("Weird \u202e \x1b[2K?", **fields))
        await harness.pre()
        assert person.asked == [("Weird \u202e \x1b[2K?", ["Allow", "Deny"], 7.5, "deny")]

    async def test_a_question_without_a_prompt_has_one(self):
        person = PlainPerson("Allow")
        harness = Harness(approval=person)
        harness.hooks.register(PRE, says("ask_user"))
        await harness.pre()
        assert person.prompts == ["Allow this operation?"]

    @pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
    async def test_all_gates_whatever_the_order(self, order):
        """All permutations of two asks, one deny, one modify (T3)."""
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
        """One gate may never ride on another's approval (F1)."""
        person = PlainPerson(*answers)
        harness = Harness(approval=person)
        for number in (2, 1, 3):
            harness.hooks.register(PRE, asks(f"{number}?"), priority=number)
        result = await harness.pre()
        asked = answers.index("Deny") + 1 if "Deny" in answers else 3
        assert person.prompts == [f"{number}?" for number in range(1, asked + 1)]
        assert result.action == ("deny" if "Deny" in answers else "continue")

    async def test_the_reason_names_hook_and_prompt(self):
        """`Operation denied by HOOK: REASON`."""
        harness = Harness(approval=PlainPerson("Deny"))
        harness.hooks.register(PRE, asks("Delete it?"), name="guard")
        assert (
            denial_text(await harness.pre()) == "Operation denied by guard: User denied: Delete it?"
        )
        assert denial_text(HookResult(action="deny")) == (
            "Operation denied by a hook: no reason given"
        )

    async def test_injections_and_messages_are_not_lost(self):
        """Once allowed, the injections are applied; user messages are shown in any case (F4)."""
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
        """`approval:required`, then granted or denied; plus `user:notification`."""
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


class TestNobodyDecides:
    async def test_without_an_approval_system_it_is_denied(self):
        """With no approval system at all: deny, whatever the default."""
        harness = Harness(approval=None)
        harness.hooks.register(PRE, asks(approval_default="allow"))
        result = await harness.pre()
        assert result.reason == "Not approved, there is no approval system: Go on?"

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
        """`approval_default` applies on timeout and on error (F8)."""
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
        """The kernel itself enforces `approval_timeout`."""
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
        """approval_timeout 0, negative, NaN, infinity, 10^12 (T10)."""
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

    async def test_a_late_yes_is_no_yes(self):
        """Process suspended over the deadline: the answer came too late."""

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
    """Cached for this session under the hook's registration, the tool and the prompt."""

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
        """Any option ending in "always" is cached, refusals too."""
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
        """Same hook name registered twice; another tool; another prompt; separators (T8)."""
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
        """Tool replaced (T8)."""
        person = PlainPerson("Allow always")
        harness = Harness(approval=person)
        harness.hooks.register(PRE, asks("w?", **self.options))
        for tool in ("one", "one", "two"):
            await harness.coordinator.mount("tools", tool, name="Write")
            await harness.pre()
        assert len(person.asked) == 2

    async def test_a_new_session_and_a_sub_agent_ask_again(self):
        """Not inherited by sub-agents."""
        person = PlainPerson("Allow always")
        harness = Harness(approval=person)
        harness.hooks.register(PRE, asks("w?", **self.options))
        await harness.pre()
        child = SessionCoordinator(HookRegistry(parent=harness.hooks), approval_system=person)
        await child.execute_with_hooks(PRE, {"tool_name": "Write", "tool_input": {}})
        assert len(person.asked) == 2

    async def test_it_is_cleared_at_the_end(self):
        """Cleared at session end."""
        person = PlainPerson("Allow always")
        harness = Harness(approval=person)
        harness.hooks.register(PRE, asks("w?", **self.options))
        await harness.pre()
        await harness.coordinator.cleanup()
        await harness.pre()
        assert len(person.asked) == 2
        assert harness.bodies("approval_cache_cleared") == [{"answers": 1}]

    async def test_deny_hooks_come_first(self):
        """Never consulted before the deny hooks ran."""
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


class TestWhatWasApprovedIsWhatRuns:
    async def test_the_person_sees_the_final_call(self):
        """The final tool name and input, after every `modify` (T4: modify after ask)."""
        reader = ScriptedApproval("Allow")
        harness = Harness(approval=reader)
        harness.hooks.register(PRE, asks("w?", reason="because"), priority=0, name="guard")
        harness.hooks.register(PRE, modifies(tool_input={"path": "/safe"}), priority=1)
        result = await harness.pre(path="/etc")
        [question] = reader.questions
        assert question.tool_input == result.data["tool_input"] == {"path": "/safe"}
        assert (question.hook, question.event, question.reason) == ("guard", PRE, "because")
        assert (question.tool_name, question.session_id) == ("Write", "test-session")
        assert question.digest == digest_operation(PRE, result.data)
        assert result.__dict__["_gated"] == question.digest
        recorded = {body["digest"] for body in harness.bodies("approval_requested")}
        recorded |= {body["digest"] for body in harness.bodies("approval_decided")}
        assert recorded == {question.digest}

    async def test_nothing_that_happens_while_waiting_reaches_it(self):
        """Mutate the caller's dict during the wait; the question itself; a kept reference."""
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
        result = await harness.coordinator.execute_with_hooks(PRE, given)
        assert result.data["tool_input"] == {"path": "/safe", "rows": [1]}
        assert result.__dict__["_gated"] == digest_operation(PRE, result.data)

    async def test_a_deny_hook_that_comes_while_waiting(self):
        """Add a deny hook while pending (T5)."""

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
        """Rewrite script.sh while pending; swap a symlink target while pending (T4)."""
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


class TestRicherAnswers:
    async def test_a_comment_becomes_part_of_the_reason(self):
        answer = ApprovalAnswer("Allow", by="anna", comment="only today")
        harness = Harness(approval=ScriptedApproval(answer))
        harness.hooks.register(PRE, asks("one?"))
        harness.hooks.register(PRE, asks("two?"))
        assert (await harness.pre()).reason == "only today; only today"
        harness = Harness(approval=ScriptedApproval(ApprovalAnswer("Deny", comment="use staging")))
        harness.hooks.register(PRE, asks("one?"))
        assert (await harness.pre()).reason == "User denied: one? (use staging)"

    async def test_edited_input_goes_through_the_hooks_once_more(self):
        """A gate already answered in this call is not asked again unless its prompt changed."""

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
        """What was approved is what runs, also when the hooks change after an edit."""
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
        """An approval system that returns nonsense never crashes the session."""
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
    """Cancelling a waiting agent marks the approval cancelled, frees the waiter (T26)."""

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

    async def test_ten_thousand_waiters(self):
        """10,000 waiting approvals in one process are cancelled, and no task is left."""
        hooks = HookRegistry()
        hooks.register(PRE, asks())
        session = SessionCoordinator(hooks, approval_system=AbsentPerson())
        data = {"tool_name": "Write", "tool_input": {}}
        tasks = [
            asyncio.ensure_future(session.execute_with_hooks(PRE, data)) for _ in range(10_000)
        ]
        for _ in range(20):
            await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert all(task.cancelled() for task in tasks)
        assert asyncio.all_tasks() == {asyncio.current_task()}


class TestApprovalInsideApproval:
    async def test_the_same_question_is_not_asked_twice_in_one_stack(self):
        """The same approval is not asked twice within one stack (T24)."""
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
    @pytest.mark.parametrize("when", ["before", "while asking"])
    async def test_no_durable_record_no_execution(self, when):
        """A failing disk: gated operations are denied."""
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
    """Replacing it before the session starts is an application's right, after it is refused."""
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
