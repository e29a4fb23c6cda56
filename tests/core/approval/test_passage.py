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
from amplifier_core.testing import MemoryAudit
from tests.support.room import (
    PRE,
    Data,
    Never,
    Person,
    Reader,
    Room,
    Seen,
    asks,
    injects,
    modifies,
    raises,
    says,
)


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
        room = Room(Person("Maybe"))
        room.hooks.register(PRE, asks(approval_options=["Allow", "Maybe"]), name="vague")
        assert (await room.pre()).action == "deny"
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
            room = Room(Person(answer))
            room.hooks.register(PRE, asks(approval_default=default))
            result = await room.pre()
            assert result.action == "deny"
            assert len(result.reason) < 500

    @pytest.mark.parametrize("option", ["No", "deny", "Reject", "Abbrechen"])
    async def test_other_labels_are_no_consent(self, option):
        """Every other label, "No", "deny", "Reject", would be treated as consent (F6)."""
        room = Room(Person(option))
        room.hooks.register(PRE, asks(approval_options=["Yes", option]))
        assert (await room.pre()).action == "deny"

    async def test_yes_and_no_can_allow(self):
        room = Room(Person("Yes"))
        room.hooks.register(PRE, asks(approval_options=["Yes", "No"]))
        result = await room.pre(x=1)
        assert (result.action, result.data["tool_input"]) == ("continue", {"x": 1})


class TestWhoIsAsked:
    async def test_the_prompt_goes_verbatim(self):
        """`request_approval(prompt, options, timeout, default)` gets the hook's prompt verbatim."""
        person = Person("Allow")
        room = Room(person)
        fields = {"approval_options": ["Allow", "Deny"], "approval_timeout": 7.5}
        room.hooks.register(PRE, asks("Weird \u202e \x1b[2K?", **fields))
        await room.pre()
        assert person.asked == [("Weird \u202e \x1b[2K?", ["Allow", "Deny"], 7.5, "deny")]

    async def test_a_question_without_a_prompt_has_one(self):
        person = Person("Allow")
        room = Room(person)
        room.hooks.register(PRE, says("ask_user"))
        await room.pre()
        assert person.prompts == ["Allow this operation?"]

    @pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
    async def test_all_gates_whatever_the_order(self, order):
        """All permutations of two asks, one deny, one modify (T3)."""
        hooks = [asks("one?"), asks("two?"), says("deny", reason="never"), modifies(x=1)]
        person = Person("Allow")
        room = Room(person)
        for place, which in enumerate(order):
            room.hooks.register(PRE, hooks[which], priority=place)
        result = await room.pre()
        assert (result.action, result.reason) == ("deny", "never")
        assert person.asked == []

    @pytest.mark.parametrize("answers", list(itertools.product(["Allow", "Deny"], repeat=3)))
    async def test_every_gate_must_allow(self, answers):
        """One gate may never ride on another's approval (F1)."""
        person = Person(*answers)
        room = Room(person)
        for number in (2, 1, 3):
            room.hooks.register(PRE, asks(f"{number}?"), priority=number)
        result = await room.pre()
        asked = answers.index("Deny") + 1 if "Deny" in answers else 3
        assert person.prompts == [f"{number}?" for number in range(1, asked + 1)]
        assert result.action == ("deny" if "Deny" in answers else "continue")

    async def test_the_reason_names_hook_and_prompt(self):
        """`Operation denied by HOOK: REASON`."""
        room = Room(Person("Deny"))
        room.hooks.register(PRE, asks("Delete it?"), name="guard")
        assert denial_text(await room.pre()) == "Operation denied by guard: User denied: Delete it?"
        assert denial_text(HookResult(action="deny")) == (
            "Operation denied by a hook: no reason given"
        )

    async def test_injections_and_messages_are_not_lost(self):
        """Once allowed, the injections are applied; user messages are shown in any case (F4)."""
        room = Room(Person("Allow"))
        room.hooks.register(PRE, injects("found", user_message="look"), name="scanner")
        room.hooks.register(PRE, asks("go?", user_message="asking"), name="guard")
        assert (await room.pre()).action == "continue"
        assert room.context.texts == ["found"]
        assert [(text, source) for text, _, source in room.screen.shown] == [
            ("look", "hook:scanner"),
            ("asking", "hook:guard"),
        ]

    async def test_events_are_told_in_order(self):
        """`approval:required`, then granted or denied; plus `user:notification`."""
        for answer, outcome in (("Allow", "approval:granted"), ("Deny", "approval:denied")):
            room, seen = Room(Person(answer)), Seen()
            room.hooks.register("approval:*", seen)
            room.hooks.register("user:*", seen)
            room.hooks.register(PRE, asks("go?"), name="guard")
            await room.pre()
            assert seen.events == ["approval:required", "user:notification", outcome]
            required, notification, decided = (data for _, data in seen.calls)
            assert required["options"] == ["Allow", "Deny"]
            assert (required["timeout"], required["default"]) == (300.0, "deny")
            assert notification["notification_type"] == "approval_required"
            assert (decided["decision"], decided["how"]) == (answer, "person")

    async def test_a_denial_is_a_policy_violation(self):
        room, seen = Room(), Seen()
        room.hooks.register("policy:violation", seen)
        room.hooks.register(PRE, says("deny", reason="no"), name="guard")
        await room.pre()
        [(_, data)] = seen.calls
        assert (data["event"], data["hook"], data["reason"]) == (PRE, "guard", "no")


