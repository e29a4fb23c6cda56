"""The coordinator: every answer carried out, nothing foreign crashes it."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="arg-type, attr-defined, override"

from __future__ import annotations

import asyncio
import logging
import re
import time
from typing import Any

import pytest

from amplifier_core import cancellation, contributions, coordinator, events
from amplifier_core.coordinator import ModuleCoordinator, SessionCoordinator
from amplifier_core.display import DisplaySystem, LoggingDisplay
from amplifier_core.hooks import HookRegistry
from amplifier_core.interfaces import Host
from amplifier_core.models import HookResult
from amplifier_core.testing import EventRecorder, MemoryAudit, RecordingDisplay
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


class TestCarryingOut:
    async def test_nobody_listens(self):
        hooks = HookRegistry()
        hooks.set_default_fields(session_id="s")
        session = SessionCoordinator(hooks)
        given: Data = {"x": [1]}
        result = await session.execute_with_hooks(PRE, given)
        assert (result.action, result.data) == ("continue", {"session_id": "s", "x": [1]})
        assert result.data["x"] is not given["x"]

    @pytest.mark.parametrize("hooks", [[], [says()], [modifies(y=1)], [asks()]])
    async def test_the_result_is_a_frozen_copy(self, hooks):
        """`execute_with_hooks` returns a frozen copy, and that copy is what runs."""
        harness = Harness(approval=PlainPerson("Allow"))
        for hook in hooks:
            harness.hooks.register(PRE, hook)
        given: Data = {"x": [1], "tool_input": {"rows": []}}
        result = await harness.coordinator.execute_with_hooks(PRE, given)
        given["x"].append(2)
        given["tool_input"]["rows"].append(2)
        assert (result.data["x"], result.data["tool_input"]) == ([1], {"rows": []})

    @pytest.mark.parametrize("data", [None, "text", 5])
    async def test_data_of_any_form(self, data):
        session = SessionCoordinator()
        expected = {} if data is None else {"data": data}
        assert (await session.execute_with_hooks(PRE, data)).data == expected

    async def test_every_answer_has_its_own_hooks_name(self):
        """Carries out every answer with its own hook's name (F7)."""
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
            ("c!", "error", "src"),
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
    async def test_results_built_past_validation_crash_nothing(self, fields, outcome, reason):
        """No gate is skipped, nothing runs after a deny, and no nonsense crashes the session."""
        harness = Harness()
        harness.hooks.register(PRE, returns(HookResult().model_copy(update=fields)))
        result = await harness.pre()
        assert result.action == outcome
        assert reason is None or reason in result.reason
        assert harness.texts == []

    async def test_deny_keeps_what_the_hook_gave(self):
        harness = Harness()
        harness.hooks.register(PRE, says("deny", reason="no", data={"hint": 1}))
        result = await harness.pre()
        assert (result.action, result.reason, result.data) == ("deny", "no", {"hint": 1})

    @pytest.mark.parametrize("event", ["session:end", "tool:error", "error:tool", "execution:end"])
    async def test_notifications_only_tell(self, event):
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

    async def test_an_event_of_a_modules_own_is_an_operation(self):
        harness = Harness()
        harness.hooks.register("my:event", says("deny", reason="no"))
        assert (await harness.coordinator.execute_with_hooks("my:event", {})).action == "deny"

    def test_which_events_only_tell(self):
        operations = {
            "session:start", "prompt:submit", "provider:request", "provider:response", "tool:pre",
            "tool:post", "context:pre_compact", "context:pre-compact", "agent:spawn", "x:y",
        }  # fmt: skip
        spelled = {*events.ALL_EVENTS, "execution:end", "context:pre-compact", "x:y"}
        assert {event for event in spelled if not events.is_notification(event)} == operations


class TestProcessing:
    """`emit` and then `process_hook_result`: nothing is lost on that path either."""

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
        assert (
            await harness.coordinator.process_hook_result(ended, "session:end")
        ).action == "continue"

    async def test_a_result_from_somewhere(self):
        """`await process_hook_result(result, event, hook_name="unknown")`."""
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


