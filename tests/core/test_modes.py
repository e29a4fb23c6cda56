"""The mode of a registry: a denial ends the chain, or the others still run, or nothing counts."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from amplifier_core.handlers import MODES, Mode, choose_mode
from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult
from amplifier_core.testing import EventRecorder, MemoryAudit, ScriptedApproval
from tests.support.harness import Harness
from tests.support.hooks import POST, PRE, Data, asks, injects, modifies, raises, says

EFFECTS = [
    says("deny", reason="no"),
    asks("May it?"),
    injects("mind the gap"),
    modifies(tool_input={"x": 2}),
    raises(RuntimeError("broken")),
]


@pytest.mark.parametrize("parent", [None, *MODES])
@pytest.mark.parametrize("wanted", MODES)
def test_a_child_never_takes_effect_away_and_inherits_the_rest(
    wanted: Mode, parent: Mode | None
) -> None:
    """The hooks of a parent run in its children with the effect that they have there."""
    if wanted == "evaluate_only" and parent in ("enforce", "run_all"):
        with pytest.raises(ValueError, match=r"set session\.evaluate_only in the parent's plan"):
            choose_mode(wanted, parent)
        return
    order = list(MODES)
    found = choose_mode(wanted, parent)
    assert order.index(found) == max(order.index(wanted), order.index(parent or "enforce"))


def test_a_mode_that_there_is_not_is_refused() -> None:
    """It says which there are."""
    wrong: Any = "shadow"
    with pytest.raises(ValueError, match="enforce, run_all, evaluate_only, got 'shadow'"):
        HookRegistry(mode=wrong)


def test_nobody_changes_the_mode_of_a_registry() -> None:
    """It holds from the beginning to the end."""
    registry: Any = HookRegistry()
    with pytest.raises(AttributeError):
        registry.mode = "evaluate_only"
    assert registry.mode == "enforce"


class TestRunAll:
    """The hooks behind a denial run; the denial stands."""

    @pytest.mark.parametrize("later", EFFECTS)
    async def test_the_first_denial_stands_whatever_the_later_hooks_answer(self, later: Any):
        """Nobody is asked, nothing is injected or changed, and the reason is the first one's."""
        person = ScriptedApproval("Allow")
        harness = Harness(approval=person, run_all=True)
        last = EventRecorder()
        harness.hooks.register(PRE, says("deny", reason="first"), name="one")
        harness.hooks.register(PRE, later, name="two", on_error="deny")
        harness.hooks.register(PRE, last)
        outcome = await harness.judge(PRE, tool_name="Write", tool_input={"x": 1})
        assert (outcome.allowed, outcome.hook, outcome.reason) == (False, "one", "first")
        assert person.questions == []
        assert harness.texts == []
        ((_, seen),) = last.events
        assert (seen["tool_input"], seen["denied_by"]) == ({"x": 1}, "one")
        assert [one["body"]["hook"] for one in _violations(harness)] == ["one"]

    async def test_what_came_before_the_denial_counts_as_ever(self):
        """An injection of an earlier hook is placed."""
        harness = Harness(run_all=True)
        harness.hooks.register(PRE, injects("before"))
        harness.hooks.register(PRE, says("deny"))
        harness.hooks.register(PRE, injects("after"))
        await harness.pre()
        assert harness.texts == ["before"]

    async def test_observers_see_what_was_denied(self):
        """Also those that run side by side."""
        harness = Harness(run_all=True)
        beside = EventRecorder()
        harness.hooks.register(PRE, says("deny", reason="no"), name="guard")
        harness.hooks.register(PRE, beside, parallel=True)
        await harness.pre()
        assert beside.events[0][1]["denied_by"] == "guard"

    @pytest.mark.parametrize("level", ["normal", "decisions"])
    async def test_the_record_says_what_had_no_effect(self, level: Any):
        """At every level, so that nobody takes a later answer for what happened."""
        harness = Harness(audit=MemoryAudit(level), run_all=True)
        harness.hooks.register(PRE, says("deny", reason="first"), name="one")
        harness.hooks.register(PRE, says("deny", reason="second"), name="two")
        await harness.pre()
        if level == "normal":
            answers = next(one["hooks"] for one in harness.bodies("dispatch"))
        else:
            answers = harness.bodies("action_resolved")
        assert [(one["hook"], one.get("unheeded")) for one in answers] == [
            ("one", None),
            ("two", True),
        ]

    async def test_who_emits_gets_the_first_denial(self):
        """On the fast path and on the careful one."""
        for timeout in (None, 5.0):
            registry, last = HookRegistry(mode="run_all"), EventRecorder()
            registry.register(PRE, says("deny", reason="first"), timeout=timeout)
            registry.register(PRE, says("deny", reason="second"))
            registry.register(PRE, last)
            result = await registry.emit(PRE, {"x": 1})
            assert (result.action, result.reason) == ("deny", "first")
            assert len(last.events) == 1

    async def test_a_denial_after_a_question_lets_the_others_run_without_effect(self):
        """An operation that is judged again is judged to the end as well."""
        denies: list[bool] = []

        async def turn_round(_: str, __: Data) -> HookResult:
            denies.append(bool(denies))
            return HookResult(action="deny" if denies[-1] else "continue", reason="too late")

        harness = Harness(approval=ScriptedApproval("Allow once"), run_all=True)
        last = EventRecorder()
        harness.hooks.register(PRE, asks("May it?"), name="gate")
        harness.hooks.register(PRE, turn_round, name="guard", on_error="deny")
        harness.hooks.register(PRE, modifies(tool_input={"x": 2}), name="editor")
        harness.hooks.register(PRE, last)
        outcome = await harness.judge(PRE, tool_name="Write", tool_input={"x": 1})
        assert (outcome.allowed, outcome.hook, outcome.reason) == (False, "guard", "too late")
        assert last.events[-1][1]["denied_by"] == "guard"

    async def test_a_child_of_such_a_registry_runs_all_as_well(self):
        """The observers of a session see the denied calls of its sub-agents."""
        parent, last = HookRegistry(mode="run_all"), EventRecorder()
        child = HookRegistry(parent)
        child.register(PRE, says("deny"), priority=-1)
        parent.register(PRE, last)
        await child.emit(PRE, {})
        assert len(last.events) == 1