class TestNobodyDecides:
    async def test_without_an_approval_system_it_is_denied(self):
        """With no approval system at all: deny, whatever the default."""
        room = Room(None)
        room.hooks.register(PRE, asks(approval_default="allow"))
        result = await room.pre()
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
        room = Room(Person(failure))
        room.hooks.register(PRE, asks(approval_default=default))
        assert (await room.pre(x=1)).action == action
        how = room.bodies("approval_expired") or room.bodies("approval_decided")
        assert how[0]["how"] in ("timeout", "error")

    async def test_an_approval_system_without_a_method(self):
        room = Room(object())
        room.hooks.register(PRE, asks())
        assert (await room.pre()).action == "deny"

    @pytest.mark.parametrize("default", ["deny", "allow"])
    @pytest.mark.parametrize("seconds", [0, 0.02])
    async def test_the_kernel_keeps_the_time(self, seconds, default):
        """The kernel itself enforces `approval_timeout`."""
        room = Room(Never())
        room.hooks.register(PRE, asks(approval_timeout=seconds, approval_default=default))
        result = await room.pre()
        assert result.action == ("continue" if default == "allow" else "deny")
        if default == "deny":
            assert result.reason == "Timeout - denied by default: Go on?"
        assert len(room.bodies("approval_expired")) == 1
        assert asyncio.all_tasks() == {asyncio.current_task()}

    @pytest.mark.parametrize("seconds", [-1.0, math.nan, -math.inf])
    async def test_a_time_that_is_none_is_denied(self, seconds):
        """approval_timeout 0, negative, NaN, infinity, 10^12 (T10)."""
        person = Person("Allow")
        room = Room(person)
        room.hooks.register(PRE, asks(approval_timeout=seconds, approval_default="allow"))
        assert (await room.pre()).action == "deny"
        assert person.asked == []

    async def test_a_time_that_is_no_number_is_denied(self):
        result = HookResult.model_construct(action="ask_user", approval_timeout="soon")
        room = Room(Person("Allow"))
        room.hooks.register(PRE, lambda event, data: result)
        assert (await room.pre()).action == "deny"

    @pytest.mark.parametrize("seconds", [math.inf, 1e12])
    async def test_a_long_time_is_a_time(self, seconds):
        room = Room(Person("Allow"))
        room.hooks.register(PRE, asks(approval_timeout=seconds))
        assert (await room.pre()).action == "continue"

    async def test_a_late_yes_is_no_yes(self):
        """Process suspended over the deadline: the answer came too late."""

        class Blocks:
            async def request_approval(self, *question: Any) -> str:
                time.sleep(0.05)
                return "Allow"

        room = Room(Blocks())
        room.hooks.register(PRE, asks(approval_timeout=0.01))
        assert (await room.pre()).reason.startswith("Timeout - denied")

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
        room = Room(stubborn)
        room.hooks.register(PRE, asks(approval_timeout=0.01))
        assert (await room.pre()).action == "deny"
        stubborn.ends = True
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()