class TestDisplays:
    async def test_async_displays(self):
        class Slow(RecordingDisplay):
            async def show_message(self, message: str, level: str, source: str) -> None:
                await asyncio.sleep(0)
                super().show_message(message, level, source)

        harness = Harness(screen=Slow())
        harness.hooks.register(PRE, says("deny", user_message="hi", user_message_level="warning"))
        await harness.pre()
        assert harness.shown == [("hi", "warning", "hook:hook")]

    @pytest.mark.parametrize("how", ["raises", "hangs", "stubborn", "cancels", "missing"])
    async def test_a_display_that_fails_costs_the_message_only(  # noqa: C901 - five ways to fail
        self, how, monkeypatch, caplog
    ):
        """A display that raises, hangs or returns nonsense never crashes the session."""
        monkeypatch.setattr(coordinator, "PATIENCE", 0.01)
        over = asyncio.Event()

        class Broken:
            def show_message(self, message: str, level: str, source: str) -> Any:
                if how == "raises":
                    raise OSError("closed")
                return self.later()

            async def later(self) -> None:
                if how == "cancels":
                    raise asyncio.CancelledError
                while not over.is_set():
                    try:
                        await asyncio.sleep(60)
                    except asyncio.CancelledError:
                        if how != "stubborn":
                            raise

        harness = Harness(screen=object() if how == "missing" else Broken())
        harness.hooks.register(PRE, says(user_message="hi"))
        assert (await harness.pre()).action == "continue"
        assert "The display failed; the message was: hi" in caplog.text
        assert harness.bodies("error")[0]["what"] == "display"
        over.set()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    async def test_without_a_display_messages_go_to_the_log(self, caplog):
        session = SessionCoordinator()
        with caplog.at_level(logging.INFO):
            for level in ("info", "warning", "error"):
                await session.show("hi", level, "hook:x")
        assert [record.levelname for record in caplog.records] == ["INFO", "WARNING", "ERROR"]
        assert caplog.messages[0] == "[hook:x] hi"
        assert isinstance(LoggingDisplay(), DisplaySystem)


class TestContributions:
    """Sync or async callbacks, registration order, `None` left out, a failing one skipped."""

    async def test_all_of_it(self, caplog, monkeypatch):
        monkeypatch.setattr(contributions, "PATIENCE", 0.01)
        session = SessionCoordinator()

        async def later() -> str:
            await asyncio.sleep(0)
            return "async"

        async def hanging() -> None:
            await asyncio.sleep(60)

        async def cancelling() -> None:
            raise asyncio.CancelledError

        def broken() -> None:
            raise ValueError("boom")

        session.register_contributor("c", lambda: "sync")
        session.register_contributor("c", "named", later)
        session.register_contributor("c", "none", lambda: None)
        for name, callback in (("broken", broken), ("hangs", hanging), ("gone", cancelling)):
            session.register_contributor("c", name, callback)
        session.register_contributor("c", "falsy", lambda: 0)
        assert await session.collect_contributions("c") == ["sync", "async", 0]
        assert await session.collect_contributions("other") == []
        for name in ("broken", "hangs", "gone"):
            assert f"Contributor '{name}' of channel 'c' failed" in caplog.text
        assert [entry["name"] for entry in session.channels["c"]][:2] == ["<lambda>", "named"]

    @pytest.mark.parametrize(
        ("arguments", "kind", "text"),
        [
            (("", len), ValueError, "A channel needs a name, got ''"),
            ((5, len), ValueError, "A channel needs a name, got 5"),
            (("c", "name", "text"), TypeError, "A contributor must be callable, got 'text'"),
            (("c", "text"), TypeError, "A contributor must be callable, got 'text'"),
        ],
    )
    def test_wrong_contributors(self, arguments, kind, text):
        with pytest.raises(kind, match=text):
            SessionCoordinator().register_contributor(*arguments)

    async def test_cancellation_goes_through(self):
        session = SessionCoordinator()
        session.register_contributor("c", "slow", lambda: asyncio.sleep(60))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await session.collect_contributions("c")


