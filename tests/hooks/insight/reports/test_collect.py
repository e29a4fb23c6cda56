"""Reading trails from disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from amplifier_hooks.insight.reports.collect import (
    ReportRequest,
    find_owner,
    measure_trail,
    read_report,
    read_session,
)
from amplifier_hooks.insight.reports.model import MOST_INTERVENTIONS, MOST_TURNS, Period
from amplifier_hooks.trails import RecordedHook
from tests.hooks.insight.reports.stories import (
    answer,
    at,
    call,
    event,
    gather,
    note,
    prompt,
    tell_whole_story,
    write_trail,
)


@pytest.fixture
def _at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("_at_home")
def test_a_trail_is_read_and_verified(tmp_path: Path) -> None:
    """In one report, with what it proves."""
    path = write_trail(tmp_path, folder="/home/ann", denials=2)
    done: list[int] = []
    report = read_report(ReportRequest([path]), progress=done.append)
    (session,) = report.chapters
    assert (session.denied, session.ending, session.proof.verdict) == (2, "complete", "consistent")
    assert session.header.folder == "/home/ann"
    assert all(0 <= one <= measure_trail(path) for one in done)


@pytest.mark.usefixtures("_at_home")
def test_a_trail_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """The others are told all the same."""
    good, bad = write_trail(tmp_path), tmp_path / "bad"
    bad.write_text("this is no log\n")
    report = read_report(ReportRequest([bad, good, tmp_path / "none"]))
    assert report.totals.sessions == 1
    assert [Path(path).name for path, _ in report.unreadable] == ["bad", "none"]


@pytest.mark.usefixtures("_at_home")
def test_sessions_outside_of_the_period_are_left_out(tmp_path: Path) -> None:
    """Old trails are not even read: their files say when they were written."""
    path = write_trail(tmp_path)
    later = read_report(ReportRequest([path], Period(since="9999")))
    earlier = read_report(ReportRequest([path], Period(until="1999")))
    assert (
        (later.empty, later.totals.sessions) == (earlier.empty, earlier.totals.sessions) == (1, 0)
    )
    os.utime(path / "state", (0, 0))
    assert read_report(ReportRequest([path], Period(since="2000"))).empty == 1


@pytest.mark.usefixtures("_at_home")
def test_only_what_was_verified_is_told(tmp_path: Path) -> None:
    """Lines that somebody appended behind the end are no part of the story."""
    path = write_trail(tmp_path, denials=2)
    segment = path / "00000000.jsonl"
    lines = segment.read_bytes().splitlines(keepends=True)
    denial = next(line for line in lines if b"rm 1" in line)
    segment.write_bytes(b"".join([*lines, denial.replace(b"rm 1", b"rm 9")]))
    session = read_session(path, ReportRequest([path]))
    assert session.proof.verdict == "recovered"
    assert (session.denied, session.gaps.unverified) == (2, 1)


@pytest.mark.usefixtures("_at_home")
def test_everything_of_a_changed_trail_is_told(tmp_path: Path) -> None:
    """Its readers are warned, and want to see what there is."""
    path = write_trail(tmp_path, denials=2)
    segment = path / "00000000.jsonl"
    segment.write_bytes(segment.read_bytes().replace(b"rm 0", b"rm 5"))
    session = read_session(path, ReportRequest([path]))
    assert (session.proof.verdict, session.denied) == ("tampered", 2)


@pytest.mark.usefixtures("_at_home")
def test_a_folder_of_trails_says_whose_each_must_be(tmp_path: Path) -> None:
    """Elsewhere, nobody knows."""
    path = write_trail(tmp_path)
    assert find_owner(path, [tmp_path.resolve()]) == path.name
    assert find_owner(path, []) is None
    assert read_session(path, ReportRequest([path]), "another").proof.verdict == "tampered"


def test_only_the_period_is_counted() -> None:
    """Hooks and names of sub-agents from before are known all the same."""
    session = gather(
        [RecordedHook(1, "guard", "tool:pre", 0, on_error="deny")],
        event(1, "session:fork", {"child_id": "child", "agent_name": "reviewer"}),
        prompt(2, "early"),
        prompt(5, "late", session="child"),
        prompt(9, "too late"),
        period=Period(since=at(4)[:19], until=at(8)[:19]),
    )
    assert [(turn.prompt.text, turn.agent) for turn in session.turns] == [("late", "reviewer")]
    assert (session.records, session.first, session.last) == (1, at(5), at(5))
    assert session.hooks["guard"].guard


def test_a_long_session_keeps_a_bounded_part_of_itself() -> None:
    """Everything is counted, and little is kept."""
    denial = answer("guard", "deny", reason="no")
    items = [prompt(n / 10, "go", turn=n) for n in range(1, 501)]
    items += [call(51 + n / 100, "Bash", {"command": "rm"}, denial) for n in range(500)]
    session = gather(*items)
    assert (session.turns.count, session.denied) == (500, 500)
    assert len([*session.turns]) == MOST_TURNS
    assert len([*session.interventions["denial"]]) == MOST_INTERVENTIONS


def test_the_whole_story_has_something_of_everything() -> None:
    """The story that other tests tell leaves nothing out."""
    session = tell_whole_story()
    assert all(kept.count for kept in session.interventions.values())
    assert session.questions.refused == 1
    assert session.errors.count == 1
    assert session.days["2026-11-15"].calls == session.call_count


def test_denials_changes_failures_and_shadows_are_kept_with_their_reasons() -> None:
    """Each with its hook, and what it was about."""
    data = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    session = gather(
        call(1, "Bash", {"command": "rm"}, answer("a", "deny", reason="no")),
        event(2, "tool:pre", data, answer("b", "modify"), left={**data, "tool_input": {}}),
        event(3, "tool:pre", data, answer("c", error="boom", timed_out=True)),
        event(4, "tool:pre", data, answer("d", shadowed="deny")),
    )
    kept = session.interventions
    (denial,) = kept["denial"]
    assert (denial.hook, denial.about, denial.reason) == ("a", "Bash rm", "no")
    (change,) = kept["change"]
    assert [field.path for field in change.fields] == ["tool_input.command"]
    (failure,) = kept["failure"]
    assert (failure.reason, failure.timed_out) == ("boom", True)
    (shadow,) = kept["shadow"]
    assert shadow.reason == "would have answered deny"
    assert len(session.denying) == 1


def test_what_shadow_mode_withheld_is_told_once_and_in_words() -> None:
    """With what it was about from the event, and the words from the record behind it."""
    would = {"action": "deny", "would": "would have denied the call: no"}
    session = gather(
        call(1, "Bash", {"command": "rm"}, answer("d", shadowed="deny")),
        note(1, "shadowed", would, hook="d", event="tool:pre"),
        call(2, "Bash", {"command": "ls"}, answer("d", shadowed="deny")),
        call(3, "Bash", {"command": "ps"}, answer("d", shadowed="deny")),
        note(4, "shadowed", would, hook="other", event="tool:pre"),
    )
    found = [(one.about, one.reason) for one in session.interventions["shadow"]]
    assert found == [
        ("Bash rm", "would have denied the call: no"),
        ("Bash ls", "would have answered deny"),
        ("", "would have denied the call: no"),
        ("Bash ps", "would have answered deny"),
    ]


def test_a_guard_that_fails_both_failed_and_denied() -> None:
    """Whoever looks for denials finds it, and whoever looks for failures."""
    session = gather(call(1, "Bash", {}, answer("guard", "deny", error="boom")))
    assert (session.denied, session.interventions["failure"].count) == (1, 1)


def test_an_answer_behind_a_denial_is_none() -> None:
    """It had no effect."""
    first, behind = answer("a", "deny", reason="no"), answer("b", "deny", unheeded=True)
    assert gather(call(1, "Bash", {}, first, behind)).denied == 1


def test_a_change_that_is_made_again_is_one_change() -> None:
    """After a wait, hooks answer once more."""
    change = answer("a", "modify")
    session = gather(call(1, "Bash", {}, change), call(2, "Bash", {}, change, again=True))
    assert session.changed == 1


def test_what_hooks_told_the_agent_is_kept() -> None:
    """With its tokens; a text that was not taken is a failure."""
    session = gather(
        note(1, "injection_accepted", {"text": "careful", "tokens": 9}, hook="h"),
        note(2, "injection_dropped", {"why": "no budget"}, hook="h"),
        note(3, "user_message", {"text": "look"}, hook="h"),
        note(4, "injection_unused", {"why": "never taken", "fault": True}, hook="h"),
        note(5, "injection_unused", {"why": "the agent was done", "fault": False}, hook="h"),
    )
    assert session.hooks["h"].counts.injected_tokens == 9
    assert [one.reason for one in session.interventions["injection"]] == ["careful"]
    assert [one.reason for one in session.interventions["message"]] == ["look"]
    dropped, lost = session.interventions["failure"]
    assert "no budget" in dropped.reason
    assert "never taken" in lost.reason


def test_what_was_not_approved_and_would_have_run_is_a_denial() -> None:
    """The kernel found another digest."""
    assert gather(note(1, "digest_mismatch", {})).denied == 1


def test_with_decisions_alone_answers_have_records_of_their_own() -> None:
    """They count as those in events do."""
    body = {"action": "deny", "reason": "no", "ms": 3.0}
    session = gather(note(1, "action_resolved", body, hook="guard", event="tool:pre"))
    (denial,) = session.interventions["denial"]
    assert (denial.hook, denial.reason) == ("guard", "no")
    assert session.hooks["guard"].counts.calls == 1