class TestTheCache:
    """Cached for this session under the hook's registration, the tool and the prompt."""

    options = {"approval_options": ["Allow once", "Allow always", "Deny", "Deny always"]}

    async def test_always_is_asked_once(self):
        person = Person("Allow always")
        room = Room(person)
        room.hooks.register(PRE, asks("w?", **self.options))
        for _ in range(3):
            assert (await room.pre()).action == "continue"
        assert len(person.asked) == 1
        assert len(room.bodies("approval_cache_stored")) == 1
        assert len(room.bodies("approval_cache_hit")) == 2

    async def test_a_refusal_for_always_too(self):
        """Any option ending in "always" is cached, refusals too."""
        person = Person("Deny always")
        room = Room(person)
        room.hooks.register(PRE, asks("w?", **self.options))
        for _ in range(2):
            assert (await room.pre()).action == "deny"
        assert len(person.asked) == 1

    async def test_once_is_once(self):
        person = Person("Allow once")
        room = Room(person)
        room.hooks.register(PRE, asks("w?", **self.options))
        for _ in range(2):
            await room.pre()
        assert len(person.asked) == 2

    async def test_the_scope(self):
        """Same hook name registered twice; another tool; another prompt; separators (T8)."""
        person = Person("Allow always")
        room = Room(person)
        undo = room.hooks.register(PRE, asks("a:b?", **self.options), name="hook")
        await room.pre()
        undo()
        room.hooks.register(PRE, asks("a:b?", **self.options), name="hook")
        await room.pre()
        await room.session.execute_with_hooks(PRE, {"tool_name": "Bash", "tool_input": {}})
        await room.session.execute_with_hooks(PRE, {"tool_name": "Write:a", "tool_input": {}})
        room.hooks.unregister("hook")
        room.hooks.register(PRE, asks("b?", **self.options), name="hook:a")
        await room.pre()
        assert len(person.asked) == 5

    async def test_another_tool_under_the_same_name(self):
        """Tool replaced (T8)."""
        person = Person("Allow always")
        room = Room(person)
        room.hooks.register(PRE, asks("w?", **self.options))
        for tool in ("one", "one", "two"):
            await room.session.mount("tools", tool, name="Write")
            await room.pre()
        assert len(person.asked) == 2

    async def test_a_new_session_and_a_sub_agent_ask_again(self):
        """Not inherited by sub-agents."""
        person = Person("Allow always")
        room = Room(person)
        room.hooks.register(PRE, asks("w?", **self.options))
        await room.pre()
        child = SessionCoordinator(HookRegistry(parent=room.hooks), approval_system=person)
        await child.execute_with_hooks(PRE, {"tool_name": "Write", "tool_input": {}})
        assert len(person.asked) == 2

    async def test_it_is_cleared_at_the_end(self):
        """Cleared at session end."""
        person = Person("Allow always")
        room = Room(person)
        room.hooks.register(PRE, asks("w?", **self.options))
        await room.pre()
        await room.session.cleanup()
        await room.pre()
        assert len(person.asked) == 2
        assert room.bodies("approval_cache_cleared") == [{"answers": 1}]

    async def test_deny_hooks_come_first(self):
        """Never consulted before the deny hooks ran."""
        room = Room(Person("Allow always"))
        room.hooks.register(PRE, asks("w?", **self.options), priority=0)
        await room.pre()
        room.hooks.register(PRE, says("deny", reason="new"), priority=100)
        assert (await room.pre()).reason == "new"
        assert room.bodies("approval_cache_hit") == []

    async def test_a_default_is_not_cached(self):
        room = Room(Person(ValueError("x"), "Deny"))
        room.hooks.register(
            PRE, asks("w?", approval_default="allow", approval_options=["Allow always", "Deny"])
        )
        assert (await room.pre()).action == "continue"
        assert (await room.pre()).action == "deny"


