"""An answer that an event cannot obey is said, recorded and counted; none is dropped silently."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from amplifier_core import events
from tests.support.harness import Harness
from tests.support.hooks import asks, modifies, raises, says

TOLD = sorted(events.notifications)
STOPS = sorted(events.stops)
ANSWERS = {"deny": says("deny", reason="not yet"), "ask_user": asks("May it?")}


@pytest.mark.parametrize("way", ["notify", "judge", "emit"])
@pytest.mark.parametrize("action", ANSWERS)
async def test_what_an_event_cannot_obey_is_said(
    action: str, way: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Every event that only tells, whoever emits it: on the log, on the screen, in the trail."""
    assert TOLD
    for event in TOLD:
        caplog.clear()
        await check_that_it_is_said(event, action, way, caplog)


async def check_that_it_is_said(
    event: str, action: str, way: str, caplog: pytest.LogCaptureFixture
) -> None:
    """One event, and one answer that it cannot obey."""
    harness = Harness()
    harness.hooks.register(event, ANSWERS[action], name="strict")
    run: Any = {
        "notify": harness.coordinator.notify,
        "judge": harness.coordinator.judge,
        "emit": harness.hooks.emit,
    }[way]
    with caplog.at_level(logging.WARNING):
        await run(event, {})
        await run(event, {})
    told = f"answered {action!r} to {event}, which had no effect: "
    assert [text.startswith(told) for text, _, source in harness.shown] == [True]
    assert harness.shown[0][1:] == ("warning", "hook:strict")
    assert sum(told in one.getMessage() for one in caplog.records) == 1
    recorded = harness.trail.of_type("answer_ignored")
    assert [(one["event"], one["hook"], one["body"]["action"]) for one in recorded] == [
        (event, "strict", action)
    ] * 2
    assert harness.hooks.count()["strict"].to_dict()["ignored"] == {action: 2}


@pytest.mark.parametrize("event", STOPS)
async def test_a_denied_end_is_carried_out_where_the_session_can(event: str) -> None:
    """The reason is what the agent goes on with, and nothing is reported as ignored."""
    harness = Harness()
    wanted: list[tuple[str, str]] = []
    harness.coordinator.register_capability(
        "session.keep_working", lambda reason, event: wanted.append((reason, event))
    )
    harness.hooks.register(event, ANSWERS["deny"], name="strict")
    await harness.run(event)
    await harness.hooks.emit(event, {})
    assert wanted == [("not yet", event)] * 2
    assert harness.shown == []
    assert harness.trail.of_type("answer_ignored") == []


async def test_why_the_agent_cannot_go_on_is_said() -> None:
    """Such as at the end of what a session allows."""
    harness = Harness()
    harness.coordinator.register_capability(
        "session.keep_working", lambda reason, event: "that was often enough"
    )
    harness.hooks.register(events.ORCHESTRATOR_COMPLETE, says("deny"), name="strict")
    await harness.run(events.ORCHESTRATOR_COMPLETE)
    (body,) = harness.bodies("answer_ignored")
    assert body["why"] == "that was often enough"


async def test_a_guard_that_fails_at_an_end_keeps_nobody_working() -> None:
    """Its failure is reported as one; it would fail again each time."""
    harness = Harness()
    wanted: list[str] = []
    harness.coordinator.register_capability(
        "session.keep_working", lambda *said: wanted.append("x")
    )
    guard = raises(ValueError("broken"))
    harness.hooks.register(events.ORCHESTRATOR_COMPLETE, guard, name="g", on_error="deny")
    await harness.run(events.ORCHESTRATOR_COMPLETE)
    assert wanted == []
    assert harness.trail.of_type("answer_ignored") == []
    assert len(harness.trail.of_type("hook_failed")) == 1


async def test_in_shadow_mode_nothing_is_kept_working() -> None:
    """The trail says what would have been."""
    harness = Harness(evaluate_only=True)
    wanted: list[str] = []
    harness.coordinator.register_capability(
        "session.keep_working", lambda *said: wanted.append("x")
    )
    harness.hooks.register(events.ORCHESTRATOR_COMPLETE, ANSWERS["deny"], name="strict")
    await harness.run(events.ORCHESTRATOR_COMPLETE)
    (body,) = harness.bodies("shadowed")
    assert body["would"] == "would have made the agent go on: not yet"
    assert wanted == []
    assert harness.trail.of_type("answer_ignored") == []


async def test_what_has_an_effect_is_not_said_to_have_none() -> None:
    """Later hooks and the trail see what a hook makes of the data of such an event."""
    harness = Harness()
    harness.hooks.register(events.SESSION_END, modifies(reason="hidden"))
    await harness.run(events.SESSION_END)
    assert harness.trail.of_type("answer_ignored") == []
