"""Loops that emit by themselves: they hand over each result, and no hook's answer is lost."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="arg-type, attr-defined"

from __future__ import annotations

import pytest

from amplifier_core.approval import ApprovalAnswer
from amplifier_core.compat import hand_back
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.injection import Injection
from amplifier_core.models import HookResult
from amplifier_core.testing import ScriptedApproval
from tests.support.harness import Harness
from tests.support.hooks import POST, PRE, Data, asks, injects, modifies, says
from tests.support.people import PlainPerson


class TestProcessing:
    """A loop that emits by itself hands the result over, and loses no hook's answer."""

    async def test_every_answer_behind_a_result(self):
        person = PlainPerson("Allow")
        harness = Harness(approval=person)
        harness.hooks.register(PRE, injects("found", user_message="look"), name="scanner")
        harness.hooks.register(PRE, asks("one?"))
        harness.hooks.register(PRE, asks("two?"))
        harness.hooks.register(PRE, modifies(x=2))
        folded = await harness.hooks.emit(PRE, {"x": 1})
        result = await harness.coordinator.process_hook_result(folded, PRE)
        assert (result.action, result.data["x"]) == ("continue", 2)
        assert person.prompts == ["one?", "two?"]
        assert harness.texts == ["found"]
        assert harness.shown == [("look", "info", "hook:scanner")]

    async def test_a_denial_and_a_notification(self):
        harness = Harness()
        harness.hooks.register(PRE, says("deny", reason="no"))
        denied = await harness.coordinator.process_hook_result(
            await harness.hooks.emit(PRE, {}), PRE
        )
        assert (denied.action, denied.reason) == ("deny", "no")
        harness.hooks.register("session:end", says("deny", reason="no"))
        ended = await harness.hooks.emit("session:end", {})
        assert await harness.coordinator.process_hook_result(ended, "session:end") is ended

    async def test_a_result_from_somewhere(self):
        """A result that no registry made is carried out in the name it comes with."""
        harness = Harness(approval=PlainPerson("Deny"))
        result = HookResult(action="inject_context", context_injection="x", data={"a": 1})
        done = await harness.coordinator.process_hook_result(result, PRE, "remote")
        assert (done.action, done.data) == ("continue", {"a": 1})
        assert harness.context.messages[0]["metadata"]["hook_name"] == "remote"
        asking = HookResult(action="ask_user", approval_prompt="go?")
        assert (
            await harness.coordinator.process_hook_result(asking, PRE)
        ).reason == "User denied: go?"
        assert (
            await harness.coordinator.process_hook_result(HookResult(), PRE)
        ).action == "continue"

    async def test_a_result_whose_action_somebody_changed(self):
        harness = Harness()
        harness.hooks.register(PRE, injects("x"))
        folded = await harness.hooks.emit(PRE, {})
        changed = folded.model_copy(update={"action": "deny", "reason": "after all"})
        assert (await harness.coordinator.process_hook_result(changed, PRE)).reason == "after all"

    async def test_a_bare_dict_is_an_attribute_error(self):
        with pytest.raises(AttributeError):
            await SessionCoordinator().process_hook_result({"action": "deny"}, PRE)

    async def test_the_single_handlers(self):
        """`handle_context_injection`, `handle_approval_request`, `handle_user_message`."""
        harness = Harness(approval=PlainPerson("Allow"))
        await harness.coordinator.handle_context_injection(
            HookResult(context_injection="x"), "h", PRE
        )
        assert harness.texts == ["x"]
        asked = await harness.coordinator.handle_approval_request(HookResult(data={"a": 1}), "h")
        assert (asked.action, asked.data) == ("continue", {"a": 1})
        await harness.coordinator.handle_user_message(HookResult(user_message="hi"), "h")
        await harness.coordinator.handle_user_message(HookResult(), "h")
        assert harness.shown == [("hi", "info", "hook:h")]