class TestWhatWasApprovedIsWhatRuns:
    async def test_the_person_sees_the_final_call(self):
        """The final tool name and input, after every `modify` (T4: modify after ask)."""
        reader = Reader("Allow")
        room = Room(reader)
        room.hooks.register(PRE, asks("w?", reason="because"), priority=0, name="guard")
        room.hooks.register(PRE, modifies(tool_input={"path": "/safe"}), priority=1)
        result = await room.pre(path="/etc")
        [question] = reader.questions
        assert question.tool_input == result.data["tool_input"] == {"path": "/safe"}
        assert (question.hook, question.event, question.reason) == ("guard", PRE, "because")
        assert (question.tool_name, question.session_id) == ("Write", "s1")
        assert question.digest == digest_operation(PRE, result.data)
        assert result.__dict__["_gated"] == question.digest
        recorded = {body["digest"] for body in room.bodies("approval_requested")}
        recorded |= {body["digest"] for body in room.bodies("approval_decided")}
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

        room = Room(Reader(meddling))
        room.hooks.register(PRE, keeper)
        room.hooks.register(PRE, asks())
        result = await room.session.execute_with_hooks(PRE, given)
        assert result.data["tool_input"] == {"path": "/safe", "rows": [1]}
        assert result.__dict__["_gated"] == digest_operation(PRE, result.data)

    async def test_a_deny_hook_that_comes_while_waiting(self):
        """Add a deny hook while pending (T5)."""

        async def adding(question) -> str:
            room.hooks.register(PRE, says("deny", reason="new policy"))
            return "Allow"

        room = Room(Reader(adding))
        room.hooks.register(PRE, asks())
        assert (await room.pre()).reason == "new policy"

    async def test_a_modify_hook_that_comes_while_waiting_is_asked_about(self):
        answers = []

        async def adding(question) -> str:
            answers.append(question.tool_input)
            if len(answers) == 1:
                room.hooks.register(PRE, modifies(tool_input={"path": "/other"}))
            return "Allow"

        room = Room(Reader(adding))
        room.hooks.register(PRE, asks())
        result = await room.pre(path="/safe")
        assert answers == [{"path": "/safe"}, {"path": "/other"}]
        assert result.data["tool_input"] == {"path": "/other"}

    async def test_a_harmless_change_does_not_ask_again(self):
        seen = Seen()

        async def adding(question) -> str:
            room.hooks.register(PRE, seen)
            return "Allow"

        reader = Reader(adding)
        room = Room(reader)
        room.hooks.register(PRE, asks())
        assert (await room.pre()).action == "continue"
        assert (len(reader.questions), len(seen.calls)) == (1, 1)

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

        reader = Reader(swapping)
        room = Room(reader)
        room.hooks.register(PRE, guard, on_error="deny")
        assert (await room.pre()).action == "deny"
        assert len(reader.questions) == (2 if change == "prompt" else 1)
        assert capsys.readouterr().out == ""

    async def test_a_prompt_that_never_stays_is_denied(self):
        numbers = itertools.count()

        async def restless(event: str, data: Data) -> HookResult:
            return HookResult(action="ask_user", approval_prompt=f"{next(numbers)}?")

        room = Room(Person("Allow"))
        room.hooks.register(PRE, restless, on_error="deny")
        result = await room.pre()
        assert result.reason == f"the operation was changed more than {MOST_ROUNDS} times"


