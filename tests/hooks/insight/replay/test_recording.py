"""A recorded session, and the steps that an application took."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.coding_agents.sessions import session as agent_session
from amplifier_hooks.insight.replay.recording import (
    DEADLINE,
    CannotReplay,
    Recording,
    Run,
    Spans,
    list_early,
    list_steps,
    read_recording,
)
from amplifier_hooks.trails import Header, RecordedHook
from tests.hooks.insight.replay.items import call, event, note, question
from tests.support.project import Project, script


def make(*items: object, level: str = "normal") -> Recording:
    """A recording of these items."""
    recording = Recording(Header(Path(), session="s", level=level))
    for item in items:
        recording.add(item)  # type: ignore[arg-type]
    return recording


def test_each_process_has_a_part_of_its_own() -> None:
    """What is written before its start belongs to it; one that says no end was broken off."""
    recording = make(
        note("bundle_loaded", 1),
        note("session_started", 2, resumed=False),
        note("session_suspended", 3),
        note("bundle_loaded", 4),
        note("session_started", 5, resumed=True),
        note("session_ended", 6, reason="user_exit"),
        note("bundle_loaded", 7),
        note("session_started", 8, resumed=True),
        event("prompt:submit", 9),
    )
    runs = recording.list_runs()
    assert [(one.end, one.resumed, one.items[0].sequence) for one in runs] == [
        ("suspended", False, 1),
        ("ended", True, 4),
        ("broken off", True, 7),
    ]
    assert runs[1].reason == "user_exit"


def test_sub_agents_are_known_by_their_parents() -> None:
    """And the session itself has none."""
    recording = make(
        note("session_started", 1, parent=None),
        note("session_started", 2, session="child", parent="s"),
        RecordedHook(1, "h", "tool:pre", 0),
    )
    assert recording.parents == {"child": "s"}
    assert [one.name for one in recording.hooks] == ["h"]


def test_a_sub_agent_that_did_not_start_is_known_by_its_events() -> None:
    """A guard of it did not load: it told of that, and of its end."""
    recording = make(
        note("session_started", 1, parent=None),
        event("module:load_failed", 2, session="child", parent_id="s"),
        event("session:end", 3, session="child", parent_id="s"),
        event("session:end", 4, parent_id=None),
    )
    assert recording.parents == {"child": "s"}


@pytest.mark.parametrize(
    ("recording", "why"),
    [
        (make(event("session:start"), level="decisions"), "audit.level: normal"),
        (make(note("session_started")), "nothing to replay"),
        (make(event("module:load_failed")), "did not start; there is nothing to replay"),
        (make(event("provider:response", 7)), "Record 7 has no answer .* hooks backtest"),
    ],
)
def test_a_trail_that_holds_too_little_says_what_is_missing(recording: Recording, why: str) -> None:
    """And what would do."""
    with pytest.raises(CannotReplay, match=why):
        recording.check()


async def test_a_trail_is_read_whole(project: Project, tmp_path: Path) -> None:
    """Its session, its events, its hooks."""
    audit = {"enabled": True, "path": str(tmp_path / "trails")}
    bundle = project.bundle(hooks=["hooks-datetime"], audit=audit, providers=script("hello"))
    async with project.session(bundle) as session:
        await session.execute("x")
    (path,) = (tmp_path / "trails").iterdir()
    recording = read_recording(path)
    (said,) = recording.list_events(recording.root, "provider:response")
    assert said.data["response"]["content"][0]["text"] == "hello"
    assert "hooks-datetime" in {one.module for one in recording.hooks}


ITEMS = [
    call("started", 1, "outer"),
    event("tool:pre", 2, tool_call_id="inner"),
    call("started", 3, "inner"),
    event("tool:pre", 4, tool_call_id="beside"),
    call("started", 5, "beside"),
    call("finished", 6, "inner"),
    event("tool:pre", 7, tool_call_id="denied"),
    call("finished", 8, "outer"),
    call("finished", 9, "beside"),
    call("started", 10, "hangs"),
    event("tool:pre", 11, tool_call_id="later"),
]


def test_a_call_that_is_over_before_another_ends_is_part_of_it() -> None:
    """One that goes on is not, and nothing is part of a call that never ended."""
    spans = Spans(ITEMS)
    told = [one for one in ITEMS if one.event == "tool:pre" and hasattr(one, "data")]
    parts = [one.data["tool_call_id"] for one in told if spans.is_part(one)]
    assert parts == ["inner", "denied"]


def test_other_events_are_inside_where_they_happened() -> None:
    """Between two records."""
    spans = Spans(ITEMS)
    assert spans.is_inside(event("artifact:read", 4), (3, 6))
    assert not spans.is_inside(event("artifact:read", 7), (3, 6))
    assert not spans.is_part(event("artifact:read", 12))


def test_an_id_that_is_used_again_is_another_call() -> None:
    """Each has its own end; one that nobody knows is none."""
    items = [
        call("started", 1, "a"),
        call("finished", 2, "a"),
        call("started", 4, "a"),
        call("finished", 6, "a", outcome="unknown"),
    ]
    spans = Spans(items)
    assert spans.is_part(event("x:y", 1)) is False
    assert not spans.is_part(event("x:y", 5))


def test_a_call_that_was_asked_about_and_never_ran_ends_with_the_question() -> None:
    """If another call ended first, it was made beside that one, and not by it."""
    items = [
        call("started", 1, "other"),
        event("tool:pre", 2, tool_call_id="c"),
        question("requested", 3),
        call("finished", 4, "other"),
        question("cancelled", 5, call_id=""),
    ]
    assert not Spans(items).is_part(items[1])
    assert not Spans(items[:4]).is_part(items[1])
    answered = [*items[:3], question("decided", 4, call_id=""), call("finished", 5, "other")]
    assert Spans(answered).is_part(items[1])


ASKS = {"notification_type": "approval_required"}


def steps(*items: Any) -> list[tuple[str, int]]:
    """The steps of a process, each with its record."""
    found = list_steps(Run(items, "ended"))
    return [(one.kind, one.event.sequence) for one in found]


def test_what_happens_in_a_turn_follows_from_its_prompt() -> None:
    """Calls, requests, and what hooks made the agent do before it stopped."""
    assert steps(
        event("session:start", 1),
        event("prompt:submit", 2, prompt="x"),
        event("execution:start", 3),
        event("provider:request", 4),
        event("tool:pre", 5, tool_call_id="a"),
        event("execution:complete", 6),
        event("prompt:complete", 7),
        event("prompt:submit", 8, prompt="go on", metadata={"source": "stop_hook"}),
        event("execution:start", 9),
        event("execution:complete", 10),
        event("session:end", 11),
    ) == [("prompt", 2)]


def test_what_happens_outside_of_turns_somebody_did() -> None:
    """Calls of tools, unknown ones too, compactions, stops, and events of an application."""
    assert steps(
        event("session:start", 1),
        event("tool:pre", 2, tool_call_id="a"),
        call("started", 3, "a"),
        event("tool:pre", 4, tool_call_id="inner"),
        call("finished", 5, "a"),
        event("tool:post", 6, tool_call_id="a"),
        event("tool:error", 7, error={"type": "InvalidToolCall"}),
        event("decision:context_resolution", 8),
        event("context:pre_compact", 9),
        event("cancel:requested", 10),
        event("deploy:start", 11),
    ) == [("call", 2), ("call", 7), ("compact", 8), ("cancel", 10), ("event", 11)]


def test_a_prompt_that_hooks_denied_was_given_all_the_same() -> None:
    """No loop took it."""
    assert steps(
        event("session:start", 1), event("prompt:submit", 2, action="deny"), event("session:end", 3)
    ) == [("prompt", 2)]


def test_an_agent_of_another_program_is_told_event_by_event() -> None:
    """Except for what the kernel tells of by itself."""
    assert steps(
        event("session:start", 1),
        event("prompt:submit", 2),
        event("tool:pre", 3, tool_call_id="a"),
        event("tool:pre", 4, tool_call_id="a:1"),
        call("started", 5, "a"),
        event("policy:violation", 6),
        event("tool:post", 7, tool_call_id="a"),
        event("user:notification", 8, **ASKS, metadata={"hook": "guard"}),
        event("user:notification", 9, **ASKS, metadata={"title": "of the program"}),
        event("orchestrator:complete", 10),
    ) == [
        ("event", 2),
        ("start", 3),
        ("event", 4),
        ("event", 7),
        ("event", 9),
        ("event", 10),
    ]


@pytest.mark.parametrize(
    "name",
    [
        "agent:spawn",
        "context:post_compact",
        "guest:setup",
        "orchestrator:complete",
        "tool:error",
        "tool:post",
    ],
)
def test_what_no_loop_of_ours_led_to_another_program_told_of(name: str) -> None:
    """Whether or not hooks let a prompt through."""
    denied = event("prompt:submit", 2, action="deny")
    items = [event("session:start", 1), denied, event(name, 3), event("prompt:complete", 4)]
    assert steps(*items) == [("event", 2), ("event", 3), ("event", 4)]


def test_a_call_that_hooks_let_through_and_no_tool_took_another_program_told_of() -> None:
    """It had a part of a call judged, or the call where it was to run."""
    part = event("tool:pre", 3, tool_call_id="a:1")
    items = [event("session:start", 1), event("tool:pre", 2, tool_call_id="a"), part]
    assert steps(*items, call("started", 4, "a")) == [("start", 2), ("event", 3)]


def test_what_hooks_judged_too_late_was_denied_by_the_other_program() -> None:
    """Nothing else tells of it: the hooks never came to an answer."""
    late = event("policy:violation", 2, event="tool:pre", hook=DEADLINE)
    assert steps(event("session:start", 1), late) == [("late", 2)]
    assert steps(event("session:start", 1), late, event("guest:setup", 3))[0] == ("late", 2)
    assert agent_session.DEADLINE == DEADLINE


def test_what_modules_tell_of_before_the_start_is_early() -> None:
    """It is no step."""
    items = [event("mcp:list", 1), event("session:start", 2), event("mcp:list", 3)]
    assert [one.sequence for one in list_early(items)] == [1]
    assert steps(*items) == [("event", 3)]
