"""The coordinator: every answer carried out, nothing foreign crashes it."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="arg-type, attr-defined"

from __future__ import annotations

import asyncio

import pytest

from amplifier_core.coordinator import ModuleCoordinator, SessionCoordinator
from amplifier_core.models import HookResult
from tests.support.harness import Harness
from tests.support.hooks import PRE, asks, injects, modifies, prints, says
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


class TestTheModuleFace:
    def test_usable_without_anything(self):
        session = ModuleCoordinator(session=None, approval_system=None, display_system=None)
        assert issubclass(ModuleCoordinator, SessionCoordinator)
        assert (session.session_id, session.parent_id, session.config) == (None, None, {})
        assert session.session_state == {}
        assert session.loader is None
        assert not hasattr(session, "emit")
        assert not hasattr(session, "session_dir")
        session.todo_state = [{"content": "x"}]
        assert session.todo_state

    def test_facts_of_the_session(self):
        class Session:
            session_id, parent_id, config = "s", "p", {"session": {"injection_size_limit": 5}}

        session = SessionCoordinator(session=Session())
        assert (session.session_id, session.parent_id) == ("s", "p")
        assert session.injection_size_limit == 5

    async def test_a_cancelled_clean_up_still_forgets(self):
        harness = Harness(approval=PlainPerson("Allow always"))
        harness.hooks.register(PRE, asks(approval_options=["Allow always", "Deny"]))
        await harness.pre()
        harness.coordinator.register_cleanup(lambda: asyncio.sleep(60))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await harness.coordinator.cleanup()
        assert harness.bodies("approval_cache_cleared") == [{"answers": 1}]

    def test_a_summary(self):
        session = SessionCoordinator(session_id="s")
        session.register_contributor("c", "n", len)
        session.register_capability("k", 1)
        assert session.to_dict() == {
            "session_id": "s", "parent_id": None, "has_orchestrator": False, "has_context": False,
            "has_approval_provider": False, "has_display_service": False,
            "providers": [], "tools": [], "hooks": {}, "capabilities": ["k"], "channels": ["c"],
        }  # fmt: skip


async def test_several_sessions_at_once():
    """Several sessions and hooks at once in one process."""
    harnesses = [Harness(approval=PlainPerson("Allow")) for _ in range(20)]
    for number, harness in enumerate(harnesses):
        harness.hooks.register(PRE, injects(f"text {number}"))
        harness.hooks.register(PRE, prints(f"print {number}"), name=f"p{number}")
        harness.hooks.register(PRE, asks(f"{number}?"))
    await asyncio.gather(*(harness.pre() for harness in harnesses for _ in range(5)))
    for number, harness in enumerate(harnesses):
        assert harness.texts == [f"text {number}"] * 5
        assert harness.shown == [(f"print {number}", "info", f"hook:p{number}")] * 5