class TestRicherAnswers:
    async def test_a_comment_becomes_part_of_the_reason(self):
        answer = ApprovalAnswer("Allow", by="anna", comment="only today")
        room = Room(Reader(answer))
        room.hooks.register(PRE, asks("one?"))
        room.hooks.register(PRE, asks("two?"))
        assert (await room.pre()).reason == "only today; only today"
        room = Room(Reader(ApprovalAnswer("Deny", comment="use staging")))
        room.hooks.register(PRE, asks("one?"))
        assert (await room.pre()).reason == "User denied: one? (use staging)"

    async def test_edited_input_goes_through_the_hooks_once_more(self):
        """A gate already answered in this call is not asked again unless its prompt changed."""

        async def guard(event: str, data: Data) -> HookResult:
            path = data["tool_input"]["path"]
            if path == "/forbidden":
                return HookResult(action="deny", reason="forbidden")
            return HookResult(action="ask_user", approval_prompt=f"Write {path}?")

        edit = ApprovalAnswer("Allow", edited_input={"path": "/b"})
        reader = Reader(edit, "Allow", "Allow")
        room = Room(reader)
        room.hooks.register(PRE, guard)
        room.hooks.register(PRE, asks("Sure?"), priority=-1)
        result = await room.pre(path="/a")
        assert result.data["tool_input"] == {"path": "/b"}
        assert [question.prompt for question in reader.questions] == [
            "Sure?", "Write /b?",
        ]  # fmt: skip
        room = Room(Reader(ApprovalAnswer("Allow", edited_input={"path": "/forbidden"})))
        room.hooks.register(PRE, guard)
        assert (await room.pre(path="/a")).reason == "forbidden"

    @pytest.mark.parametrize("option", ["Allow", "Allow always"])
    async def test_what_was_edited_away_does_not_come_back(self, option):
        """What was approved is what runs, also when the hooks change after an edit."""
        options = ["Allow", "Allow always", "Deny"]

        async def and_the_hooks_change(question: Any) -> Any:
            room.hooks.register(PRE, says())
            return option

        edit = ApprovalAnswer(option, edited_input={"path": "/b"})
        room = Room(Reader(edit, and_the_hooks_change, option))
        room.hooks.register(PRE, asks("one?", approval_options=options))
        room.hooks.register(PRE, asks("two?", approval_options=options))
        result = await room.pre(path="/a")
        assert result.data["tool_input"] == {"path": "/b"}

    async def test_an_edit_that_is_no_input_is_a_no(self):
        """Type checks on the answer: who edits does not want what was shown to run."""
        room = Room(Reader(ApprovalAnswer("Allow", edited_input="rm")))
        room.hooks.register(PRE, asks())
        result = await room.pre(path="/a")
        assert result.action == "deny"
        assert "an edited input of type str" in result.reason

    @pytest.mark.parametrize("option", ["Allow", "Deny"])
    async def test_odd_names_and_comments_crash_nothing(self, option):
        """An approval system that returns nonsense never crashes the session."""
        room = Room(Reader(ApprovalAnswer(option, by=object(), comment=5)))
        room.hooks.register(PRE, asks())
        result = await room.pre()
        assert "5" in result.reason
        (decided,) = room.bodies("approval_decided")
        assert "object" in decided["by"]

    async def test_edited_input_is_detached(self):
        mine: Data = {"rows": [1]}
        room = Room(Reader(ApprovalAnswer("Allow", edited_input=mine), "Allow"))
        room.hooks.register(PRE, asks())
        result = await room.pre()
        mine["rows"].append(2)
        assert result.data["tool_input"] == {"rows": [1]}


