"""A report from its title to its last chapter."""

from __future__ import annotations

from collections.abc import Iterator

from amplifier_hooks.insight.reports.model import ReportFigures
from amplifier_hooks.insight.reports.telling.chapter import make_anchor, tell_chapter
from amplifier_hooks.insight.reports.telling.contradictions import tell_contradictions
from amplifier_hooks.insight.reports.telling.document import (
    Block,
    Bullets,
    Chapter,
    Code,
    Document,
    Heading,
    Inline,
    Paragraph,
    Parts,
    Quoted,
)
from amplifier_hooks.insight.reports.telling.overview import tell_overview
from amplifier_hooks.insight.reports.telling.times import format_clock, format_date, format_minute
from amplifier_hooks.insight.reports.telling.words import format_count


def tell_report(report: ReportFigures) -> Document:
    """The whole report, as a document."""
    count = report.totals.sessions
    if count == 1 and len(report.chapters) == 1:
        [chapter] = report.chapters
        title = f"Session {report.shorten_ids()[chapter.id]}"
        return Document(title, tuple(_tell_one(report, title)))
    title = f"{format_count(count, 'session')}"
    return Document(title, tuple(_tell_several(report, title)))


def _tell_one(report: ReportFigures, title: str) -> Iterator[Block]:
    yield Heading(1, title)
    yield from tell_contradictions(report.totals.contradictions)
    yield from tell_chapter(report.chapters[0], 1)
    yield from _tell_trouble(report)
    yield _tell_origin(report)


def _tell_several(report: ReportFigures, title: str) -> Iterator[Block]:
    yield Heading(1, title)
    shorts = report.shorten_ids()
    yield from tell_contradictions(report.totals.contradictions, shorts)
    yield from _tell_trouble(report)
    if report.totals.sessions:
        yield from tell_overview(report)
    else:
        yield Paragraph(("There is nothing to report.",))
    for index, session in enumerate(report.chapters):
        began = format_minute(session.first)
        heading = Heading(2, f"Session {shorts[session.id]}, {began}", make_anchor(index + 1))
        denied = tell_contradictions(session.contradictions)
        yield Chapter((heading, *denied, *tell_chapter(session, index + 1)))
    yield _tell_origin(report)


def _tell_trouble(report: ReportFigures) -> Iterator[Block]:
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


def _tell_origin(report: ReportFigures) -> Block:
    parts: list[Inline] = [
        f"Made by amplifier report on {format_date(report.made)} at {format_clock(report.made)} "
        "UTC from what the trails say. All times are UTC.",
    ]
    if report.period.since:
        parts.append(f" Only what happened from {report.period.since} on is counted.")
    if report.period.until:
        parts.append(f" Only what happened before {report.period.until} is counted.")
    return Paragraph(tuple(parts), "dim")
