"""Quiet events are told from bytes; what is told so is what the slow way reads, line by line."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from amplifier_audit.log_directory import open_log, parse_or_none
from amplifier_audit.reader import read_records
from amplifier_audit.record import Record
from amplifier_core.hook_counts import HookCounts
from amplifier_hooks.cli.commands.audit import records, story
from amplifier_hooks.insight.counting import Survey
from amplifier_hooks.trails import RecordedEvent, read_items
from amplifier_hooks.trails.filters import Filter
from amplifier_hooks.trails.handovers import HEARD
from amplifier_hooks.trails.quiet import QuietEvent, read_answer, read_quiet
from amplifier_hooks.trails.reading import read_entries, read_item, read_matching
from amplifier_hooks.trails.recount import recount
from tests.hooks.trails.random_trails import (
    EVENTS,
    HOOKS,
    TEXTS,
    Happening,
    draw_trails,
    make_lines,
    respell,
    spoil,
    write_trail,
)

TEXT = "content_block:delta"
QUIET = {"action": "continue", "hooks": []}
DENIED = {
    "action": "deny",
    "hooks": [{"hook": "guard", "id": 1, "action": "deny", "ms": 1, "reason": "no"}],
}
FINAL = {"final_message": {"content": "hello"}, "status": "success"}
NOBODY: frozenset[bytes] = frozenset()


def make_line(data: Any = None, *answers: Any, event: str = "user:notification") -> bytes:
    body = {"action": "continue", "hooks": answers, "data": data or {}}
    (line,) = make_lines([Happening("dispatch", body, event=event)])
    return line


def allow(hook: str = "guard", ms: Any = 0.25, **more: Any) -> dict[str, Any]:
    return {"hook": hook, "id": 1, "action": "continue", "ms": ms, **more}


def check_same(quiet: QuietEvent, record: Record) -> None:
    """Everything that a quiet event says is what the record says."""
    item = read_item(record)
    assert isinstance(item, RecordedEvent)
    place = (item.sequence, item.time, item.session, item.turn, item.event)
    assert place == (quiet.sequence, quiet.time, quiet.session, quiet.turn, quiet.event)
    assert item.counted_at == quiet.counted_at
    assert [(one.hook, one.ms) for one in item.answers] == [*map(read_answer, quiet.answers)]
    assert quiet.list_hooks() == {one.hook for one in item.answers}
    assert {item.action, *(one.action for one in item.answers)} == {"continue"}
    assert not any(one.error or one.shadowed or one.unheeded for one in item.answers)
    if not quiet.may_have_gaps:
        assert not item.masked
        assert set(item.missing.values()) <= {"trails do not repeat it"}


def check_entries(lines: Sequence[bytes], heard: Collection[str], *, with_gaps: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        log = open_log(write_trail(Path(folder) / "log", lines))
        records = list(read_records(log))
        entries = list(read_entries(log, heard, with_gaps=with_gaps))
    assert len(entries) == len(records)
    for entry, record in zip(entries, records, strict=True):
        if isinstance(entry, QuietEvent):
            check_same(entry, record)
            assert record["event"] not in {*heard, *HEARD}
            assert with_gaps or not entry.may_have_gaps
        else:
            assert {**entry, "body": None} == {**record, "body": None}


LOUD = draw_trails()
DAMAGED = st.builds(spoil, LOUD, st.integers(0, 10**9))


@given(LOUD | DAMAGED, st.sets(st.sampled_from(EVENTS)), st.booleans())
def test_each_line_is_told_as_the_slow_way_reads_it(
    lines: list[bytes], heard: set[str], with_gaps: bool
) -> None:
    """Also where somebody has changed, moved, cut or doubled some of them."""
    check_entries(lines, heard, with_gaps=with_gaps)


def list_figures(found: dict[str, HookCounts]) -> dict[str, Any]:
    return {
        name: (one.to_dict(), dict(sorted(one.times.items())))
        for name, one in sorted(found.items())
        if one.is_used
    }


def draw_filters() -> st.SearchStrategy[Filter]:
    times = st.none() | st.sampled_from(["2025-06-15T15:06:4", "2025-06-15T15:06:50", "2030"])
    return st.builds(
        Filter,
        session=st.sampled_from([None, None, "s1", "s2", "ü"]),
        hook=st.sampled_from([None, None, *HOOKS]),
        event=st.sampled_from([None, None, *EVENTS]),
        action=st.sampled_from([None, None, "continue", "deny", "modify"]),
        type=st.sampled_from([None, None, "dispatch", "tool_started"]),
        after=times,
        before=times,
    )


@given(LOUD | DAMAGED, draw_filters())
@example([make_line({}, allow()), make_line({}, allow("display"))], Filter(hook="guard"))
def test_the_figures_are_those_of_the_slow_way(lines: list[bytes], wanted: Filter) -> None:
    """Of any part of a trail."""
    with tempfile.TemporaryDirectory() as folder:
        log = open_log(write_trail(Path(folder) / "log", lines))
        quick = recount(read_matching(read_entries(log, ()), wanted))
        slow = recount(read_matching(read_records(log), wanted))
    assert list_figures(quick) == list_figures(slow)


@given(LOUD | DAMAGED, st.sampled_from(["", "2025-06-15T15:06:50"]))
def test_a_survey_is_that_of_the_slow_way(lines: list[bytes], since: str) -> None:
    """First and last time, examples and undone calls included."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_trail(Path(folder) / "log", lines)
        quick, slow = Survey(since), Survey(since)
        quick.read(path)
        slow.shadows.trail = str(path)
        slow.add_all(read_items(read_entries(open_log(path))))
        slow.end_trail()
    assert quick.to_dict() == slow.to_dict()