class TestCancelling:
    """Cancelling a waiting agent marks the approval cancelled, frees the waiter (T26)."""

    async def test_during_the_wait(self):
        never = Never()
        room = Room(never)
        room.hooks.register(PRE, asks())
        task = asyncio.ensure_future(room.pre())
        await never.waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(room.bodies("approval_cancelled")) == 1
        assert room.bodies("approval_decided") == []
        assert asyncio.all_tasks() == {asyncio.current_task()}

    async def test_while_it_is_announced(self):
        started = asyncio.Event()

        async def slow(event: str, data: Data) -> HookResult:
            started.set()
            await asyncio.sleep(60)
            return HookResult()

        person = Person("Allow")
        room = Room(person)
        room.hooks.register("approval:required", slow)
        room.hooks.register(PRE, asks())
        task = asyncio.ensure_future(room.pre())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(room.bodies("approval_cancelled")) == 1
        assert person.asked == []

    async def test_ten_thousand_waiters(self):
        """10,000 waiting approvals in one process are cancelled, and no task is left."""
        hooks = HookRegistry()
        hooks.register(PRE, asks())
        session = SessionCoordinator(hooks, approval_system=Never())
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
        person = Person("Allow")
        room = Room(person)
        inner: list[HookResult] = []

        async def circular(event: str, data: Data) -> HookResult:
            inner.append(await room.pre())
            return HookResult()

        room.hooks.register(PRE, asks("go?"))
        room.hooks.register("approval:required", circular)
        assert (await room.pre()).action == "continue"
        assert [result.action for result in inner] == ["deny"]
        assert "being asked already" in inner[0].reason
        assert person.prompts == ["go?"]

    async def test_another_question_is(self):
        person = Person("Allow")
        room = Room(person)

        async def nested(event: str, data: Data) -> HookResult:
            if data["tool_name"] == "Write":
                await room.session.execute_with_hooks(PRE, {"tool_name": "Bash", "tool_input": {}})
            return HookResult()

        room.hooks.register(PRE, asks("go?"))
        room.hooks.register("approval:required", nested)
        assert (await room.pre()).action == "continue"
        assert len(person.asked) == 2


class TestTheTrail:
    @pytest.mark.parametrize("when", ["before", "while asking"])
    async def test_no_durable_record_no_execution(self, when):
        """A failing disk: gated operations are denied."""
        audit = MemoryAudit()

        async def failing(question) -> str:
            audit.fail()
            return "Allow"

        room, seen = Room(Reader(failing), audit=audit), Seen()
        room.hooks.register(PRE, asks())
        room.hooks.register("approval:denied", seen)
        if when == "before":
            audit.fail()
        result = await room.pre()
        assert (result.action, room.session.trail.failed) == ("deny", True)
        assert seen.events == ["approval:denied"]

    async def test_configurable_to_warn(self, caplog):
        audit = MemoryAudit(on_failure="warn")
        room = Room(Person("Allow"), audit=audit)
        room.hooks.register(PRE, asks())
        audit.fail()
        assert (await room.pre()).action == "continue"
        assert caplog.text.count("The audit trail has failed") == 1

    async def test_a_commit_that_fails_is_no_record(self):
        class Torn(MemoryAudit):
            async def commit(self, sequence: int | None = None) -> None:
                raise OSError("EIO")

        room = Room(Person("Allow"), audit=Torn())
        room.hooks.register(PRE, asks())
        assert (await room.pre()).reason == "Not approved, EIO: Go on?"


async def test_the_approval_system_is_fixed_once_the_session_started():
    """Replacing it before the session starts is an application's right, after it is refused."""
    room = Room(None)
    room.session.approval_system = Person("Deny")
    room.session.seal()
    with pytest.raises(ApprovalError, match="fixed once the session has started"):
        room.session.approval_system = Person("Allow")
    assert room.bodies("configuration_changed") == [{"what": "approval_system", "refused": True}]
    room.hooks.register(PRE, asks())
    assert (await room.pre()).action == "deny"
    assert isinstance(room.session.approval_system, Person)


async def test_a_guard_that_crashes_is_denied_before_anybody_is_asked():
    person = Person("Allow")
    room = Room(person)
    room.hooks.register(PRE, asks())
    room.hooks.register(PRE, raises(ValueError("x")), name="guard", on_error="deny")
    assert "fails closed" in (await room.pre()).reason
    assert person.asked == []