class TestTheModuleFace:
    def test_usable_without_anything(self):
        session = ModuleCoordinator(session=None, approval_system=None, display_system=None)
        assert ModuleCoordinator is SessionCoordinator
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

    async def test_mounting(self):
        session = SessionCoordinator(context="context")

        class Tool:
            name = "Write"

        tool = Tool()
        await session.mount("tools", tool)
        await session.mount("providers", "p", name="main")
        await session.mount("orchestrator", "loop")
        assert session.get("tools", "Write") is tool
        assert session.get("tools") == {"Write": tool}
        assert session.get("tools", "Nope") is None
        assert session.get("orchestrator") == "loop"
        assert session.get("context") == session.context == "context"
        assert session.get("hooks") is session.hooks
        assert session.mount_points["providers"] == {"main": "p"}
        await session.unmount("tools", "Write")
        await session.unmount("tools", "Write")
        await session.unmount("orchestrator")
        assert session.get("orchestrator") is None
        assert session.get("tools") == {}

    @pytest.mark.parametrize(
        ("call", "text"),
        [
            (("mount", "toolz", 1), r"Unknown mount point 'toolz'; have \['context', 'hooks'"),
            (("mount", "hooks", 1), "Hooks should be registered with"),
            (("mount", "tools", object()), "Name required to mount at 'tools'"),
            (("unmount", "tools"), r"Name required to unmount from 'tools'; have \[\]"),
            (("unmount", "hooks"), "Cannot unmount 'hooks'"),
            (("unmount", "toolz"), "Unknown mount point"),
        ],
    )
    async def test_wrong_places(self, call, text):
        """Wrong mount points or missing names: `ValueError` that lists the right ones."""
        method, *arguments = call
        with pytest.raises(ValueError, match=text):
            await getattr(SessionCoordinator(), method)(*arguments)

    def test_wrong_place_to_get_from(self):
        with pytest.raises(ValueError, match="Unknown mount point"):
            SessionCoordinator().get("toolz")

    def test_capabilities(self):
        session = SessionCoordinator()
        session.register_capability("session.working_dir", "/x")
        assert session.get_capability("session.working_dir") == "/x"
        assert session.get_capability("missing") is None

    async def test_cleaning_up_in_reverse_order(self, caplog, monkeypatch):
        """`register_cleanup`/`cleanup` (reverse order); one that fails does not stop the others."""
        monkeypatch.setattr(coordinator, "PATIENCE", 0.01)
        harness, done = Harness(), []

        async def later() -> None:
            done.append("async")

        async def hanging() -> None:
            await asyncio.sleep(60)

        def broken() -> None:
            raise ValueError("boom")

        for undo in (lambda: done.append("first"), later, broken, hanging, None, "text"):
            harness.coordinator.register_cleanup(undo)
        harness.coordinator.register_cleanup(lambda: done.append("last"))
        await harness.coordinator.cleanup()
        await harness.coordinator.cleanup()
        assert done == ["last", "async", "first"]
        assert len(harness.bodies("error")) == 2
        harness.hooks.register(PRE, says())
        assert harness.bodies("hook_registered") == []

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
            "session_id": "s", "parent_id": None, "orchestrator": False, "context": False,
            "providers": [], "tools": [], "hooks": {}, "capabilities": ["k"], "channels": ["c"],
        }  # fmt: skip


class TestStopping:
    async def test_a_token_has_two_steps(self, monkeypatch, caplog):
        monkeypatch.setattr(cancellation, "PATIENCE", 0.01)
        harness, seen, told = Harness(), EventRecorder(), []
        harness.hooks.register("cancel:requested", seen)
        token = harness.coordinator.cancellation

        async def later() -> None:
            told.append("async")

        def broken() -> None:
            raise ValueError("boom")

        token.on_cancel(broken)
        token.on_cancel(lambda: asyncio.sleep(60))
        token.on_cancel(later)
        take_back = token.on_cancel(lambda: told.append("sync"))
        await harness.coordinator.request_cancel()
        assert (token.state, token.is_cancelled, token.is_graceful) == ("graceful", True, True)
        take_back()
        take_back()
        await harness.coordinator.request_cancel()
        await harness.coordinator.request_cancel(immediate=True)
        await harness.coordinator.request_cancel(immediate=True)
        assert token.is_immediate
        assert not token.request_graceful()
        assert [data["immediate"] for _, data in seen.events] == [False, True]
        assert told == ["async", "sync", "async"]
        assert caplog.text.count("A cancellation callback failed") == 4
        token.register_tool_start("1", "Write")
        assert token.running_tools == {"1": "Write"}
        token.register_tool_complete("1")
        token.register_tool_complete("1")
        token.reset()
        assert not token.is_cancelled


