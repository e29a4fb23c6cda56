"""The coordinator: every answer carried out, nothing foreign crashes it."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="arg-type, assignment, attr-defined"

from __future__ import annotations

import asyncio
import inspect
import os
from typing import Any

import pytest

from amplifier_core.coordinator import ModuleCoordinator, SessionCoordinator
from amplifier_core.events import TOOL_ERROR
from amplifier_core.hooks import HookRegistry
from amplifier_core.payloads import ToolErrorData
from amplifier_core.testing import MemoryAudit, MemoryContext, MockTool, RecordingDisplay
from tests.support import hooks
from tests.support.harness import Harness
from tests.support.hooks import PRE, Data, asks, injects, prints, raises, returns, says
from tests.support.people import PlainPerson


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

    @pytest.mark.parametrize(
        ("given", "text"),
        [
            ({"approval_system": print}, r"An approval system needs a method request_approval\("),
            ({"approval_system": {}}, r"or decide\(...\); {} has none"),
            ({"display_system": "terminal"}, r"needs a method show_message\(...\); 'terminal'"),
            ({"display_system": PlainPerson()}, "A display system needs"),
            ({"context": []}, r"A context needs a method add_message\(...\); \[\] has none"),
            ({"context": MemoryContext}, r"the class itself: use MemoryContext\(...\)"),
        ],
    )
    def test_wrong_objects_are_refused_with_what_is_missing(self, given, text):
        """At once, and not when the first question has nobody to answer it."""
        with pytest.raises(TypeError, match=text):
            SessionCoordinator(**given)

    def test_an_approval_system_that_comes_later_is_checked_too(self):
        session = SessionCoordinator()
        with pytest.raises(TypeError, match="An approval system needs"):
            session.approval_system = "yes"
        session.approval_system = PlainPerson()
        assert session.approval_system is not None

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


async def test_who_watches_hooks_sees_each_begin_and_end():
    """Once for each hook of each dispatch."""
    harness, seen = Harness(), []

    class Watching:
        def begin(self, handler):
            seen.append(("begin", handler.name))

        def end(self, handler):
            seen.append(("end", handler.name))

    harness.coordinator.watch_hooks(Watching)
    harness.hooks.register(PRE, says(), name="one")
    harness.hooks.register(PRE, prints("x"), name="two")
    await harness.pre()
    assert seen == [("begin", "one"), ("end", "one"), ("begin", "two"), ("end", "two")]


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


def list_errors(harness: Harness) -> list[tuple[str, str]]:
    """What went wrong, as the person saw it: text and source."""
    return [(text, source) for text, level, source in harness.shown if level == "error"]


class TestHooksThatFail:
    """A hook that raises is shown once for each cause, counted, and recorded each time."""

    async def test_the_person_is_told_once_where_and_what_it_meant(self):
        """A guard's failure denied the call; any other's did not stop it."""
        harness = Harness()
        place = f"{os.path.relpath(hooks.__file__)}:{find_line(hooks.raises, 'raise error')}"
        harness.hooks.register(PRE, raises(KeyError("path")), name="note")
        harness.hooks.register(PRE, raises(ValueError("x")), 9, name="guard", on_error="deny")
        for _ in range(2):
            assert (await harness.pre()).action == "deny"
        assert list_errors(harness) == [
            (
                f"failed on tool:pre: KeyError: 'path' ({place}); the call was not stopped",
                "hook:note",
            ),
            (f"failed on tool:pre: ValueError: x ({place}); the call was denied", "hook:guard"),
        ]

    async def test_nonsense_is_said_in_a_sentence(self):
        """Not by the name of our exception."""
        harness = Harness()
        harness.hooks.register(PRE, returns("deny"))
        await harness.pre()
        [(text, _)] = list_errors(harness)
        assert text.startswith("failed on tool:pre: returned str, not a HookResult (")

    async def test_another_cause_is_told_as_well(self):
        """The type and the line are the cause, not the value in the message."""
        harness, errors = Harness(), [KeyError("a"), KeyError("b"), OSError("c")]

        async def fickle(event: str, data: Data) -> None:
            raise errors.pop(0)

        harness.hooks.register(PRE, fickle)
        for _ in range(3):
            await harness.pre()
        assert [text.split(" (")[0] for text, _ in list_errors(harness)] == [
            "failed on tool:pre: KeyError: 'a'",
            "failed on tool:pre: OSError: c",
        ]

    @pytest.mark.parametrize("level", ["decisions", "normal", "full"])
    async def test_each_failure_is_recorded_at_every_level(self, level):
        harness = Harness(audit=MemoryAudit(level=level))
        harness.hooks.register(PRE, raises(KeyError("path")), name="note")
        for _ in range(2):
            await harness.pre()
        first, second = harness.trail.of_type("hook_failed")
        assert (first["hook"], first["event"]) == ("note", PRE)
        assert first["body"] == second["body"]
        assert first["body"]["error"] == "KeyError: 'path'"
        assert first["body"]["denied"] is False

    async def test_they_are_counted(self):
        """In the statistics of the session, if there is one."""
        harness, stats = Harness(), {"hook_failures": 0}
        harness.coordinator.register_capability("session.stats", stats)
        harness.hooks.register(PRE, raises(ValueError()))
        harness.hooks.register(PRE, returns("nonsense"))
        for _ in range(2):
            await harness.pre()
        assert stats["hook_failures"] == 4

    async def test_they_are_counted_from_none(self):
        """Also in statistics that did not count them yet."""
        harness, stats = Harness(), {"tool_invocations": 0}
        harness.coordinator.register_capability("session.stats", stats)
        harness.hooks.register(PRE, raises(ValueError()))
        await harness.pre()
        assert stats == {"tool_invocations": 0, "hook_failures": 1}

    async def test_advice_is_a_warning_and_hides_no_failure(self):
        """A change in place has no effect, and its author hears of it; others are told as well."""
        harness = Harness()

        async def scribble(event: str, data: Data) -> None:
            data["tool_input"]["path"] = "/other"

        harness.hooks.register(PRE, scribble, name="scribbler")
        harness.hooks.register(PRE, raises(ValueError("x")), 9, name="note")
        await harness.pre(path="/a")
        assert [(level, source) for _, level, source in harness.shown] == [
            ("warning", "hook:scribbler"),
            ("error", "hook:note"),
        ]
        assert len(harness.bodies("hook_failed")) == 1

    async def test_whoever_emits_or_collects_directly_is_told_too(self):
        """Loops of the ecosystem emit by themselves; nothing is told twice."""
        harness = Harness()
        harness.hooks.register(PRE, raises(KeyError("path")), name="note")
        result = await harness.emit(PRE, tool_name="Bash")
        await harness.coordinator.process_hook_result(result, PRE)
        await harness.hooks.emit_and_collect("ask:all", {})
        harness.hooks.register("ask:all", raises(ValueError("no")), name="late")
        assert await harness.hooks.emit_and_collect("ask:all", {}) == []
        assert [source for _, source in list_errors(harness)] == ["hook:note", "hook:late"]
        assert len(harness.bodies("hook_failed")) == 2

    async def test_a_hook_that_is_judged_again_is_told_once(self):
        """What it failed at before the wait is not news after it."""
        harness = Harness(approval=PlainPerson("Allow"))
        harness.hooks.register(PRE, raises(ValueError("x")))
        harness.hooks.register(PRE, asks())
        assert (await harness.pre()).action == "continue"
        assert len(harness.bodies("hook_failed")) == 1

    async def test_after_the_session_the_registry_is_left_alone(self):
        """Another coordinator of the same registry keeps its place."""
        harness = Harness()
        await harness.coordinator.cleanup()
        assert harness.hooks.reporter is None
        other = SessionCoordinator(harness.hooks)
        await harness.coordinator.cleanup()
        assert harness.hooks.reporter == other.report_problems

    async def test_a_clean_up_that_fails_is_shown(self):
        harness = Harness()
        harness.coordinator.register_cleanup(lambda: 1 / 0)
        await harness.coordinator.cleanup()
        assert list_errors(harness) == [
            ("A clean-up failed: ZeroDivisionError: division by zero", "session")
        ]
        assert harness.bodies("error") == [
            {"what": "clean-up", "error": "ZeroDivisionError: division by zero"}
        ]

    async def test_a_display_that_fails_is_recorded(self):
        """The person saw nothing; the trail says why."""

        class Broken:
            def show_message(self, message: str, level: str, source: str) -> None:
                raise OSError("no screen")

        harness = Harness(screen=Broken())
        await harness.coordinator.show("hello", "info", "test")
        assert harness.bodies("error") == [{"what": "display", "error": "OSError: no screen"}]

    async def test_what_is_wrong_with_a_registration_is_shown_at_the_next_event(self):
        """Whoever runs a program without a log sees it too, also if nobody hears that event."""
        harness = Harness()
        harness.hooks.register("tool:prre", returns(None), name="guard")
        await harness.pre()
        await harness.pre()
        assert harness.shown == [
            (
                "may never run: no event 'tool:prre' is known; did you mean 'tool:pre'?",
                "warning",
                "hook:guard",
            )
        ]


@pytest.mark.parametrize("audit", [MemoryAudit(), None])
@pytest.mark.parametrize("heard", [True, False])
def test_an_event_reaches_somebody_if_it_is_heard_or_recorded(audit: Any, heard: bool):
    """Only then it is worth telling."""
    session = SessionCoordinator(audit=audit)
    if heard:
        session.hooks.register(PRE, says())
    assert session.is_observed(PRE) is (heard or audit is not None)


class TestRequestsToAModel:
    async def test_one_that_nobody_hears_is_recorded(self):
        """With its event, as any other."""
        harness = Harness()
        assert (await harness.coordinator.open_request({"messages": []})).allowed
        (record,) = harness.trail.of_type("dispatch")
        assert record["event"] == "provider:request"

    async def test_one_that_is_denied_is_not_sent_whatever_data_comes_with_the_denial(self):
        """A hook may say no and leave messages at the same time."""
        harness = Harness()
        deny = says("deny", reason="no", data={"messages": [{"role": "user", "content": "x"}]})
        harness.hooks.register("provider:request", deny)
        outcome = await harness.coordinator.open_request({"messages": []})
        assert (outcome.allowed, outcome.reason) == (False, "no")


async def test_what_no_hook_hears_is_recorded_and_shows_what_the_person_has_yet_to_be_told():
    """Whether it is judged or told of; nothing is run for it."""
    harness = Harness()
    coordinator = harness.coordinator
    for number, tell in enumerate((coordinator.notify, coordinator.judge), 1):
        coordinator.trail.pending_messages.append(("The disk is full", "error", "audit"))
        await tell("prompt:submit", {"prompt": "go"})
        assert [one["hooks"] for one in harness.bodies("dispatch")] == [[]] * number
        assert harness.shown == [("The disk is full", "error", "audit")] * number


async def test_a_new_turn_begins_with_a_whole_budget():
    """What hooks injected before counts no more, and records carry the next number."""
    harness = Harness()
    harness.hooks.register(PRE, injects("some words"))
    await harness.pre()
    assert harness.coordinator.injection_budget > 0
    turn = harness.coordinator.trail.turn
    harness.coordinator.reset_turn()
    assert harness.coordinator.injection_budget == 0
    assert harness.coordinator.trail.turn == turn + 1


async def test_an_always_holds_for_the_tool_that_was_asked_about():
    """Another one that takes its name is asked about anew."""
    person = PlainPerson("Allow always")
    harness = Harness(approval=person)
    harness.hooks.register(PRE, asks(approval_options=["Allow always", "Deny"]))
    await harness.coordinator.mount("tools", MockTool("Write"))
    for _ in range(2):
        await harness.pre()
    assert len(person.asked) == 1
    await harness.coordinator.unmount("tools", "Write")
    await harness.coordinator.mount("tools", MockTool("Write"))
    await harness.pre()
    assert len(person.asked) == 2


async def test_registrations_behind_the_end_are_not_recorded():
    """The trail of the session is closed; the registry may live on."""
    harness = Harness()
    await harness.coordinator.cleanup()
    harness.hooks.register(PRE, says())
    assert harness.bodies("hook_registered") == []


def find_line(function: Any, text: str) -> int:
    """The number of the line of a function that says so."""
    lines, first = inspect.getsourcelines(function)
    return first + next(number for number, line in enumerate(lines) if text in line)


async def test_each_of_two_that_share_a_registry_tells_its_person_of_a_registration():
    """Also if the other has begun a turn since, and nobody listens to what happens then."""
    registry = HookRegistry()
    failed: ToolErrorData = {"tool_name": "", "error": {"type": "", "message": ""}}
    screens = [RecordingDisplay(), RecordingDisplay()]
    first, second = (SessionCoordinator(registry, display_system=one) for one in screens)
    registry.register("tool:prre", returns(None), name="guard")
    for one in (first, second):
        one.reset_turn()
    await first.notify(TOOL_ERROR, failed)
    first.reset_turn()
    await second.notify(TOOL_ERROR, failed)
    assert [len(one.messages) for one in screens] == [1, 1]


class Kept:
    """A context of somebody else's."""

    def __init__(self) -> None:
        self.messages: list[Data] = []

    def add_message(self, message: Data) -> None:
        self.messages.append(message)

    def get_messages(self) -> list[Data]:
        return self.messages


