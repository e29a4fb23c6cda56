"""What a report says about a session, and about several."""

from __future__ import annotations

import pytest

from amplifier_audit import Report
from amplifier_hooks.insight.reports import Format, render_report
from amplifier_hooks.insight.reports.document import (
    Bars,
    Chapter,
    Heading,
    Link,
    Paragraph,
    Timeline,
)
from amplifier_hooks.insight.reports.excerpts import BoundedList
from amplifier_hooks.insight.reports.model import Contradiction, Period, Proof, SessionFigures
from amplifier_hooks.insight.reports.sections.chapter import (
    SECTIONS,
    describe_session,
    describe_spending,
    describe_summary,
    describe_timeline,
    make_anchor,
)
from amplifier_hooks.insight.reports.sections.report import (
    describe_contradictions,
    describe_overview,
    describe_report,
)
from amplifier_hooks.trails import Note
from tests.hooks.insight.reports.reading import read_words
from tests.hooks.insight.reports.stories import (
    answer,
    ask,
    call,
    decide,
    end,
    gather,
    place,
    prompt,
    report_on,
    respond,
    run,
    tell_whole_story,
)
from tests.support.bodies import make_body


@pytest.mark.parametrize(("count", "title"), [(1, "Session 3f0c1a2b"), (2, "2 sessions")])
def test_several_sessions_have_chapters(count: int, title: str) -> None:
    """Behind the overview; one is its own report, and its title is its id."""
    document = describe_report(report_on(*(gather(prompt(n + 1, "a")) for n in range(count))))
    assert document.title == title
    chapters = sum(isinstance(block, Chapter) for block in document.blocks)
    assert chapters == (0 if count == 1 else count)


def test_what_could_not_be_read_and_the_period_are_named() -> None:
    """A reader must know what is not in it."""
    report = report_on()
    report.unreadable.append(("some/trail", "no records"))
    report.empty = 2
    report.period = Period("2026-11-01", "2026-11-02")
    words = read_words(describe_report(report).blocks)
    assert "some/trail: no records" in words
    assert "2 trails had nothing in the chosen time" in words
    assert "from 2026-11-01 on" in words
    assert "before 2026-11-02" in words
    assert "There is nothing to report." in words


def run_session(first: float) -> object:
    denial = answer("guard", "deny", reason="no")
    return gather(
        prompt(first, "go"), call(first + 1, "Bash", {}, denial), end(first + 2), folder="/home/ann"
    )


def test_totals_days_hooks_and_sessions_are_told() -> None:
    """In sentences and tables; which sessions have no chapter is said."""
    report = report_on(*(run_session(n * 10) for n in range(3)), chapters=2)  # type: ignore[arg-type]
    words = read_words(describe_overview(report))
    assert "3 sessions ran on 15 November 2026" in words
    assert "in /home/ann. In 3 turns, agents called tools 3 times: Bash 3." in words
    assert "3\ndenied" in words
    assert "2026-11-15\n3\n3\n3\n0\n0\n0" in words
    assert "guard\n3\n3" in words
    assert "The newest 2 have a chapter below; 1 older one without." in words


def keep(count: int = 1, **more: object) -> BoundedList[Contradiction]:
    kept: BoundedList[Contradiction] = BoundedList(2)
    fields = {
        "time": "2026-11-15T09:00:00Z",
        "turn": 1,
        "session": "s1",
        "hook": "guard",
        "tool": "Bash",
        "id": "c1",
        "about": "rm x",
        "reason": "never",
        "agent": "claude",
        "shown": "result",
        "success": True,
        **more,
    }
    for _ in range(count):
        kept.add(Contradiction(**fields))  # type: ignore[arg-type]
    return kept


def test_each_says_what_who_denied_it_and_who_shows_it() -> None:
    """Nothing is said if there is none."""
    words = read_words(describe_contradictions(keep()))
    assert "1 call that hooks denied ran all the same." in words
    assert "Bash rm x, denied by guard (never): claude reports that it succeeded" in words
    assert "session" not in words.split("\n", 2)[-1]
    assert list(describe_contradictions(keep(0))) == []


def test_of_many_some_are_left_out_and_counted() -> None:
    """With the session, where there are several; one that failed has run as well."""
    kept = keep(5, success=False, hook="", agent="claude")
    words = read_words(describe_contradictions(kept, {"s1": "s1-short"}))
    assert "5 calls that hooks denied ran all the same." in words
    assert "in session s1-short" in words
    assert "denied (never): claude reports that it failed" in words
    assert "3 more" in words


@pytest.mark.parametrize("format", ["md", "html", "json"])
def test_every_format_begins_with_it(format: Format) -> None:
    """Before anything else that a report says."""
    denied = call(2, "Bash", {"command": "rm x"}, answer("guard", "deny", reason="no"))
    body = {"tool": "Bash", "id": "c1", "agent": "claude", "shown": "result", "success": True}
    note = Note(**place(3, "tool:post"), hook="guard", body=make_body("denial_contradicted", body))
    report = report_on(gather(prompt(1, "go"), denied, note))
    text = render_report(report, format)
    first = text.index("contradictions" if format == "json" else "ran all the same")
    assert first < text.index('"made"' if format == "json" else "The session")
    assert first < text.index("guard")
    document = describe_report(report)
    assert "ran all the same" in read_words(document.blocks[1:2])


