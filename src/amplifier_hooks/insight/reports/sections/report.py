"""A report from its title to its last chapter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from amplifier_hooks.insight.reports.document import (
    Bar,
    Bars,
    Block,
    Bullets,
    Chapter,
    Code,
    Column,
    Document,
    Heading,
    Inline,
    Link,
    Marked,
    Paragraph,
    Parts,
    Quoted,
    Table,
    Tile,
    Tiles,
    describe_left_out,
    format_clock,
    format_count,
    format_date,
    format_minute,
    format_money,
    format_seconds,
    format_span,
    format_times,
    join_words,
    list_counts,
)
from amplifier_hooks.insight.reports.excerpts import BoundedList
from amplifier_hooks.insight.reports.model import Contradiction, ReportFigures, Row, Totals
from amplifier_hooks.insight.reports.sections.actions import STATES
from amplifier_hooks.insight.reports.sections.chapter import (
    describe_models,
    describe_session,
    make_anchor,
)
from amplifier_hooks.insight.reports.sections.hooks import describe_hook_figures
from amplifier_hooks.insight.reports.sections.proof import TONES


def describe_contradictions(
    kept: BoundedList[Contradiction], sessions: Mapping[str, str] | None = None
) -> Iterator[Block]:
    """What was denied, by whom, and who shows a result of it; nothing if there is none.

    `sessions` has the ids of sessions as they are shown, if there are several.
    """
    if not kept.count:
        return
    words = format_count(kept.count, "call")
    yield Paragraph(
        (
            Marked(f"{words} that hooks denied ran all the same.", "bad"),
            " The agent's program showed a result for each of them: something there does not "
            "obey what it is told.",
        ),
        "bad",
    )
    yield Bullets(tuple(_describe_contradiction(one, sessions or {}) for one in kept))
    if kept.left_out:
        yield Paragraph(tuple(describe_left_out(kept.left_out, "more")), "dim")


def _describe_contradiction(one: Contradiction, sessions: Mapping[str, str]) -> Parts:
    named = sessions.get(one.session, one.session) if sessions else ""
    where: Parts = (" in session ", Code(named)) if named else ()
    about: Parts = (" ", Code(one.about)) if one.about else ()
    by: Parts = (", denied by ", Code(one.hook)) if one.hook else (", denied",)
    reason: Parts = (" (", Quoted(one.reason), ")") if one.reason else ()
    shown = "reports that it succeeded" if one.success else "reports that it failed"
    who: Parts = (": ", Code(one.agent), f" {shown}") if one.agent else ()
    return (
        Marked(format_minute(one.time), "dim"),
        *where,
        " ",
        Marked(one.tool or "?"),
        *about,
        *by,
        *reason,
        *who,
    )


_MOST_DAYS = 62
_DAY_SERIES = (("denied", "bad"), ("asked", "warn"), ("changed", "note"))


def describe_overview(report: ReportFigures) -> Iterator[Block]:
    """Totals, days, hooks, models, proofs, and the table of sessions."""
    totals = report.totals
    yield Paragraph(tuple(_describe_totals(totals)))
    yield Tiles(tuple(_list_total_tiles(totals)))
    yield Paragraph(tuple(_describe_proofs(totals)))
    yield Heading(2, "Day by day", "days")
    yield from _describe_days(totals)
    yield Heading(2, "What hooks did", "hooks")
    yield from describe_hook_figures(totals.hooks)
    yield Heading(2, "Cost and tokens", "cost")
    yield from describe_models(totals.spending)
    yield Heading(2, "Sessions", "sessions")
    yield from _describe_sessions(report)


def _describe_totals(totals: Totals) -> Iterator[Inline]:
    yield f"{format_count(totals.sessions, 'session')} ran {format_span(totals.first, totals.last)}"
    folders = [name for name, _ in list_counts(totals.folders, 3) if name]
    for index, folder in enumerate(folders):
        yield from (", " if index else " in ", "others" if folder == "others" else Code(folder))
    calls = totals.calls.total()
    yield f". In {format_count(totals.turns, 'turn')}, agents called tools "
    yield format_times(calls)
    for index, (name, count) in enumerate(list_counts(totals.tools)):
        yield from (", " if index else ": ", Code(name), f" {count:,}")
    yield "."
    if totals.waited:
        yield f" They waited {format_seconds(totals.waited)} for people in all."


def _list_total_tiles(totals: Totals) -> Iterator[Tile]:
    done = totals.interventions
    asked = totals.questions
    yield Tile(f"{done['denial']:,}", "denied", "times that a hook said no", "bad")
    words = [
        f"{asked[name]:,} {word}"
        for name, word in (("allowed", "allowed"), ("refused", "refused"), ("expired", "expired"))
    ]
    words += [f"{asked[name]:,} {word}" for name, word in STATES.items() if asked[name]]
    yield Tile(f"{asked['asked']:,}", "asked", join_words(words), "warn")
    yield Tile(f"{done['change']:,}", "changed", "times that a hook changed something", "note")


def _describe_proofs(totals: Totals) -> Iterator[Inline]:
    yield "The trails: "
    for index, (verdict, count) in enumerate(totals.verdicts.most_common()):
        yield from (", " if index else "", Marked(f"{count:,} {verdict}", TONES[verdict]))
    yield ". What that means stands in each chapter."


def _describe_days(totals: Totals) -> Iterator[Block]:
    days = sorted(totals.days.items())
    shown = days[-_MOST_DAYS:]
    bars = tuple(
        Bar(date, (float(day.denied), float(day.asked), float(day.changed))) for date, day in shown
    )
    yield Bars("What hooks did on each day", _DAY_SERIES, bars)
    titles = ("Sessions", "Calls", "Denied", "Asked", "Changed", "Tokens")
    columns = (Column("Day", short=True), *(Column(title, number=True) for title in titles))
    rows = tuple(
        ((date,), *((f"{count:,}",) for count in _list_figures(day))) for date, day in shown
    )
    yield Table(columns, rows)
    if left := len(days) - len(shown):
        verb = "is" if left == 1 else "are"
        yield Paragraph((f"{format_count(left, 'earlier day')} {verb} left out here.",), "dim")


def _list_figures(day: object) -> Iterator[int]:
    for name in ("sessions", "calls", "denied", "asked", "changed", "tokens"):
        yield getattr(day, name)


def _describe_sessions(report: ReportFigures) -> Iterator[Block]:
    titles = ("Turns", "Calls", "Denied", "Asked", "Changed", "Tokens", "Cost")
    columns = (
        Column("Session"),
        Column("Started", short=True),
        *(Column(title, number=True) for title in titles),
        Column("End", short=True),
        Column("Trail", short=True),
    )
    shorts = report.shorten_ids()
    rows = tuple(
        _make_session_row(row, shorts[row.id], index, report)
        for index, row in enumerate(report.rows)
    )
    yield Table(columns, rows)
    if points := tuple(_list_rows_left_out(report)):
        yield Bullets(points)


def _make_session_row(row: Row, short: str, index: int, report: ReportFigures) -> tuple[Parts, ...]:
    name: Parts = (Quoted(row.name), " ") if row.name else ()
    has_chapter = index < len(report.chapters)
    own: Parts = (Link(short, make_anchor(index + 1)),) if has_chapter else (Code(short),)
    figures = (row.turns, row.calls, row.denied, row.asked, row.changed, row.tokens)
    return (
        (*name, *own),
        (format_minute(row.first),),
        *((f"{figure:,}" if figure else "–",) for figure in figures),
        (format_money(row.money) if row.money else "–",),
        (row.ending[:20],) if row.ending else ("not told",),
        (Marked(row.verdict, TONES[row.verdict]),),
    )


def _list_rows_left_out(report: ReportFigures) -> Iterator[Parts]:
    if rows := report.totals.sessions - len(report.rows):
        yield (f"{format_count(rows, 'older session')} counted above, and left out of this table.",)
    if chapters := len(report.rows) - len(report.chapters):
        yield (
            f"The newest {len(report.chapters):,} have a chapter below; "
            f"{format_count(chapters, 'older one')} without. "
            "To read more: ",
            Code("amplifier report SESSION"),
            ", or more of them with ",
            Code("--chapters"),
            ".",
        )


def describe_report(report: ReportFigures) -> Document:
    """The whole report, as a document."""
    count = report.totals.sessions
    if count == 1 and len(report.chapters) == 1:
        [chapter] = report.chapters
        title = f"Session {report.shorten_ids()[chapter.id]}"
        return Document(title, tuple(_describe_single(report, title)))
    title = f"{format_count(count, 'session')}"
    return Document(title, tuple(_describe_several(report, title)))


def _describe_single(report: ReportFigures, title: str) -> Iterator[Block]:
    yield Heading(1, title)
    yield from describe_contradictions(report.totals.contradictions)
    yield from describe_session(report.chapters[0], 1)
    yield from _describe_trouble(report)
    yield _describe_origin(report)


def _describe_several(report: ReportFigures, title: str) -> Iterator[Block]:
    yield Heading(1, title)
    shorts = report.shorten_ids()
    yield from describe_contradictions(report.totals.contradictions, shorts)
    yield from _describe_trouble(report)
    if report.totals.sessions:
        yield from describe_overview(report)
    else:
        yield Paragraph(("There is nothing to report.",))
    for index, session in enumerate(report.chapters):
        began = format_minute(session.first)
        heading = Heading(2, f"Session {shorts[session.id]}, {began}", make_anchor(index + 1))
        denied = describe_contradictions(session.contradictions)
        yield Chapter((heading, *denied, *describe_session(session, index + 1)))
    yield _describe_origin(report)


def _describe_trouble(report: ReportFigures) -> Iterator[Block]:
    if report.unreadable:
        words = format_count(len(report.unreadable), "trail")
        yield Paragraph(
            (f"{words} could not be read, and nothing of them is in this report:",), "bad"
        )
        items: list[Parts] = [
            (Code(path), ": ", Quoted(why)) for path, why in report.unreadable[:20]
        ]
        yield Bullets(tuple(items))
    if report.empty:
        words = format_count(report.empty, "trail")
        yield Paragraph((f"{words} had nothing in the chosen time, and were left out.",), "dim")


def _describe_origin(report: ReportFigures) -> Block:
    parts: list[Inline] = [
        f"Made by amplifier report on {format_date(report.made)} at {format_clock(report.made)} "
        "UTC from what the trails say. All times are UTC.",
    ]
    if report.period.since:
        parts.append(f" Only what happened from {report.period.since} on is counted.")
    if report.period.until:
        parts.append(f" Only what happened before {report.period.until} is counted.")
    return Paragraph(tuple(parts), "dim")
