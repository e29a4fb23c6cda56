"""Calls, put together from their records."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_hooks.insight.reports.figures.session import SessionFigures
from amplifier_hooks.insight.reports.figures.step import Call
from amplifier_hooks.trails import Item, Note, RecordedApproval, RecordedCall
from tests.hooks.insight.reports.stories import (
    answer,
    ask,
    call,
    decide,
    event,
    gather,
    place,
    prompt,
    run,
)
from tests.support.bodies import make_body


def list_calls(session: SessionFigures) -> list[Call]:
    return [step for turn in session.turns for step in turn.steps if isinstance(step, Call)]


def finish(second: float, **more: object) -> RecordedCall:
    """The end of a call."""
    fields = {"tool": "Bash", "call_id": "c1", "outcome": "returned", "success": True, **more}
    return RecordedCall(**place(second, "tool:pre"), stage="finished", **fields)  # type: ignore[arg-type]


def test_a_call_has_its_input_its_result_and_its_time() -> None:
    """From four records."""
    session = gather(prompt(1, "go"), run(2, "Bash", {"command": "make"}, "built"))
    (one,) = list_calls(session)
    assert (one.tool, one.about, one.outcome, one.ms) == ("Bash", "make", "done", 200.0)
    assert (one.input.text, one.result.text) == ("command: make", "built")
    assert [command.about for command in session.commands] == ["make"]
    assert session.calls["done"] == session.call_count == 1
    assert len(session.running) == 1


def hand_over(second: float, state: str = "", **more: Any) -> RecordedApproval:
    """A question that another program asks, or what it showed of it."""
    fields = {"hook": "guard", "id": 1, "digest": "d", "call_id": "c1", "to": "claude", **more}
    stage: Any = "outcome" if state else "handed_over"
    return RecordedApproval(**place(second, "tool:pre"), stage=stage, state=state, **fields)


def test_a_call_that_another_program_asks_about_is_known_by_what_it_shows() -> None:
    """Not started before it ran; and when it did, it was approved."""
    asked: list[Item] = [prompt(1, "go"), call(2, "Bash", {"command": "make"}), hand_over(3)]
    for later, outcome, commands in (
        ([], "unknown", 0),
        ([hand_over(4, "not_run")], "not run", 0),
        ([hand_over(4, "allowed"), finish(5, ms=500.0)], "done", 1),
        ([hand_over(4, "not_run"), hand_over(5, "allowed"), finish(6)], "done", 1),
        ([hand_over(4, "allowed"), finish(5, outcome="raised", success=None)], "failed", 1),
    ):
        session = gather(*asked, *later)
        (one,) = list_calls(session)
        assert (one.outcome, one.gated) == (outcome, bool(commands))
        assert session.commands.count == commands
        assert session.calls[outcome] == session.call_count == 1


def test_a_call_that_only_ended_ran_as_long_as_it_says() -> None:
    """Another program told how it ended, and how long it took."""
    session = gather(prompt(1, "go"), call(2, "Bash", {"command": "make"}), finish(9, ms=2000.0))
    ((began, ended),) = session.running
    assert ended - began == pytest.approx(2.0)


def test_a_denied_call_that_ran_is_one_call_and_leads_the_report() -> None:
    """What came of it is told, and that it was denied."""
    denied = call(1, "Bash", {"command": "rm x"}, answer("guard", "deny", reason="no"))
    body = {"tool": "Bash", "id": "c1", "agent": "claude", "shown": "result", "success": True}
    note = Note(**place(2, "tool:post"), hook="guard", body=make_body("denial_contradicted", body))
    session = gather(denied, note, finish(3))
    (one,) = list_calls(session)
    assert (one.outcome, one.contradicted, one.by, one.reason) == ("done", True, "guard", "no")
    (found,) = session.contradictions
    assert (found.about, found.hook, found.agent, found.success) == (
        "rm x",
        "guard",
        "claude",
        True,
    )
    assert (session.denied, session.call_count) == (1, 1)


def test_a_denied_call_says_by_whom_and_why() -> None:
    """It is no command that ran."""
    session = gather(call(1, "Bash", {"command": "rm"}, answer("guard", "deny", reason="no")))
    (one,) = list_calls(session)
    assert (one.outcome, one.by, one.reason) == ("denied", "guard", "no")
    assert session.commands.count == 0


def test_a_refused_call_says_by_whom() -> None:
    """The answer finds its call, also when another one waits."""
    session = gather(
        call(1, "Write", {"file_path": "a"}, id="c1"),
        call(2, "Write", {"file_path": "b"}, id="c2"),
        ask(3, call_id="c1", digest="d1"),
        ask(3, call_id="c2", digest="d2"),
        decide(4, False, digest="d1", comment="not today"),
        decide(5, True, digest="d2"),
    )
    first, second = list_calls(session)
    assert (first.outcome, first.by, first.reason) == ("refused", "ann", "not today")
    assert second.outcome == "not started"


@pytest.mark.parametrize(
    ("more", "outcome"),
    [
        ({"success": False}, "failed"),
        ({"outcome": "raised", "success": None}, "failed"),
        ({"outcome": "cancelled"}, "stopped"),
        ({"outcome": "unknown"}, "unknown"),
    ],
)
def test_a_call_can_end_badly(more: dict[str, object], outcome: str) -> None:
    """Each way has a word of its own."""
    (one,) = list_calls(gather(call(1, "Bash", {}), finish(2, **more)))
    assert one.outcome == outcome


def test_a_call_without_an_end_has_an_unknown_outcome() -> None:
    """The process may have been killed in the middle of it."""
    session = gather(run(1, "Bash", {"command": "make"})[:2])
    assert session.calls["unknown"] == session.call_count == 1


def test_an_edited_call_shows_what_ran() -> None:
    """It is judged again with the input that the person left."""
    session = gather(
        call(1, "Bash", {"command": "rm -r /"}),
        call(2, "Bash", {"command": "rm -r build"}, again=True),
    )
    (one,) = list_calls(session)
    assert one.about == "rm -r build"


def test_a_tool_that_raised_has_failed() -> None:
    """With what it raised."""
    data = {"tool_name": "Bash", "tool_call_id": "c1", "error": {"message": "gone"}}
    (one,) = list_calls(gather(call(1, "Bash", {}), event(2, "tool:error", data)))
    assert (one.outcome, one.result.text) == ("failed", "gone")


def test_with_decisions_alone_calls_are_known_by_their_tool() -> None:
    """There are no events then."""
    (one,) = list_calls(gather(run(1, "Bash", {})[1:3]))
    assert (one.tool, one.outcome, one.input.text) == ("Bash", "done", "")


def test_files_are_told_once_and_by_their_place_in_the_folder() -> None:
    """From events, or from the names of tools where there are none."""
    written = event(2, "artifact:write", {"path": "/home/ann/src/a.py"})
    records = run(1, "Write", {"file_path": "src/a.py"})
    told = gather(records[0], records[1], written, records[2:], folder="/home/ann")
    guessed = gather(run(1, "Edit", {"file_path": "src/a.py"}), run(2, "Read", {"path": "b"}))
    assert told.written == guessed.written == {"src/a.py": 1}
    assert guessed.read == {"b": 1}
    read = gather(event(2, "artifact:read", {"path": "/etc/hosts"}), folder="/home/ann")
    assert read.read == {"/etc/hosts": 1}