def test_most_events_are_quiet() -> None:
    """Else all this would be for nothing."""
    quiet = read_quiet(make_line({"delta": "x"}, allow(), allow("display", 12)), NOBODY)
    assert quiet is not None
    assert [*map(read_answer, quiet.answers)] == [("guard", 0.25), ("display", 12.0)]
    assert read_quiet(make_line(), NOBODY) is not None


@pytest.mark.parametrize(
    "answer",
    [
        allow(action="deny"),
        allow(reason="no"),
        allow(error="OSError"),
        allow(unheeded=True),
        allow(shadowed="deny"),
        allow(timed_out=True),
        allow(ms=None),
        allow(ms=1e-7),
        allow('q"uote'),
        allow("ünlikely"),
        allow(""),
    ],
    ids=repr,
)
def test_what_says_more_is_not_quiet(answer: Any) -> None:
    """It is read as any other record."""
    assert read_quiet(make_line({}, allow(), answer), NOBODY) is None
    assert read_quiet(make_line({}, answer, allow()), NOBODY) is None


def test_what_is_heard_is_read_in_full() -> None:
    """Its data matter to somebody."""
    line = make_line({}, allow())
    assert read_quiet(line, frozenset({b"user:notification"})) is None
    assert read_quiet(line, frozenset({b"user"})) is not None


@pytest.mark.parametrize("place", range(0, 700, 7))
def test_a_changed_line_is_not_quiet(place: int) -> None:
    """Whichever byte it is: whether it still is a record, the strict parser says."""
    line = make_line({"delta": "x" * 200}, allow())
    at = place % (len(line) - 1)
    assert read_quiet(line[:at] + bytes([line[at] ^ 1]) + line[at + 1 :], NOBODY) is None


def test_a_forged_line_that_is_no_json_counts_and_hides_nothing() -> None:
    """Only who knows the format writes one; `verify` refuses it. What is not quiet is parsed."""
    forged = respell(make_line({"a": 1}, allow()), lambda line: line.replace(b'{"a":1}', b"{"))
    assert parse_or_none(forged) is None
    assert read_quiet(forged, NOBODY) is not None
    denied = respell(make_line({}, allow(action="deny")), lambda line: line)
    assert read_quiet(denied, NOBODY) is None


def tell_story(lines: Sequence[bytes], wanted: Filter, *, slowly: bool) -> list[Any]:
    """What `audit show` prints, as the records or the words of its lines."""
    printer = records._Printer(wanted, everything=False, as_json=False)
    told: list[Any] = []
    printer._page.print_entry = told.append  # type: ignore[method-assign, assignment]
    needed = lines if slowly else filter(printer.needs, lines)
    for show in printer.select(filter(None, map(parse_or_none, needed))):
        show()
    return [*told, printer._matching]


@given(LOUD | DAMAGED, draw_filters())
@example(
    make_lines(
        [
            Happening("dispatch", {**QUIET, "data": {"delta": "hello"}}, event=TEXT),
            Happening("dispatch", {**QUIET, "data": {}}, event="content_block:end"),
            Happening("dispatch", {**DENIED, "data": FINAL}, event="orchestrator:complete"),
            Happening("dispatch", {**DENIED, "data": FINAL}, event="orchestrator:complete"),
        ]
    ),
    Filter(action="deny"),
)
def test_a_story_is_that_of_the_slow_way(lines: list[bytes], wanted: Filter) -> None:
    """Also where what is shown depends on what was passed over."""
    quick = tell_story(lines, wanted, slowly=False)
    assert quick == tell_story(lines, wanted, slowly=True)


def test_what_is_passed_over_is_kept_in_bounds() -> None:
    """A model may write for a long time; its words are read in between."""
    texts: list[dict[str, Any]] = [{**QUIET, "data": {"delta": f"{n} "}} for n in range(30)]
    ends: list[dict[str, Any]] = [{**QUIET, "data": {}}, {**DENIED, "data": FINAL}]
    names = [*[TEXT] * 30, "content_block:end", "orchestrator:complete"]
    lines = make_lines(
        [
            Happening("dispatch", body, event=name)
            for body, name in zip([*texts, *ends], names, strict=True)
        ]
    )
    wanted = Filter(action="deny")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(story, "_MOST_UNREAD", 7)
        assert tell_story(lines, wanted, slowly=False) == tell_story(lines, wanted, slowly=True)