class TestShadow:
    """Every hook runs, everything is recorded, nothing happens."""

    @pytest.mark.parametrize("hook", EFFECTS)
    @pytest.mark.parametrize("on_error", ["deny", "continue"])
    async def test_no_answer_has_an_effect(self, hook: Any, on_error: Any):
        """Not denied, not asked, not injected, not changed."""
        person = ScriptedApproval("Deny")
        harness = Harness(approval=person, evaluate_only=True)
        last = EventRecorder()
        harness.hooks.register(PRE, hook, name="hook", on_error=on_error)
        harness.hooks.register(PRE, last, parallel=True)
        outcome = await harness.judge(PRE, tool_name="Write", tool_input={"x": 1})
        assert outcome.allowed
        assert (outcome.data or {})["tool_input"] == {"x": 1}
        assert person.questions == []
        assert harness.texts == []
        assert last.events[0][1]["tool_input"] == {"x": 1}
        assert _violations(harness) == []

    @pytest.mark.parametrize(
        ("hook", "action", "would"),
        [
            (says("deny", reason="no"), "deny", "would have denied the call: no"),
            (asks("May it?"), "ask_user", "would have asked about the call: May it?"),
            (injects("mind"), "inject_context", "would have told the agent: mind"),
            (modifies(tool_input={}), "modify", "would have changed the call"),
        ],
    )
    async def test_what_would_have_been_is_recorded_and_told(
        self, hook: Any, action: str, would: str
    ):
        """With the hook that said it."""
        harness = Harness(evaluate_only=True)
        harness.hooks.register(PRE, hook, name="hook")
        await harness.pre()
        (record,) = harness.trail.of_type("shadowed")
        assert (record["hook"], record["event"]) == ("hook", PRE)
        assert (record["body"]["action"], record["body"]["would"]) == (action, would)
        assert (f"shadow: {would}", "warning", "hook:hook") in harness.shown
        assert {one["action"] for one in harness.bodies("dispatch")} == {"continue"}

    async def test_a_guard_that_fails_denies_nothing_and_is_reported(self):
        """The report does not say that the call was denied."""
        harness = Harness(evaluate_only=True)
        harness.hooks.register(PRE, raises(RuntimeError("broken")), name="hook", on_error="deny")
        assert (await harness.pre()).action == "continue"
        assert harness.bodies("hook_failed")[0]["denied"] is False
        failed, would = (text for text, _, _ in harness.shown)
        assert failed.endswith("; the call was not stopped")
        assert would.startswith("shadow: would have denied the call: hook 'hook' failed")

    async def test_messages_of_what_did_not_happen_are_not_shown(self):
        """A message without an effect is, and what a hook hides stays hidden."""

        async def block(_: str, __: Data) -> HookResult:
            sys.stdout.write("secret details")
            return HookResult(action="deny", user_message="blocked!", suppress_output=True)

        harness = Harness(evaluate_only=True)
        harness.hooks.register(PRE, block, name="block")
        harness.hooks.register(PRE, says(user_message="hello", data={"recommended_tool": "Read"}))
        outcome = await harness.judge(PRE, tool_name="Write", tool_input={})
        shown = [text for text, _, _ in harness.shown]
        assert shown == ["hello", "shadow: would have denied the call: no reason given"]
        assert [one.result.data for one in outcome.answers] == [None, None]

    async def test_each_hook_judges_what_the_ones_before_would_have_left(self):
        """So that the record tells what would have happened."""
        harness, last = Harness(evaluate_only=True), EventRecorder()
        harness.hooks.register(PRE, modifies(tool_input={"x": 2}))
        harness.hooks.register(PRE, last)
        await harness.pre(x=1)
        assert last.events[0][1]["tool_input"] == {"x": 2}

    async def test_what_has_no_effect_anyway_is_no_news(self):
        """Of a denied notification nothing is told; an injection there would have counted."""
        harness = Harness(evaluate_only=True)
        harness.hooks.register("session:end", says("deny", reason="no"))
        harness.hooks.register("session:end", says("inject_context"))
        harness.hooks.register("session:end", injects("text"))
        await harness.judge("session:end", reason="complete")
        assert [one["would"] for one in harness.bodies("shadowed")] == [
            "would have told the agent: text"
        ]

    async def test_judged_once_more_no_answer_has_an_effect_either(self):
        """Neither those that are given anew nor those that stand from before."""
        registry = HookRegistry(mode="evaluate_only")
        registry.register(PRE, says("deny", reason="no"), name="guard", on_error="deny")
        registry.register(PRE, says(user_message="hello"), name="speaks")
        before = await registry.dispatch(PRE, {"x": 1})
        run = await registry.dispatch_again(before, before.given)
        assert [one.result.action for one in run.all_answers] == ["continue", "continue"]
        assert [one.hook for one in run.shadow_answers] == ["guard"]
        assert (run.denied, run.data) == (False, before.given)

    async def test_who_emits_directly_gets_a_continue_and_the_session_records_it(self):
        """Loops of the ecosystem act on what `emit` returns."""
        harness = Harness(evaluate_only=True)
        harness.hooks.register(POST, says("deny", reason="no"))
        result = await harness.emit(POST, tool_name="Write")
        assert result.action == "continue"
        assert await harness.coordinator.process_hook_result(result, POST) is result
        assert [one["action"] for one in harness.bodies("shadowed")] == ["deny"]

    async def test_a_result_that_somebody_hands_over_has_no_effect_either(self):
        """Denials, questions and injections in the name of a hook."""
        person = ScriptedApproval("Deny")
        harness = Harness(approval=person, evaluate_only=True)
        coordinator = harness.coordinator
        no = HookResult(action="deny", reason="no")
        ask = HookResult(action="ask_user", approval_prompt="May it?")
        text = HookResult(action="inject_context", context_injection="mind")
        await coordinator.process_hook_result(no, PRE, "mine")
        assert (await coordinator.handle_approval_request(ask, "mine", PRE)).action == "continue"
        assert await coordinator.handle_context_injection(text, "mine", PRE) == []
        assert (person.questions, harness.texts) == ([], [])
        assert [one["action"] for one in harness.bodies("shadowed")] == [
            "deny",
            "ask_user",
            "inject_context",
        ]

    async def test_without_a_session_nothing_is_reported_and_nothing_happens(self):
        """A registry made by hand."""
        registry = HookRegistry(mode="evaluate_only")
        registry.register(PRE, says("deny"))
        result = await registry.emit(PRE, {"x": 1})
        assert (result.action, (result.data or {})["x"]) == ("continue", 1)


def _violations(harness: Harness) -> list[Data]:
    return [
        {"body": record["body"]["data"]}
        for record in harness.trail.of_type("dispatch")
        if record["event"] == "policy:violation"
    ]
