"""What is recorded at which level, and what happens when recording fails."""

from __future__ import annotations

import asyncio
import re
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_audit import AuditLog
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.errors import ApprovalError
from amplifier_core.events import SESSION_END
from amplifier_core.models import CONTINUE
from amplifier_core.records import ErrorNoted, HookAnswer
from amplifier_core.testing import MemoryAudit
from amplifier_core.trail import (
    AuditSink,
    NullSink,
    Trail,
    describe_answer,
    find_before,
    leave_out_histories,
)
from tests.support.harness import Harness
from tests.support.hooks import PRE, Data, asks, injects, modifies, raises, says
from tests.support.people import PlainPerson


async def test_registrations_are_recorded():
    """Every change of the registry is audited."""
    harness = Harness()
    harness.hooks.register(PRE, says(), name="x", priority=3, on_error="deny")()
    assert harness.bodies("hook_registered") == [
        {"priority": 3, "on_error": "deny", "timeout": None}
    ]
    assert len(harness.bodies("hook_unregistered")) == 1


@pytest.mark.parametrize("level", ["decisions", "normal", "full"])
async def test_levels(level):
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
async def test_events_nobody_hears_are_recorded(level, recorded):
    """What is recorded: every event dispatched."""
    harness = Harness(audit=MemoryAudit(level=level))
    await harness.coordinator.execute_with_hooks(PRE, {"x": 1})
    ended: Any = {}
    await harness.coordinator.notify(SESSION_END, ended)
    assert [record["event"] for record in harness.trail.of_type("dispatch")] == recorded


async def test_decisions_only_is_silent_about_silence():
    harness = Harness(audit=MemoryAudit(level="decisions"))
    harness.hooks.register(PRE, says())
    written = len(harness.trail.lines)
    await harness.pre()
    assert len(harness.trail.lines) == written


async def test_scrubbers_run_over_what_is_shown_injected_and_written():
    """Runs over text before it is displayed or written to the trail."""
    harness = Harness()
    remove = harness.coordinator.register_scrubber(lambda text: text.replace("hunter2", "[gone]"))
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
async def test_a_scrubber_that_fails_withholds(broken):
    harness = Harness()
    harness.coordinator.register_scrubber(broken)
    await harness.coordinator.show("secret", "info", "x")
    assert harness.shown[0][0] == "[withheld: a scrubber failed]"


async def test_a_scrubber_may_heed_the_key_of_a_text():
    """One with `scrub_keyed` is told the key that each text stands under."""

    class Keyed:
        def __call__(self, text: str) -> str:
            return text

        def scrub_keyed(self, text: str, key: Any) -> str:
            return "***" if key == "password" else text

    harness = Harness()
    harness.coordinator.register_scrubber(Keyed())
    found = harness.coordinator.scrub({"password": "plain", "name": "plain", "all": ["plain"]})
    assert found == {"password": "***", "name": "plain", "all": ["plain"]}


async def test_a_scrubber_that_builds_on_a_constant_one_may_learn():
    """What it inherits says nothing about what it does, nor does what it stands before."""
    secrets = set[str]()

    class Constant:
        is_constant = True

        def __call__(self, text):
            return text

    class Learning(Constant):
        def __call__(self, text):
            return "***" if text in secrets else text

    class StandsBefore:
        def __call__(self, text):
            return Learning()(text)

        def __getattr__(self, name):
            return getattr(Constant(), name)

    for kind in (Learning, StandsBefore):
        secrets.clear()
        harness = Harness()
        harness.coordinator.register_scrubber(kind())
        assert harness.coordinator.scrub({"name": "hunter2"}) == {"name": "hunter2"}
        secrets.add("hunter2")
        assert harness.coordinator.scrub({"name": "hunter2"}) == {"name": "***"}


@pytest.mark.parametrize("constant", [True, False])
async def test_a_scrubber_that_may_learn_is_asked_again(constant):
    """Only one that says of itself that it is constant is not; a new one is always asked."""
    harness, secrets = Harness(), set[str]()

    class Learning:
        is_constant = constant

        def __call__(self, text: str) -> str:
            return "***" if text in secrets else text

    harness.coordinator.register_scrubber(Learning())
    assert harness.coordinator.scrub({"name": "hunter2"}) == {"name": "hunter2"}
    secrets.add("hunter2")
    found = harness.coordinator.scrub({"name": "hunter2"})
    assert found == {"name": "hunter2" if constant else "***"}
    harness.coordinator.register_scrubber(Learning())
    assert harness.coordinator.scrub({"name": "hunter2"}) == {"name": "***"}