@pytest.mark.parametrize("text", [one for one in TEXTS if one[:2] in ("[R", "a ", "[w")])
def test_what_is_masked_or_withheld_may_have_gaps(text: str) -> None:
    """And what was cut, or kept apart."""
    for data in ({"a": text}, {"a": {"$cut": "text"}}, {"$commitment": "c"}):
        quiet = read_quiet(make_line(data, allow()), NOBODY)
        assert quiet is not None
        assert quiet.may_have_gaps
    quiet = read_quiet(make_line({"a": ["$", "[x]"]}, allow()), NOBODY)
    assert quiet is not None
    assert not quiet.may_have_gaps


def test_answers_that_are_alike_are_all_counted() -> None:
    """Those of several events, and of one."""
    lines = [make_line({}, allow(), allow("display"), allow())] * 3
    with tempfile.TemporaryDirectory() as folder:
        log = open_log(write_trail(Path(folder) / "log", lines))
        found = recount(read_matching(read_entries(log, ()), Filter()))
    assert {name: one.calls for name, one in found.items()} == {"guard": 6, "display": 3}
    assert sum(found["guard"].times.values()) == 6


@pytest.mark.parametrize(
    ("wanted", "fits"),
    [
        ({"action": "deny"}, False),
        ({"action": "continue"}, True),
        ({"type": "tool_started"}, False),
        ({"type": "dispatch"}, True),
        ({"hook": "guard"}, True),
        ({"hook": "display"}, False),
        ({"session": "s2"}, False),
        ({"event": "tool:pre"}, False),
        ({"after": "2025-06-15T15:06:41"}, False),
        ({"before": "2025-06-15T15:06:40"}, False),
        ({"before": "2025-06-15T15:06:41"}, True),
    ],
)
def test_a_filter_takes_a_quiet_event_as_its_record(wanted: dict[str, str], fits: bool) -> None:
    """Each of its fields."""
    line = make_line({}, allow())
    quiet, record = read_quiet(line, NOBODY), parse_or_none(line)
    assert quiet is not None
    assert record is not None
    assert Filter(**wanted).matches_quiet(quiet) is Filter(**wanted).matches(record) is fits


@pytest.mark.parametrize("ends", [b"},]", b"}{"])
def test_answers_that_are_no_list_are_not_quiet(ends: bytes) -> None:
    """Whatever the hash of the line says."""
    line = make_line({}, allow(), allow("display"))
    old = b"}]" if ends == b"},]" else b"},{"
    assert read_quiet(respell(line, lambda text: text.replace(old, ends, 1)), NOBODY) is None
    assert read_quiet(respell(line, lambda text: text), NOBODY) is not None


def test_hooks_have_a_place_of_their_own_in_the_order_of_the_trail() -> None:
    """Those beyond the limit are counted together, the same ones either way."""
    late = Happening("hook_registered", {"priority": 0}, hook="late", registration=2)
    lines = [make_line({}, allow("early")), *make_lines([late]), make_line({}, allow("late"))]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("amplifier_hooks.trails.recount.MOST_HOOKS", 1)
        log = open_log(write_trail(Path(folder) / "log", lines))
        quick = recount(read_matching(read_entries(log, ()), Filter()))
    assert sorted(quick) == ["(others)", "early"]


NAMED = {"child_id": "s2", "agent_name": "helper"}
STORIES: list[tuple[list[Happening], Filter]] = [
    (
        [
            Happening("dispatch", {**QUIET, "data": NAMED, **again}, event="session:fork"),
            Happening("dispatch", {**DENIED, "data": {}}, "s2", event="tool:pre"),
        ],
        Filter(action="deny"),
    )
    for again in ({}, {"judged_again": True}, {"judged_again": False})
]
STORIES += [
    (
        [
            Happening("dispatch", {**QUIET, "data": data}, event="user:notification"),
            Happening("tool_started", {"tool": "Bash", "id": "c1", "digest": "d"}),
        ],
        Filter(type="tool_started"),
    )
    for data in ({"$commitment": "c"}, {"a": 1})
]
STORIES += [
    ([Happening("action_resolved", {"hook": "guard", "id": 1})] * 2, Filter(action="continue")),
    ([Happening("made_up", {"action": "d\u00e4ny"})], Filter(action="d\u00e4ny")),
]


@pytest.mark.parametrize(("happenings", "wanted"), STORIES)
def test_what_is_passed_over_still_matters(happenings: list[Happening], wanted: Filter) -> None:
    """To what a later line says, or whether there is one."""
    lines = make_lines(happenings)
    told = tell_story(lines, wanted, slowly=False)
    assert told == tell_story(lines, wanted, slowly=True)
    assert told[-1] > 0
