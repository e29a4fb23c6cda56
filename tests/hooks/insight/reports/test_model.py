"""Reports on several sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.insight.reports import Evidence
from amplifier_hooks.insight.reports.model import (
    MOST_FIELDS,
    MOST_STEPS,
    Call,
    Day,
    Gaps,
    HookFigures,
    Period,
    Questions,
    SessionFigures,
    Spending,
    Turn,
    check_trail,
    list_fields,
    make_row,
)
from amplifier_hooks.trails import RecordedHook
from tests.hooks.insight.reports.stories import (
    SESSION,
    answer,
    ask,
    at,
    call,
    decide,
    end,
    event,
    gather,
    prompt,
    report_on,
    respond,
    tell_whole_story,
    write_trail,
)


def run_session(first: float) -> SessionFigures:
    """A session that begins so many seconds after nine."""
    return gather(
        prompt(first, "go"),
        respond(first + 1, "claude-sonnet-4", input_tokens=10, output_tokens=1),
        call(first + 2, "Bash", {"command": "rm"}, answer("guard", "deny", reason="no")),
        ask(first + 3),
        decide(first + 8, True),
        end(first + 9),
        folder="/home/ann",
    )


def test_totals_are_the_sum_of_all_sessions() -> None:
    """Also of those that get no chapter."""
    report = report_on(run_session(0), run_session(100), run_session(200), chapters=1)
    totals = report.totals
    assert (totals.sessions, totals.turns, totals.calls["denied"]) == (3, 3, 3)
    assert (totals.questions["asked"], totals.questions["allowed"], totals.waited) == (3, 3, 15.0)
    assert totals.interventions["denial"] == 3
    assert totals.hooks["guard"].counts.calls == 3
    assert totals.spending.models["claude-sonnet-4"].tokens == 33
    (day,) = totals.days.values()
    assert (day.sessions, day.denied, day.asked, day.calls, day.tokens) == (3, 3, 3, 3, 33)
    assert totals.first < totals.last


def test_the_newest_sessions_come_first_and_get_the_chapters() -> None:
    """In whichever order the trails were read."""
    report = report_on(run_session(100), run_session(200), run_session(0), chapters=2)
    starts = [row.first for row in report.rows]
    assert starts == sorted(starts, reverse=True)
    assert len(starts) == 3
    assert [one.first for one in report.chapters] == starts[:2]


def test_a_row_says_how_a_session_went() -> None:
    """The figures of the table of sessions."""
    row = make_row(run_session(0))
    assert (row.denied, row.asked, row.calls, row.tokens, row.ending) == (1, 1, 1, 11, "complete")


@pytest.mark.parametrize(
    ("session", "counts"), [(gather(), (0, 0, 0)), (tell_whole_story(), (1, 1, 5))]
)
def test_what_matters_is_counted(session: SessionFigures, counts: tuple[int, int, int]) -> None:
    """Denials, changes and calls; an empty trail can be told, too."""
    assert session.id == SESSION
    assert (session.denied, session.changed, session.call_count) == counts


def test_a_turn_keeps_a_bounded_number_of_steps() -> None:
    """A loop of a thousand calls is counted, and not kept."""
    turn = Turn(SESSION, 1, at(0))
    for number in range(1_000):
        turn.steps.add(Call(at(number), "Bash"))
    assert len([*turn.steps]) == MOST_STEPS
    assert turn.steps.left_out == 1_000 - MOST_STEPS


def test_a_question_and_its_answer_are_one() -> None:
    """Who, what, how, when, and how long it took."""
    questions = Questions()
    questions.add_step(ask(1))
    questions.add_step(decide(11, True, comment="go on", edited=True))
    (one,) = questions.kept
    assert (one.outcome, one.by, one.comment, one.edited) == ("allowed", "ann", "go on", True)
    assert (one.asked, one.decided, one.waited) == (at(1), at(11), 10.0)
    assert one.input.text == "file_path: app.conf"
    assert (questions.asked, questions.allowed, questions.open, questions.waited) == (1, 1, 0, 10.0)


def refuse(second: float = 2, **more: Any) -> Any:
    return decide(second, False, **more)


@pytest.mark.parametrize(
    ("steps", "ends", "figures"),
    [
        # Refused, expired and withdrawn are told apart, and counted.
        ([ask(1), refuse()], ["refused"], {"refused": 1, "open": 0}),
        ([ask(1), refuse(stage="expired")], ["expired"], {"expired": 1, "open": 0}),
        ([ask(1), refuse(how="timeout")], ["expired"], {"expired": 1, "open": 0}),
        ([ask(1), refuse(stage="cancelled")], ["cancelled"], {"cancelled": 1, "open": 0}),
        # What was decided for always is shown, and is no question.
        (
            [decide(2, True, stage="remembered")],
            ["remembered"],
            {"asked": 0, "remembered": 1, "waited": 0.0},
        ),
        # A rule answers at once, and where nobody can be asked, nobody is waited for.
        *(
            ([ask(1), refuse(5, how=how)], ["refused"], {"waited": 0.0, "waits": []})
            for how in ("rule", "nobody", "invalid", "error")
        ),
        # Each answer goes to the hook that asked.
        (
            [ask(1, hook="a"), ask(1, hook="b"), decide(2, True, hook="b")],
            ["open", "allowed"],
            {"asked": 2, "open": 1},
        ),
        # The question may lie before the period of the report.
        ([refuse()], ["refused"], {"asked": 1, "refused": 1}),
    ],
)
def test_a_question_ends_once_and_is_counted(
    steps: list[Any], ends: list[str], figures: dict[str, Any]
) -> None:
    """Whoever answers it, or does not."""
    questions = Questions()
    for step in steps:
        questions.add_step(step)
    assert [one.outcome for one in questions.kept] == ends
    told = {name: getattr(questions, name) for name in figures}
    if "waits" in told:
        told["waits"] = [*told["waits"]]
        assert [one.waited for one in questions.kept] == [None]
    assert told == figures


def test_a_question_that_another_program_asks_is_known_by_what_it_shows() -> None:
    """Nobody waits for it here; what is learnt later takes the place of what was thought."""
    questions = Questions()
    questions.add_step(ask(1))
    one = questions.add_step(decide(1.02, False, stage="handed_over", to="claude", call_id="c1"))
    assert (one.outcome, one.to, one.waited) == ("not_known", "claude", None)
    assert (questions.asked, questions.handed_over, questions.not_known) == (1, 1, 1)
    assert (questions.open, questions.waited) == (0, 0.0)
    about = {"stage": "outcome", "call_id": "c1", "to": "claude"}
    questions.add_step(decide(9, False, state="not_run", settles="not_known", **about))
    assert (one.outcome, questions.not_run, questions.not_known) == ("not_run", 1, 0)
    shown = {"state": "allowed", "settles": "not_run", "evidence": "result"}
    questions.add_step(decide(10, False, **shown, **about))
    assert (one.outcome, one.evidence, questions.not_run, questions.allowed) == (
        "allowed",
        "result",
        0,
        1,
    )
    assert (questions.asked, questions.open, questions.waited) == (1, 0, 0.0)


def test_an_answer_that_comes_back_belongs_to_the_question() -> None:
    """It is put again for that, and was asked once; somebody did wait for it."""
    questions = Questions()
    questions.add_step(ask(1, call_id="c1"))
    questions.add_step(decide(2, False, stage="handed_over", to="LangGraph", call_id="c1"))
    questions.add_step(ask(20, again=True, call_id="c1"))
    questions.add_step(decide(21, True, settles="not_known", call_id="c1"))
    (one,) = questions.kept
    assert (one.outcome, one.by, one.to, one.waited) == ("allowed", "ann", "LangGraph", 20.0)
    assert (questions.asked, questions.handed_over, questions.not_known) == (1, 1, 0)
    assert questions.open == 0


def test_values_that_differ_are_found_where_they_stand() -> None:
    """By path, with what was there before and after."""
    before = {"tool_input": {"a": 1, "list": ["x", "y"]}, "same": 1, "gone": "g"}
    after = {"tool_input": {"a": 2, "list": ["x", "z"]}, "same": 1, "new": "n"}
    found = {one.path: (one.before.text, one.after.text) for one in list_fields(before, after)}
    assert found == {
        "tool_input.a": ("1", "2"),
        "tool_input.list[1]": ("y", "z"),
        "gone": ("g", ""),
        "new": ("", "n"),
    }


def test_not_more_values_are_kept_than_anybody_reads() -> None:
    """A hook that changes everything does not fill the report, a forged record does not end it."""
    assert len(list_fields({str(one): one for one in range(100)}, {})) == MOST_FIELDS
    before: dict[str, object] = {}
    for _ in range(3_000):
        before = {"a": before}
    (field,) = list_fields(before, {"a": {"a": {}}})[:1]
    assert field.path.startswith("a.a")


@pytest.mark.parametrize(
    ("model", "usage", "tokens", "money", "unpriced"),
    [
        # Money is never made up: what has no price has tokens only.
        (
            "claude-sonnet-4",
            {"input_tokens": 1_000_000, "output_tokens": 100_000},
            1_100_000,
            4.5,
            0,
        ),
        ("house-model", {"input_tokens": 5, "output_tokens": 7}, 12, 0.0, 12),
        # The provider's own figure is better than a list price.
        ("house-model", {"input_tokens": 5, "cost_usd": 0.25}, 5, 0.25, 0),
        # A forged record cannot make a cost of infinity.
        (
            "gpt-5",
            {"input_tokens": -5, "output_tokens": "many", "cost_usd": float("inf")},
            0,
            0.0,
            0,
        ),
    ],
)
def test_tokens_cost_what_is_known_of_them(
    model: str, usage: dict[str, Any], tokens: int, money: float, unpriced: int
) -> None:
    """For each model, and together; the spending of two sessions is that of both."""
    one, both = Spending(), Spending()
    spent = one.add_usage(model, usage)
    assert (spent.tokens, spent.unpriced) == (tokens, unpriced)
    assert spent.money == pytest.approx(money)
    both.add(one)
    both.add(one)
    assert both.models[model].tokens == 2 * tokens
    assert (both.total.tokens, both.total.requests) == (2 * tokens, 2)


def test_a_whole_trail_is_consistent_and_that_of_its_session(tmp_path: Path) -> None:
    """Its end is not proven without an anchor; what cannot be verified says why."""
    path = write_trail(tmp_path)
    proof = check_trail(path, Evidence())
    assert proof.verdict == "consistent"
    assert proof.report is not None
    assert proof.report.head is not None
    assert check_trail(path, Evidence(), owner="another").verdict == "tampered"
    unread = check_trail(path, Evidence(anchors=(str(tmp_path / "none"),)))
    assert unread.verdict == "unreadable"
    assert "none" in unread.problem


def test_a_changed_record_is_found_where_it_is(tmp_path: Path) -> None:
    """The verdict names the record."""
    path = write_trail(tmp_path)
    segment = path / "00000000.jsonl"
    segment.write_bytes(segment.read_bytes().replace(b"rm 0", b"rm 1"))
    proof = check_trail(path, Evidence())
    assert proof.verdict == "tampered"
    assert proof.report is not None
    assert proof.report.finding is not None
    assert proof.report.finding.segment == "00000000.jsonl"


@pytest.mark.parametrize(
    ("period", "holds"),
    [
        (Period(), True),
        (Period(since="2026-11-15"), True),
        (Period(since="2026-11-16"), False),
        (Period(until="2026-11-15T09:00:01"), True),
        (Period(until="2026-11-15"), False),
        (Period(until="2026-11-15T09:00:00.5Z"), False),
    ],
)
def test_a_period_holds_its_beginning_and_not_its_end(period: Period, holds: bool) -> None:
    """Beginnings of times are compared as texts; without bounds it is none."""
    assert period.holds("2026-11-15T09:00:00.5Z") is holds
    assert bool(period) == (period != Period())


def test_registrations_of_one_name_add_up() -> None:
    """What it listens to, and whether one of them is a guard."""
    hook, other = HookFigures(), HookFigures()
    hook.register(RecordedHook(1, "h", "tool:pre", 0))
    other.register(RecordedHook(2, "h", "tool:post", 0, on_error="deny", module="m", shadow=True))
    other.counts.calls += 1
    hook.add(other)
    assert (hook.events, hook.guard, hook.shadow, hook.module, hook.counts.calls) == (
        {"tool:pre", "tool:post"},
        True,
        True,
        "m",
        1,
    )


def test_days_add_up() -> None:
    """Every figure of a day is added."""
    day = Day(1, 2, 3, 4, 5, 6)
    day.add(Day(10, 20, 30, 40, 50, 60))
    assert day == Day(11, 22, 33, 44, 55, 66)


def test_missing_and_masked_values_are_counted_by_place() -> None:
    """Each with the reason; what trails never repeat is not missed."""
    gaps = Gaps()
    missing = {"tool_input.content": "redacted", "messages": "trails do not repeat it"}
    for second in (1, 2):
        gaps.add_event(event(second, "tool:pre", {}, missing=missing, masked=("tool_input.key",)))
    assert gaps.missing == {("redacted", "tool:pre tool_input.content"): 2}
    assert gaps.masked == {"tool:pre tool_input.key": 2}


def test_places_have_a_bound() -> None:
    """A trail with a million paths is told in a page."""
    gaps = Gaps()
    for number in range(500):
        gaps.add_event(event(1, "tool:pre", {}, missing={f"a{number}": "redacted"}))
    assert len(gaps.missing) <= 51
    assert gaps.missing.total() == 500