class TestTheTrail:
    async def test_registrations_are_recorded(self):
        """Every change of the registry is audited."""
        harness = Harness()
        harness.hooks.register(PRE, says(), name="x", priority=3, on_error="deny")()
        assert harness.bodies("hook_registered") == [
            {"priority": 3, "on_error": "deny", "timeout": None}
        ]
        assert len(harness.bodies("hook_unregistered")) == 1

    @pytest.mark.parametrize("level", ["decisions", "normal", "full"])
    async def test_levels(self, level):
        """Decisions only; normal (one record per dispatch); full (a record per hook)."""
        harness = Harness(audit=MemoryAudit(level=level))
        harness.hooks.register(PRE, says(), name="quiet")
        harness.hooks.register(PRE, says(user_message="hi"), name="speaking")
        harness.hooks.register(PRE, raises(ValueError("boom")), name="broken")
        harness.hooks.register(PRE, says("deny", reason="no"), name="guard")
        await harness.pre(path="/x")
        assert len(harness.bodies("hook_started")) == (4 if level == "full" else 0)
        assert len(harness.bodies("hook_finished")) == len(harness.bodies("hook_started"))
        resolved = harness.bodies("action_resolved")
        if level == "decisions":
            assert [body["hook"] for body in resolved] == ["broken", "guard"]
            assert resolved[0]["error"] == "ValueError: boom"
            assert resolved[1]["reason"] == "no"
            return
        dispatch = harness.bodies("dispatch")[0]
        assert [one["hook"] for one in dispatch["hooks"]] == [
            "quiet", "speaking", "broken", "guard",
        ]  # fmt: skip
        assert (dispatch["action"], dispatch["reason"]) == ("deny", "no")
        assert dispatch["data"]["tool_input"] == {"path": "/x"}
        assert all(one["ms"] >= 0 for one in dispatch["hooks"])

    @pytest.mark.parametrize(
        ("level", "recorded"),
        [("decisions", []), ("normal", [PRE, "session:end"]), ("full", [PRE, "session:end"])],
    )
    async def test_events_nobody_hears_are_recorded(self, level, recorded):
        """What is recorded: every event dispatched."""
        harness = Harness(audit=MemoryAudit(level=level))
        await harness.coordinator.execute_with_hooks(PRE, {"x": 1})
        await harness.coordinator.notify("session:end", {})
        assert [record["event"] for record in harness.trail.of_type("dispatch")] == recorded

    async def test_decisions_only_is_silent_about_silence(self):
        harness = Harness(audit=MemoryAudit(level="decisions"))
        harness.hooks.register(PRE, says())
        written = len(harness.trail.lines)
        await harness.pre()
        assert len(harness.trail.lines) == written

    async def test_scrubbers_run_over_what_is_shown_injected_and_written(self):
        """Runs over text before it is displayed or written to the trail."""
        harness = Harness()
        remove = harness.coordinator.register_scrubber(
            lambda text: text.replace("hunter2", "[gone]")
        )
        harness.hooks.register(PRE, injects("key hunter2", user_message="saw hunter2"))
        cyclic: Data = {"hunter2": ["hunter2", ("hunter2", 5)]}
        cyclic["self"] = cyclic
        await harness.pre(password="hunter2", more=cyclic)
        everything = b"".join(harness.trail.lines)
        assert b"hunter2" not in everything
        assert harness.shown[0][0] == "saw [gone]"
        assert harness.texts == ["key [gone]"]
        remove()
        remove()
        await harness.coordinator.show("hunter2", "info", "x")
        assert harness.shown[-1][0] == "hunter2"

    @pytest.mark.parametrize("broken", [lambda text: 1 / 0, lambda text: None])
    async def test_a_scrubber_that_fails_withholds(self, broken):
        harness = Harness()
        harness.coordinator.register_scrubber(broken)
        await harness.coordinator.show("secret", "info", "x")
        assert harness.shown[0][0] == "[withheld: a scrubber failed]"

    async def test_what_is_too_deep_to_scrub_is_withheld(self):
        harness = Harness()
        harness.coordinator.register_scrubber(str)
        value: Any = "secret"
        for _ in range(5000):
            value = [value]
        assert harness.coordinator.trail.scrubbed(value) == "[withheld: nested too deep]"

    async def test_a_sink_that_breaks_breaks_nothing(self, caplog):
        class Broken(MemoryAudit):
            def append(self, *args: Any, **kwargs: Any) -> int:
                raise TypeError("bug")

        harness = Harness(audit=Broken())
        harness.hooks.register(PRE, injects("x"))
        assert (await harness.pre()).action == "continue"
        assert caplog.text.count("The audit trail has failed: TypeError: bug") == 1

    @pytest.mark.parametrize("hooked", [False, True])
    @pytest.mark.parametrize(
        ("on_failure", "then"),
        [("deny", "what needs approval is denied"), ("warn", "the session goes on unrecorded")],
    )
    async def test_the_person_is_told_once_that_the_trail_failed(self, on_failure, then, hooked):
        """A failing disk: gated operations are denied (or warned of), the session is told."""
        audit = MemoryAudit(on_failure=on_failure)
        harness = Harness(audit=audit)
        if hooked:
            harness.hooks.register(PRE, says())
        audit.fail()
        for _ in range(3):
            await harness.pre()
        ((text, level, source),) = harness.shown
        assert text.startswith("The audit trail has failed: ")
        assert text.endswith(then)
        assert (level, source) == ("error", "audit")

    async def test_odd_payloads_are_written_and_never_raise(self):
        harness = Harness()
        data: Data = {"nan": float("nan"), "o": object(), "s": "\ud800", "b": b"\xff"}
        data["self"] = data
        harness.hooks.register(PRE, says())
        assert (await harness.coordinator.execute_with_hooks(PRE, data)).action == "continue"
        assert len(harness.bodies("dispatch")) == 1

    async def test_without_a_trail_nothing_is_written(self):
        session = SessionCoordinator()
        assert session.trail.write("error", {}) is None
        assert await session.trail.write_ahead("error", {}) is None
        assert not session.trail.normal
        assert not session.trail.full


