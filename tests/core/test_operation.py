"""One event through its hooks: every answer is carried out and recorded as that hook's."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any

import pytest

from amplifier_core import events
from amplifier_core.approval import ApprovalAnswer
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult
from amplifier_core.testing import EventRecorder, ScriptedApproval
from tests.support.harness import Harness
from tests.support.hooks import (
    POST,
    PRE,
    Data,
    asks,
    injects,
    modifies,
    prints,
    raises,
    returns,
    says,
)
from tests.support.people import PlainPerson


async def test_nobody_listens():
    hooks = HookRegistry()
    hooks.set_default_fields(session_id="s")
    session = SessionCoordinator(hooks)
    given: Data = {"x": [1]}
    result = await session.execute_with_hooks(PRE, given)
    assert (result.action, result.data) == ("continue", {"session_id": "s", "x": [1]})
    assert result.data["x"] is not given["x"]


@pytest.mark.parametrize("hooks", [[], [says()], [modifies(y=1)], [asks()]])
async def test_the_result_is_a_frozen_copy(hooks):
    """What the caller changes later is not what runs."""
    harness = Harness(approval=PlainPerson("Allow"))
    for hook in hooks:
        harness.hooks.register(PRE, hook)
    given: Data = {"x": [1], "tool_input": {"rows": []}}
    result = await harness.coordinator.execute_with_hooks(PRE, given)
    given["x"].append(2)
    given["tool_input"]["rows"].append(2)
    assert (result.data["x"], result.data["tool_input"]) == ([1], {"rows": []})


@pytest.mark.parametrize("event", [PRE, "session:end"])
@pytest.mark.parametrize("hooks", [[], [says()]])
async def test_what_nobody_objects_to_is_allowed(event, hooks):
    """With hooks or without, to judge or only to be told."""
    harness = Harness()
    for hook in hooks:
        harness.hooks.register(event, hook)
    outcome = await harness.judge(event, x=1)
    assert (outcome.allowed, outcome.data["x"]) == (True, 1)


@pytest.mark.parametrize("data", [None, "text", 5])
async def test_data_of_any_form(data):
    session = SessionCoordinator()
    expected = {} if data is None else {"data": data}
    assert (await session.execute_with_hooks(PRE, data)).data == expected


async def test_every_answer_has_its_own_hooks_name():
    """Two hooks that speak at once are shown, stored and recorded apart."""
    harness = Harness()
    for name in ("a", "b"):
        harness.hooks.register(POST, injects(name, user_message=f"{name}!"), name=name)
    harness.hooks.register(
        POST, says(user_message="c!", user_message_level="error", user_message_source="src")
    )
    await harness.coordinator.execute_with_hooks(POST, {})
    assert harness.shown == [
        ("a!", "info", "hook:a"),
        ("b!", "info", "hook:b"),
        ("c!", "error", "hook:src"),
    ]
    assert harness.context.messages[0]["metadata"]["hooks"] == ["a", "b"]


@pytest.mark.parametrize(
    ("fields", "outcome", "reason"),
    [
        ({"action": "deny", "reason": 5}, "deny", "5"),
        ({"action": "ask_user", "approval_options": 7}, "deny", "cannot be put"),
        ({"action": "ask_user", "approval_prompt": b"x"}, "deny", "approval_prompt: "),
        ({"action": "inject_context", "context_injection": 5}, "continue", None),
    ],
)
async def test_results_built_past_validation_crash_nothing(fields, outcome, reason):
    """No gate is skipped, nothing runs after a deny, and no nonsense crashes the session."""
    harness = Harness()
    harness.hooks.register(PRE, returns(HookResult().model_copy(update=fields)))
    result = await harness.pre()
    assert result.action == outcome
    assert reason is None or reason in result.reason
    assert harness.texts == []


async def test_deny_keeps_what_the_hook_gave():
    harness = Harness()
    harness.hooks.register(PRE, says("deny", reason="no", data={"hint": 1}))
    result = await harness.pre()
    assert (result.action, result.reason, result.data) == ("deny", "no", {"hint": 1})


@pytest.mark.parametrize("event", ["session:end", "tool:error", "error:tool", "execution:end"])
async def test_notifications_only_tell(event):
    """Notifications: deny, modify and ask_user are recorded, no effect; injections are seen."""
    person = PlainPerson("Deny")
    harness = Harness(approval=person)
    harness.hooks.register(event, modifies(x=9), priority=0)
    harness.hooks.register(event, asks(), priority=1)
    harness.hooks.register(event, injects("noted"), priority=2)
    harness.hooks.register(event, says("deny", reason="no", user_message="hm"), priority=3)
    given = {"x": [1]}
    result = await harness.coordinator.execute_with_hooks(event, given)
    assert (result.action, result.data["x"]) == ("continue", [1])
    assert result.data["x"] is not given["x"]
    assert person.asked == []
    assert harness.texts == ["noted"]
    [body] = harness.bodies("dispatch")
    assert [one["action"] for one in body["hooks"]] == [
        "modify", "ask_user", "inject_context", "deny",
    ]  # fmt: skip


async def test_an_event_of_a_modules_own_is_an_operation():
    harness = Harness()
    harness.hooks.register("my:event", says("deny", reason="no"))
    assert (await harness.coordinator.execute_with_hooks("my:event", {})).action == "deny"


def test_which_events_only_tell():
    operations = {
        "session:start", "prompt:submit", "prompt:answer", "provider:request", "provider:response",
        "tool:pre", "tool:post", "context:pre_compact", "context:pre-compact", "agent:spawn", "x:y",
        "decision:tool_resolution", "decision:agent_resolution", "decision:context_resolution",
    }  # fmt: skip
    spelled = {*events.ALL_EVENTS, "execution:end", "context:pre-compact", "x:y"}
    assert {event for event in spelled if not events.is_notification(event)} == operations


async def test_what_hooks_inject_at_a_sub_agents_start_is_left_to_whoever_starts_it():
    """The conversation of the parent is not where it belongs; a refused start has no other."""
    harness = Harness()
    harness.hooks.register(events.AGENT_SPAWN, injects("for the child"), name="mine")
    outcome = await harness.judge(events.AGENT_SPAWN, agent_name="a", task="x")
    assert [(one.hook, one.result.context_injection) for one in outcome.answers] == [
        ("mine", "for the child")
    ]
    assert harness.texts == []
    harness.hooks.register(events.AGENT_SPAWN, says("deny"))
    assert not (await harness.judge(events.AGENT_SPAWN, agent_name="a", task="x")).allowed
    assert "for the child" in harness.texts[0]


class TestJudgedAgain:
    """After a wait for a person everybody who can refuse judges the operation as it is then."""

    async def test_a_guard_that_did_not_ask_is_heard_again(self):
        """A link that was swapped while another guard's question waited is seen."""
        world = {"link": "/safe"}

        async def guard(event: str, data: Data) -> HookResult:
            if world["link"] != "/safe":
                return HookResult(action="deny", reason=f"leads to {world['link']}")
            return HookResult()

        def swap(question) -> str:
            world["link"] = "/etc"
            return "Allow"

        harness = Harness(approval=ScriptedApproval(swap))
        harness.hooks.register(PRE, guard, on_error="deny", name="paths")
        harness.hooks.register(PRE, asks())
        assert (await harness.pre()).reason == "leads to /etc"

    async def test_who_asked_without_being_a_guard_is_heard_again(self):
        """A hook that has another question then gets another answer."""
        numbers = iter(("one?", "two?", "two?"))

        async def hook(event: str, data: Data) -> HookResult:
            return HookResult(action="ask_user", approval_prompt=next(numbers))

        person = PlainPerson("Allow")
        harness = Harness(approval=person)
        harness.hooks.register(PRE, hook)
        assert (await harness.pre()).action == "continue"
        assert person.prompts == ["one?", "two?"]

    async def test_at_most_eight_times(self):
        """An operation that is another each time ends in a refusal, not in endless questions."""
        numbers = iter(range(100))

        async def hook(event: str, data: Data) -> HookResult:
            return HookResult(action="ask_user", approval_prompt=f"{next(numbers)}?")

        person = PlainPerson("Allow")
        harness = Harness(approval=person)
        harness.hooks.register(PRE, hook)
        assert (await harness.pre()).reason == "the operation was changed more than 8 times"
        assert len(person.prompts) == 8

    async def test_observers_are_called_once(self):
        """What a hook does that is neither a guard nor asks is not done twice."""
        seen, harness = EventRecorder(), Harness(approval=PlainPerson("Allow"))
        harness.hooks.register(PRE, seen, priority=-1)
        harness.hooks.register(PRE, injects("noted", user_message="look"), name="scanner")
        harness.hooks.register(PRE, modifies(tool_input={"path": "/b"}))
        harness.hooks.register(PRE, asks(user_message="asking"), priority=1, name="asker")
        harness.hooks.register(PRE, seen, priority=2)
        result = await harness.pre(path="/a")
        assert result.data["tool_input"] == {"path": "/b"}
        assert [data["tool_input"]["path"] for _, data in seen.events] == ["/a", "/b"]
        assert harness.texts == ["noted"]
        assert [text for text, _, _ in harness.shown] == ["look", "asking"]

    async def test_an_observer_is_told_of_other_data(self):
        """What comes to differ during the wait reaches those who know only what was before."""
        seen = EventRecorder()

        async def adding(question) -> str:
            if question.tool_input == {"path": "/a"}:
                harness.hooks.register(PRE, modifies(tool_input={"path": "/b"}), priority=-1)
            return "Allow"

        harness = Harness(approval=ScriptedApproval(adding))
        harness.hooks.register(PRE, seen)
        harness.hooks.register(PRE, asks())
        await harness.pre(path="/a")
        assert [data["tool_input"]["path"] for _, data in seen.events] == ["/a", "/b"]

    async def test_who_is_called_again_is_told_so(self):
        """A hook that counts can count once, and nobody can take the mark along or set it."""
        marks = []

        async def counts(event: str, data: Data) -> HookResult:
            marks.append((data.get("judged_again"), data["timestamp"]))
            return HookResult(action="modify", data={**data, "seen": True, "judged_again": True})

        harness = Harness(approval=PlainPerson("Allow"))
        harness.hooks.register(PRE, counts, on_error="deny")
        harness.hooks.register(PRE, asks())
        result = await harness.pre()
        assert [again for again, _ in marks] == [None, True]
        assert len({stamp for _, stamp in marks}) == 1
        assert result.data["seen"]
        assert "judged_again" not in result.data

    async def test_what_changed_with_nobody_left_to_ask_is_denied(self):
        """X was allowed; hooks that went away would have Y run, which nobody has seen."""
        removals: list[Any] = []

        async def leaving(question) -> str:
            for remove in removals:
                remove()
            return "Allow"

        harness = Harness(approval=ScriptedApproval(leaving))
        removals.append(harness.hooks.register(PRE, modifies(tool_input={"path": "/safe"})))
        removals.append(harness.hooks.register(PRE, asks("Write to /safe?")))
        outcome = await harness.judge(PRE, tool_name="Write", tool_input={"path": "/etc"})
        assert not outcome.allowed
        assert (outcome.hook, outcome.reason) == (
            "kernel",
            "it was changed while it waited for approval",
        )

    async def test_a_question_that_is_withdrawn_was_answered_all_the_same(self):
        """If the operation is what was shown, it runs, whoever has left meanwhile."""

        async def leaving(question) -> str:
            harness.hooks.unregister("asker")
            return "Allow"

        harness = Harness(approval=ScriptedApproval(leaving))
        harness.hooks.register(PRE, asks(), name="asker")
        result = await harness.pre(path="/a")
        assert (result.action, result.data["tool_input"]) == ("continue", {"path": "/a"})

    async def test_hooks_that_change_what_a_person_edited_are_asked_about(self):
        """The person wrote one thing; if another would run they see it first."""

        async def insists(event: str, data: Data) -> HookResult:
            if data["tool_input"]["path"] == "/b":
                return HookResult(action="modify", data={**data, "tool_input": {"path": "/c"}})
            return HookResult()

        edit = ApprovalAnswer("Allow", edited_input={"path": "/b"})
        reader = ScriptedApproval(edit, "Allow")
        harness = Harness(approval=reader)
        harness.hooks.register(PRE, insists)
        harness.hooks.register(PRE, asks())
        result = await harness.pre(path="/a")
        assert result.data["tool_input"] == {"path": "/c"}
        assert [one.tool_input["path"] for one in reader.questions] == ["/a", "/c"]

    @pytest.mark.parametrize("asking", [1, 2])
    async def test_the_same_edit_is_not_asked_about_a_third_time(self, asking: int):
        """Hooks change it whenever it comes; whoever gives it again would be asked for ever."""
        edit = ApprovalAnswer("Allow", edited_input={"path": "/b"})
        reader = ScriptedApproval(*["Allow"] * (asking - 1), edit, *["Allow"] * (asking - 1), edit)
        harness = Harness(approval=reader)
        harness.hooks.register(PRE, modifies(tool_input={"path": "/c"}))
        for number in range(asking):
            harness.hooks.register(PRE, asks(f"Question {number}?"), name=f"asker-{number}")
        result = await harness.pre(path="/a")
        assert result.reason == (
            "Not approved, the same edit was given twice and did not settle it: Question 0?"
        )
        assert len(reader.questions) == 2 * asking

    async def test_the_same_edit_at_a_question_that_changes_is_not_asked_about_a_third_time(self):
        """A prompt that is never the same is a new question each time, but not without end."""
        numbers = count()

        async def counts(event: str, data: Data) -> HookResult:
            prompt = f"Attempt {next(numbers)}?"
            return HookResult(action="ask_user", approval_prompt=prompt)

        edit = ApprovalAnswer("Allow", edited_input={"path": "/b"})
        reader = ScriptedApproval(edit, edit)
        harness = Harness(approval=reader)
        harness.hooks.register(PRE, counts, name="counts")
        assert (await harness.pre(path="/a")).action == "deny"
        assert len(reader.questions) == 2

    async def test_the_same_edit_at_each_of_several_questions_is_one_edit(self):
        """An approver that always writes the command its own way still gets it to run."""
        edit = ApprovalAnswer("Allow", edited_input={"path": "/b"})
        reader = ScriptedApproval(edit, edit, edit)
        harness = Harness(approval=reader)
        for number in range(3):
            harness.hooks.register(PRE, asks(f"Question {number}?"), name=f"asker-{number}")
        result = await harness.pre(path="/a")
        assert (result.action, result.data["tool_input"]) == ("continue", {"path": "/b"})
        assert len(reader.questions) == 3

    async def test_a_gate_behind_an_edit_is_still_asked(self):
        """An edit answers the gate that it was made at; a hook that counts sees a new call."""
        person = ScriptedApproval(ApprovalAnswer("Allow", edited_input={"path": "/b"}), "Deny")

        async def limit(event: str, data: Data) -> HookResult:
            if data.get("judged_again"):
                return HookResult()
            return HookResult(action="ask_user", approval_prompt="Too many. Go on?")

        harness = Harness(approval=person)
        harness.hooks.register(PRE, asks("Write?"))
        harness.hooks.register(PRE, limit, on_error="deny")
        assert (await harness.pre(path="/a")).reason == "User denied: Too many. Go on?"

    async def test_an_edit_keeps_what_hooks_had_made_of_the_rest(self):
        """What a person saw and left alone does not go back to what it was before."""
        names = iter(["SafeWrite"])

        async def renames_once(event: str, data: Data) -> HookResult:
            name = next(names, data["tool_name"])
            return HookResult(action="modify", data={**data, "tool_name": name})

        person = ScriptedApproval(ApprovalAnswer("Allow", edited_input={"path": "/b"}), "Allow")
        harness = Harness(approval=person)
        harness.hooks.register(PRE, renames_once)
        harness.hooks.register(PRE, asks())
        result = await harness.pre("Write", path="/a")
        assert (result.data["tool_name"], result.data["tool_input"]) == (
            "SafeWrite", {"path": "/b"},
        )  # fmt: skip
        assert {question.tool_name for question in person.questions} == {"SafeWrite"}

    async def test_whoever_failed_before_the_wait_is_still_among_the_answers(self):
        """It is not called again, and not forgotten either."""
        harness = Harness(approval=PlainPerson("Allow"))
        harness.hooks.register(PRE, raises(ValueError("boom")), name="broken")
        harness.hooks.register(PRE, asks(), name="asker")
        outcome = await harness.judge(PRE, tool_name="Write", tool_input={})
        assert [(one.hook, one.error is None) for one in outcome.answers] == [
            ("broken", False), ("asker", True),
        ]  # fmt: skip

    async def test_one_wait_is_enough_to_be_judged_again(self):
        """Also when the last question was answered from what a person said before."""
        calls: list[int] = []

        async def guard(event: str, data: Data) -> HookResult:
            calls.append(1)
            return HookResult()

        person = PlainPerson("Allow", "Allow always", "Allow")
        harness = Harness(approval=person)
        harness.hooks.register(PRE, guard, on_error="deny")
        harness.hooks.register(PRE, asks("one?"))
        harness.hooks.register(
            PRE, asks("two?", approval_options=["Allow", "Allow always", "Deny"])
        )
        await harness.pre()
        calls.clear()
        assert (await harness.pre()).action == "continue"
        assert (person.prompts, len(calls)) == (["one?", "two?", "one?"], 2)

    async def test_what_was_remembered_waits_for_nobody(self):
        """A call that was allowed for always is judged once, unless the hooks change."""
        options = ["Allow always", "Deny"]
        seen, harness = EventRecorder(), Harness(approval=PlainPerson("Allow always"))
        harness.hooks.register(PRE, asks(approval_options=options))
        harness.hooks.register(PRE, seen, on_error="deny")
        await harness.pre()
        assert len(seen.events) == 2
        await harness.pre()
        assert len(seen.events) == 3

        async def denies(event: str, data: Data) -> None:
            harness.hooks.register(PRE, says("deny", reason="new policy"))

        harness.hooks.register("approval:granted", denies)
        assert (await harness.pre()).reason == "new policy"

    async def test_what_was_remembered_does_not_cover_an_edit(self):
        """ "Always" was said about one input; another, edited at another gate, is asked about."""
        edit = ApprovalAnswer("Allow", edited_input={"path": "/b"})
        reader = ScriptedApproval("Allow always", "Allow", edit, "Allow")
        harness = Harness(approval=reader)
        harness.hooks.register(PRE, asks("one?", approval_options=["Allow always", "Allow"]))
        harness.hooks.register(PRE, asks("two?"))
        await harness.pre(path="/a")
        result = await harness.pre(path="/a")
        assert result.data["tool_input"] == {"path": "/b"}
        shown = [(one.prompt, one.tool_input["path"]) for one in reader.questions]
        assert shown == [("one?", "/a"), ("two?", "/a"), ("two?", "/a"), ("one?", "/b")]

    async def test_the_trail_tells_who_judged_again(self):
        """The second record holds the hooks that were called, and says that it is one."""
        harness = Harness(approval=PlainPerson("Allow"))
        harness.hooks.register(PRE, says(), name="observer")
        harness.hooks.register(PRE, says(), name="guard", on_error="deny")
        harness.hooks.register(PRE, asks(), name="asker")
        await harness.pre()
        first, second = (
            one["body"] for one in harness.trail.of_type("dispatch") if one["event"] == PRE
        )
        assert [one["hook"] for one in first["hooks"]] == ["observer", "guard", "asker"]
        assert "judged_again" not in first
        assert [one["hook"] for one in second["hooks"]] == ["guard", "asker"]
        assert second["judged_again"]

    async def test_what_a_guard_prints_again_is_not_shown_again(self, capsys):
        """New hooks are shown; those that were heard before are not."""

        async def adding(question) -> str:
            harness.hooks.register(PRE, prints("new"))
            return "Allow"

        harness = Harness(approval=ScriptedApproval(adding))
        harness.hooks.register(PRE, prints("old"), on_error="deny")
        harness.hooks.register(PRE, asks())
        await harness.pre()
        assert [text for text, _, _ in harness.shown] == ["old", "new"]
        assert capsys.readouterr().out == ""


async def test_what_a_hook_left_behind_prints_later_is_not_lost(capsys):
    """It is no output of that hook any more, and goes where output goes."""
    go, tasks = asyncio.Event(), []

    async def prints_later() -> None:
        await go.wait()
        print("late")  # noqa: T201

    async def starts(event: str, data: Data) -> None:
        tasks.append(asyncio.create_task(prints_later()))

    async def waits(event: str, data: Data) -> None:
        go.set()
        await tasks[0]

    harness = Harness()
    harness.hooks.register(PRE, starts)
    harness.hooks.register(PRE, waits)
    await harness.pre()
    assert capsys.readouterr().out == "late\n"
    assert harness.shown == []
