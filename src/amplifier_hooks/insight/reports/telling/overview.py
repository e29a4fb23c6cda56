"""The beginning of a report on several sessions: what they did together."""

from __future__ import annotations

from collections.abc import Iterator

from amplifier_hooks.insight.reports.model import ReportFigures, Row, Totals
from amplifier_hooks.insight.reports.telling.approvals import STATES
from amplifier_hooks.insight.reports.telling.chapter import make_anchor
from amplifier_hooks.insight.reports.telling.document import (
    Bar,
    Bars,
    Block,
    Bullets,
    Code,
    Column,
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
)
from amplifier_hooks.insight.reports.telling.hooks import tell_figures
from amplifier_hooks.insight.reports.telling.proof import TONES
from amplifier_hooks.insight.reports.telling.spending import tell_models
from amplifier_hooks.insight.reports.telling.times import format_minute, format_span
from amplifier_hooks.insight.reports.telling.words import (
    format_count,
    format_money,
    format_seconds,
    format_times,
    join_words,
    list_counts,
)

_MOST_DAYS = 62
_DAY_SERIES = (("denied", "bad"), ("asked", "warn"), ("changed", "note"))


def tell_overview(report: ReportFigures) -> Iterator[Block]:
    """Totals, days, hooks, models, proofs, and the table of sessions."""
    totals = report.totals
    yield Paragraph(tuple(_tell_work(totals)))
    yield Tiles(tuple(_list_tiles(totals)))
    yield Paragraph(tuple(_tell_proofs(totals)))
    yield Heading(2, "Day by day", "days")
    yield from _tell_days(totals)
    yield Heading(2, "What hooks did", "hooks")
    yield from tell_figures(totals.hooks)
    yield Heading(2, "Cost and tokens", "cost")
    yield from tell_models(totals.spending)
    yield Heading(2, "Sessions", "sessions")
    yield from _tell_sessions(report)


def _tell_work(totals: Totals) -> Iterator[Inline]:
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


def _list_tiles(totals: Totals) -> Iterator[Tile]:
    done, asked = totals.interventions, totals.questions
    yield Tile(f"{done['denial']:,}", "denied", "times that a hook said no", "bad")
    words = [
        f"{asked[name]:,} {word}"
        for name, word in (("allowed", "allowed"), ("refused", "refused"), ("expired", "expired"))
    ]
    words += [f"{asked[name]:,} {word}" for name, word in STATES.items() if asked[name]]
    yield Tile(f"{asked['asked']:,}", "asked", join_words(words), "warn")
    yield Tile(f"{done['change']:,}", "changed", "times that a hook changed something", "note")


def _tell_proofs(totals: Totals) -> Iterator[Inline]:
    yield "The trails: "
    for index, (verdict, count) in enumerate(totals.verdicts.most_common()):
        yield from (", " if index else "", Marked(f"{count:,} {verdict}", TONES[verdict]))
    yield ". What that means stands in each chapter."


def _tell_days(totals: Totals) -> Iterator[Block]:
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


def _tell_sessions(report: ReportFigures) -> Iterator[Block]:
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
        _make_row(row, shorts[row.id], index, report) for index, row in enumerate(report.rows)
    )
    yield Table(columns, rows)
    if points := tuple(_list_left_out(report)):
        yield Bullets(points)


def _make_row(row: Row, short: str, index: int, report: ReportFigures) -> tuple[Parts, ...]:
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


def _list_left_out(report: ReportFigures) -> Iterator[Parts]:
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