class TestHoldingTheLoop:
    """A hook that holds the loop too long is named in a warning."""

    @pytest.fixture(autouse=True)
    def short(self, monkeypatch):
        monkeypatch.setattr(coordinator, "HOLDS_THE_LOOP", 0.02)

    @pytest.mark.parametrize("audited", [False, True])
    @pytest.mark.parametrize("kind", ["async", "plain"])
    async def test_it_is_named_once(self, kind, audited, caplog):
        async def blocker(event: str, data: Data) -> HookResult:
            time.sleep(0.03)
            return HookResult()

        def plain_blocker(event: str, data: Data) -> HookResult:
            time.sleep(0.03)
            return HookResult()

        hooks = HookRegistry()
        hooks.register(PRE, blocker if kind == "async" else plain_blocker, name="blocker")
        session = SessionCoordinator(hooks, audit=MemoryAudit() if audited else None)
        for _ in range(4):
            await session.execute_with_hooks(PRE, {})
        [message] = caplog.messages
        assert re.match(r"Hook 'blocker' on 'tool:pre' held the event loop for \d+ ms", message)

    async def test_waiting_is_no_holding(self, caplog):
        harness, cancelled = Harness(), []

        async def patient(event: str, data: Data) -> HookResult:
            try:
                await asyncio.sleep(0.03)
            except asyncio.CancelledError:
                cancelled.append(True)
                raise
            return HookResult(action="modify", data={**data, "x": 1})

        harness.hooks.register(PRE, patient)
        await harness.pre()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await harness.pre()
        for _ in range(2):
            assert (await harness.pre()).data["x"] == 1
        assert cancelled == [True]
        assert caplog.messages == []

    async def test_what_it_raises_goes_through(self, caplog):
        harness = Harness()

        async def failing(event: str, data: Data) -> HookResult:
            await asyncio.sleep(0.03)
            raise ValueError("boom")

        harness.hooks.register(PRE, failing, on_error="deny")
        for _ in range(2):
            assert "ValueError: boom" in (await harness.pre()).reason


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


def test_a_coordinator_is_a_host():
    """What `mount` is given is checked by mypy against what the coordinator has."""
    host: Host = SessionCoordinator()
    assert host.hooks.list_handlers() == {}