def test_every_section_can_be_jumped_to() -> None:
    """Each link has its heading, and chapters do not share them."""
    blocks = [*describe_session(tell_whole_story(), 2)]
    links = {
        part.anchor
        for block in blocks
        if isinstance(block, Paragraph)
        for part in block.parts
        if isinstance(part, Link)
    }
    anchors = {block.anchor for block in blocks if isinstance(block, Heading) and block.anchor}
    assert links == anchors == {make_anchor(2, key) for key, _, _ in SECTIONS}


def test_what_went_wrong_comes_early() -> None:
    """Before the sections."""
    words = read_words(describe_session(tell_whole_story("oops"), 1))
    assert words.index("What went wrong (1)") < words.index("\nTime line\ns1-time")


def summarize(session: SessionFigures) -> str:
    return read_words(describe_summary(session))


def test_the_summary_says_who_when_where_and_how_it_ended() -> None:
    """In plain sentences."""
    session = gather(
        prompt(1, "go"),
        respond(2, "claude-sonnet-4", input_tokens=1_000_000),
        run(3, "Bash", {"command": "make"}),
        call(4, "Write", {"file_path": "x"}, answer("guard", "deny", reason="no"), id="c2"),
        end(11),
        folder="/home/ann",
        bundle="shop",
        bundle_file="amplifier.yaml",
    )
    words = summarize(session)
    assert "ran on 15 November 2026 from 09:00:01 to 09:00:11 UTC (10 s) in /home/ann" in words
    assert "with the bundle shop from amplifier.yaml. It ended as planned." in words
    assert "In 1 turn, the agent called tools twice: Bash 1, Write 1." in words
    assert "Of these calls, 1 succeeded and 1 was denied by a hook." in words
    assert "Models used: claude-sonnet-4; 1,000,000 tokens, about $3.00." in words


def test_what_was_denied_asked_and_changed_is_named() -> None:
    """The three things that matter, with their reasons."""
    session = gather(
        call(1, "Bash", {"command": "rm -r /"}, answer("guard", "deny", reason="not here")),
        call(2, "Bash", {"command": "ls"}, answer("tidy", "modify"), id="c2"),
        ask(3),
        decide(4, True),
    )
    words = summarize(session)
    assert "Denied by guard: Bash rm -r /: not here" in words
    assert "Asked by guard: Allow Write? → allowed by ann" in words
    assert "Changed by tidy: Bash ls" in words
    assert "1\nasked\n1 allowed" in words


GO = prompt(1, "go")
FAILING = call(1, "Bash", {}, answer("guard", error="boom"))


@pytest.mark.parametrize(
    ("session", "words"),
    [
        (gather(GO, end(2, "error")), "It ended with an error."),
        (gather(GO, end(2, "odd")), "It ended: odd."),
        (gather(GO), "may still run"),
        # Whoever reads of denials must know that they had no effect.
        (gather(GO, shadow=True), "shadow mode"),
        # Figures of calls are too small.
        (gather(GO, level="decisions"), "decisions alone"),
        # Nobody takes a rule for a person.
        (gather(ask(1), decide(2, False, by="rule:deny")), "refused by the rule deny"),
        # A hook that fails guards nothing.
        (gather(FAILING), "hooks failed once"),
    ],
)
def test_the_summary_says_what_a_reader_must_know(session: SessionFigures, words: str) -> None:
    """The end in words, also one that is not known, and what the figures do not tell."""
    assert words in summarize(session)


def test_a_trail_that_cannot_be_relied_on_is_said_before_everything_else() -> None:
    """Whatever follows may be made up."""
    doubtful, fine = gather(prompt(1, "go")), gather(prompt(1, "go"))
    fine.proof = Proof(Report("consistent", "log", 0, 1))
    assert summarize(doubtful).startswith("The trail could not be verified.")
    assert summarize(fine).startswith("The session")


def test_every_kind_of_thing_has_a_lane() -> None:
    """Turns, models, tools, waits and denials; without anything that takes time, a sentence."""
    (chart,) = describe_timeline(tell_whole_story())
    assert isinstance(chart, Timeline)
    titles = [lane.title for lane in chart.lanes]
    assert titles == ["Turns", "Model", "Tools", "Waiting for people", "Denied"]
    assert all(lane.spans for lane in chart.lanes)
    assert "nothing that takes time" in read_words(describe_timeline(gather()))


def test_models_have_their_tokens_and_their_cost() -> None:
    """The price is a list price, and the report says so; without usage no figure is made up."""
    session = gather(
        prompt(1, "a", turn=1),
        respond(2, "claude-sonnet-4", input_tokens=1_000_000),
        respond(3, "house-model", input_tokens=5),
    )
    words = read_words(describe_spending(session))
    assert "claude-sonnet-4\n1\n1,000,000\n0\n0\n1,000,000\n$3.00" in words
    assert "house-model\n1\n5\n0\n0\n5\nnot known" in words
    assert "not a bill" in words
    assert "For 5 tokens there is no price" in words
    assert "does not say" in read_words(describe_spending(gather()))


def test_turns_are_compared() -> None:
    """If there are several."""
    first = [prompt(1, "a"), respond(2, "local", input_tokens=5)]
    one = gather(*first)
    two = gather(*first, prompt(3, "b"), respond(4, "local", input_tokens=7))
    assert not any(isinstance(block, Bars) for block in describe_spending(one))
    (chart,) = (block for block in describe_spending(two) if isinstance(block, Bars))
    assert [bar.values for bar in chart.bars] == [(5.0,), (7.0,)]