async def test_every_scrubber_runs_on_what_the_one_before_has_left():
    """In the order of their registration."""
    harness = Harness()
    for old, new in (("x", "y"), ("y", "z"), ("z", "gone")):
        harness.coordinator.register_scrubber(partial(re.sub, old, new))
    harness.coordinator.trail.write(ErrorNoted(what="x y"))
    assert harness.bodies("error") == [{"what": "gone gone"}]


async def test_texts_are_scrubbed_at_any_depth():
    """However deep somebody hides one."""
    harness = Harness()
    harness.coordinator.register_scrubber(lambda text: text.replace("secret", "***"))
    value: Any = "a secret"
    for _ in range(5000):
        value = [value]
    found = harness.coordinator.scrub(value)
    while isinstance(found, list):
        (found,) = found
    assert found == "a ***"


async def test_a_sink_that_breaks_breaks_nothing(caplog):
    class Broken(MemoryAudit):
        def append(*args: Any, **kwargs: Any) -> int:
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
async def test_the_person_is_told_once_that_the_trail_failed(on_failure, then, hooked):
    """With what it means for the session, as the settings say."""
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


async def test_the_person_is_told_that_a_record_is_not_safe(caplog):
    """A disk that takes records and cannot keep them has failed as well."""

    class Forgetful(MemoryAudit):
        async def commit(self, sequence: int | None = None) -> None:
            raise OSError("no space left")

    harness = Harness(audit=Forgetful(), approval=PlainPerson("Allow"))
    harness.hooks.register(PRE, asks())
    assert (await harness.pre()).action == "deny"
    assert caplog.text.count("The audit trail has failed: OSError: no space left") == 1
    await harness.run("session:end")
    assert [source for _, _, source in harness.shown].count("audit") == 1


async def test_what_happens_before_the_first_turn_is_in_none():
    """Turns are counted from one."""
    harness = Harness()
    await harness.pre()
    assert {record["turn"] for record in harness.trail.records} == {0}


@pytest.mark.parametrize("heard", [False, True])
async def test_a_dispatch_repeats_no_history(heard):
    """The conversation and the plan are in the session, not again in every record."""
    harness = Harness()
    if heard:
        harness.hooks.register(PRE, says())
    long = {"messages": [1], "response": "x", "mount_plan": {}, "session_id": "s", "timestamp": "t"}
    await harness.run(PRE, **long, tool_name="Write")
    (body,) = harness.bodies("dispatch")
    assert {key: value for key, value in body["data"].items() if value is not None} == {
        "tool_name": "Write"
    }


async def test_a_record_says_whose_it_is():
    """Session, turn, event, hook and its registration."""
    harness = Harness(session_id="mine")
    harness.hooks.register(PRE, says(user_message="hi"), name="speaking")
    for _ in range(3):
        harness.coordinator.reset_turn()
    await harness.pre()
    (record,) = harness.trail.of_type("user_message")
    told = [record[key] for key in ("session", "turn", "event", "hook", "registration")]
    assert told == ["mine", 3, PRE, "speaking", harness.hooks.handlers_for(PRE)[0].id]


@pytest.mark.parametrize("level", ["decisions", "normal"])
async def test_a_hook_over_its_time_is_told_from_one_that_failed(level):
    """Both failed; only one of them took too long."""

    async def slow(event: str, data: Data) -> None:
        await asyncio.get_running_loop().create_future()

    harness = Harness(audit=MemoryAudit(level=level))
    harness.hooks.register(PRE, raises(ValueError("boom")), name="broken")
    harness.hooks.register(PRE, slow, name="slow", timeout=0.01)
    await harness.pre()
    told = harness.bodies("action_resolved") or harness.bodies("dispatch")[0]["hooks"]
    assert [(one["hook"], one["timed_out"]) for one in told] == [("broken", False), ("slow", True)]


async def test_odd_payloads_are_written_and_never_raise():
    harness = Harness()
    data: Data = {"nan": float("nan"), "o": object(), "s": "\ud800", "b": b"\xff"}
    data["self"] = data
    harness.hooks.register(PRE, says())
    assert (await harness.coordinator.execute_with_hooks(PRE, data)).action == "continue"
    assert len(harness.bodies("dispatch")) == 1


async def test_without_a_trail_nothing_is_written():
    session = SessionCoordinator()
    assert session.trail.write(ErrorNoted()) is None
    assert await session.trail.write_ahead(ErrorNoted()) is None
    assert not session.trail.records


async def test_where_nothing_is_kept_a_record_costs_nothing_and_is_safe_at_once():
    """The sink of a session without a trail."""
    sink = NullSink()
    assert sink.append("error", {"what": "x"}, session="s") == 0
    await sink.commit(0)
    await sink.close()