@pytest.mark.parametrize("way", ["execute_with_hooks", "judge"])
async def test_a_text_that_waited_for_a_result_is_placed_before_the_next_event(way):
    """Its hooks see the conversation as the model will."""
    harness = Harness(context=Kept())
    calls = [{"id": "1", "name": "Write", "arguments": {}}]
    harness.context.add_message({"role": "assistant", "content": "", "tool_calls": calls})
    harness.hooks.register(PRE, injects("careful"))
    await harness.pre()
    assert len(harness.context.messages) == 1
    harness.context.add_message({"role": "tool", "content": "ok", "tool_call_id": "1"})
    seen: list[int] = []
    kept: list[Data] = harness.context.messages
    harness.hooks.register("deploy:start", lambda _event, _data: seen.append(len(kept)))
    await getattr(harness.coordinator, way)("deploy:start", {})
    assert seen == [3]
    assert [one["role"] for one in kept] == ["assistant", "tool", "system"]


async def test_a_text_that_waited_for_a_whole_turn_is_counted_when_the_next_begins():
    """It was for one request; the figures of the session have it."""
    harness = Harness()
    stats: Data = {}
    harness.coordinator.register_capability("session.stats", stats)
    harness.hooks.register(PRE, injects("now", ephemeral=True))
    await harness.pre()
    harness.coordinator.reset_turn()
    assert stats == {}
    harness.coordinator.reset_turn()
    assert stats == {"injections_unused": 1}