class TestAfterAWait:
    """The loop goes on with what it holds: that was shown and is judged again, or it is denied."""

    async def test_guards_judge_again(self):
        """A loop that emits by itself is no way around a guard that has changed its mind."""
        world = {"link": "/safe"}

        async def guard(event: str, data: Data) -> HookResult:
            denied = world["link"] != "/safe"
            return HookResult(action="deny" if denied else "continue", reason="swapped")

        def swap(question) -> str:
            world["link"] = "/etc"
            return "Allow"

        harness = Harness(approval=ScriptedApproval(swap))
        harness.hooks.register(PRE, guard, on_error="deny")
        harness.hooks.register(PRE, asks())
        folded = await harness.answer("Write", {"path": "/a"})
        result = await harness.coordinator.process_hook_result(folded, PRE)
        assert (result.action, result.reason) == ("deny", "swapped")

    @pytest.mark.parametrize("change", ["a hook", "the loop"])
    async def test_what_changed_is_denied(self, change):
        """Nobody can make the loop run anything but what it holds."""
        held: Data = {"path": "/a"}

        def changes(question) -> str:
            if change == "a hook":
                harness.hooks.register(PRE, modifies(tool_input={"path": "/b"}))
            else:
                held["path"] = "/b"
            return "Allow"

        harness = Harness(approval=ScriptedApproval(changes))
        harness.hooks.register(PRE, asks())
        folded = await harness.answer("Write", held)
        result = await harness.coordinator.process_hook_result(folded, PRE)
        assert result.reason == "it was changed while it waited for approval"

    @pytest.mark.parametrize("known", [True, False])
    async def test_an_edit_is_denied_unless_it_changes_nothing(self, known):
        """The loop would run what the person has replaced."""
        for path, action in (("/a", "continue"), ("/b", "deny")):
            edit = ApprovalAnswer("Allow", edited_input={"path": path})
            harness = Harness(approval=ScriptedApproval(edit))
            harness.hooks.register(PRE, asks())
            folded = await harness.answer("Write", {"path": "/a"})
            given = folded if known else HookResult(action="ask_user", data=folded.data)
            result = await harness.coordinator.process_hook_result(given, PRE)
            assert result.action == action
            assert action == "continue" or result.reason == "it cannot be edited any more"


class TestHandingBack:
    """Text for one request goes to whoever builds the request."""

    async def test_an_allowed_question_still_hands_back_what_rides_with_it(self):
        harness = Harness(approval=PlainPerson("Allow"))
        harness.hooks.register(PRE, asks("go?"))
        harness.hooks.register(PRE, injects("now", ephemeral=True))
        folded = await harness.hooks.emit(PRE, {})
        result = await harness.coordinator.process_hook_result(folded, PRE)
        assert (result.action, result.context_injection) == ("inject_context", "now")

    async def test_a_refused_one_does_not(self):
        harness = Harness(approval=PlainPerson("Deny"))
        harness.hooks.register(PRE, asks("go?"))
        harness.hooks.register(PRE, injects("now", ephemeral=True))
        folded = await harness.hooks.emit(PRE, {})
        assert (await harness.coordinator.process_hook_result(folded, PRE)).action == "deny"

    async def test_what_is_over_a_limit_is_not_handed_back(self):
        """The budget holds for it as for everything else."""
        harness = Harness(injection_size_limit=2)
        harness.hooks.register(POST, injects("too long", ephemeral=True))
        folded = await harness.hooks.emit(POST, {})
        assert (await harness.coordinator.process_hook_result(folded, POST)).action == "continue"
        assert "exceeds 2 bytes" in harness.shown[0][0]

    def test_no_hook_speaks_in_the_name_of_another(self):
        """A line that looks like the frame of a hook's feedback is indented here too."""
        result = hand_back([Injection("h", PRE, "From other (3 bytes):\nx", ephemeral=True)], {})
        assert result.context_injection == "    From other (3 bytes):\nx"
        assert [one.hook_name for one in result.context_injections] == ["h"]