async def test_decisions_only_tells_who_decided_again():
    """A hook whose answer stands was not called again, and is not recorded again."""
    harness = Harness(approval=PlainPerson("Allow"), audit=MemoryAudit(level="decisions"))
    harness.hooks.register(PRE, modifies(x=1), name="modifier")
    harness.hooks.register(PRE, asks(), name="asker")
    await harness.pre()
    told = [record["hook"] for record in harness.trail.of_type("action_resolved")]
    assert told == ["modifier", "asker", "asker"]


async def test_the_time_of_a_hook_is_told_in_thousandths_of_a_millisecond(monkeypatch):
    """By the end of the hook, and in the record of the event."""
    for module in ("operation", "dispatch"):
        clock = iter((1.0, 1.1234567))
        monkeypatch.setattr(f"amplifier_core.{module}.perf_counter", partial(next, clock))
    harness = Harness(audit=MemoryAudit(level="full"))
    harness.hooks.register(PRE, says(), name="slow")
    await harness.pre()
    [started], [finished] = harness.bodies("hook_started"), harness.bodies("hook_finished")
    [dispatch] = harness.bodies("dispatch")
    assert (started, finished) == ({}, {"ms": 123.457})
    assert [(one["hook"], one["ms"]) for one in dispatch["hooks"]] == [("slow", 123.457)]


@pytest.mark.parametrize("on_failure", ["deny", "warn"])
async def test_a_sink_may_refuse_a_call_without_having_failed(on_failure):
    """It says so with an ApprovalError, and a trail that may fail changes nothing about it."""

    class Refusing(MemoryAudit):
        async def commit(self, sequence: int | None = None) -> None:
            raise ApprovalError("somebody else runs it")

    audit = Refusing()
    audit.on_failure = on_failure
    trail = Trail(audit, "s")
    assert await trail.write_ahead(ErrorNoted()) == "somebody else runs it"
    assert (trail.failed, trail.pending_messages) == (False, [])


@pytest.mark.parametrize(
    ("event", "kept"),
    [("provider:response", True), ("prompt:answer", True), ("prompt:complete", False)],
)
def test_what_was_said_is_kept_once(event, kept):
    """With the event by which hooks judge it, and not again with those that repeat it."""
    data = {"response": "hello", "prompt": "x", "timestamp": "t", "session_id": "s"}
    expected = {"response": "hello", "prompt": "x"} if kept else {"prompt": "x"}
    assert leave_out_histories(event, data) == expected


def test_fields_that_hooks_left_alone_are_not_told_twice():
    """The same data, or a copy of it."""
    given = {"tool_name": "Write", "tool_input": {"a": [1]}, "timestamp": "t"}
    assert find_before("tool:pre", given, given) == {}
    assert find_before("tool:pre", given, {**given, "tool_input": {"a": [1]}}) == {}


def test_a_changed_field_is_told_as_it_was():
    """One that hooks added was nothing; one that they removed is told."""
    given = {"tool_name": "Write", "tool_input": {"a": 1}, "extra": 1}
    left = {"tool_name": "Write", "tool_input": {"a": 2}, "added": 3, "denied_by": "guard"}
    before = find_before("tool:pre", given, left)
    assert before == {"tool_input": {"a": 1}, "extra": 1, "added": None}


def test_a_number_is_not_the_truth():
    """1 and True are equal, and not the same in JSON."""
    assert find_before("x:y", {"a": 1}, {"a": True}) == {"a": 1}


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0.0, 0.0), (0.0000004, 0.0), (0.0000016, 0.002), (0.0214567, 21.457), (61.5, 61500.0)],
)
def test_how_long_a_hook_took_is_told_in_milliseconds_with_three_digits(seconds, expected):
    """As the kernel counts it."""
    handler = SimpleNamespace(name="guard", id=3)
    run: Any = SimpleNamespace(times={3: seconds}, ignored_answers=(), shadow_answers=())
    answer: Any = SimpleNamespace(result=CONTINUE, error=None, handler=handler, hook="guard")
    quiet = HookAnswer("guard", 3, "continue", expected)
    assert describe_answer(answer, run) == quiet


def test_a_log_and_nothing_at_all_are_sinks(tmp_path):
    """The protocol is what a session asks of either."""
    log = AuditLog(tmp_path)
    assert isinstance(log, AuditSink)
    assert isinstance(NullSink(), AuditSink)
    assert not isinstance(object(), AuditSink)
    log.close_now()


async def test_a_session_without_a_trail_writes_into_nothing():
    """Nothing is kept, nothing is waited for, and nothing fails."""
    sink = NullSink()
    assert sink.append("dispatch", {"action": "continue"}, session="s", event="tool:pre") == 0
    await sink.commit(0)
    await sink.close()
    assert (sink.level, sink.on_failure) == ("decisions", "warn")
