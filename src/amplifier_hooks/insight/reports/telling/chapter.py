"""The chapter of one session."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from amplifier_hooks.insight.reports.model import SessionFigures
from amplifier_hooks.insight.reports.telling.actions import tell_actions
from amplifier_hooks.insight.reports.telling.approvals import tell_approvals
from amplifier_hooks.insight.reports.telling.document import (
    Block,
    Bullets,
    Code,
    Heading,
    Link,
    Marked,
    Paragraph,
    Parts,
    Quoted,
)
from amplifier_hooks.insight.reports.telling.hooks import tell_hooks
from amplifier_hooks.insight.reports.telling.proof import tell_proof
from amplifier_hooks.insight.reports.telling.spending import tell_spending
from amplifier_hooks.insight.reports.telling.summary import tell_summary
from amplifier_hooks.insight.reports.telling.timeline import tell_timeline
from amplifier_hooks.insight.reports.telling.times import format_clock
from amplifier_hooks.insight.reports.telling.unknown import tell_unknown
from amplifier_hooks.insight.reports.telling.words import say_left_out

SECTIONS: tuple[tuple[str, str, Callable[[SessionFigures], Iterator[Block]]], ...] = (
    ("time", "Time line", tell_timeline),
    ("agent", "What the agent did", tell_actions),
    ("hooks", "What hooks did", tell_hooks),
    ("approvals", "Who approved what", tell_approvals),
    ("cost", "Cost and tokens", tell_spending),
    ("proof", "What the trail proves", tell_proof),
    ("unknown", "What is not known", tell_unknown),
)


def tell_chapter(session: SessionFigures, number: int) -> Iterator[Block]:
    """Everything about one session; its summary comes first."""
    yield from tell_summary(session)
    yield Paragraph(tuple(_list_links(number)))
    yield from _tell_errors(session)
    for key, title, tell in SECTIONS:
        yield Heading(3, title, make_anchor(number, key))
        yield from tell(session)


def make_anchor(number: int, key: str = "") -> str:
    """The name of a place in a report."""
    return f"s{number}-{key}" if key else f"s{number}"


def _list_links(number: int) -> Iterator[str | Link]:
    for index, (key, title, _) in enumerate(SECTIONS):
        yield from (" · " if index else "", Link(title, make_anchor(number, key)))


def _tell_errors(session: SessionFigures) -> Iterator[Block]:
    if not session.errors.count:
        return
    yield Heading(4, f"What went wrong ({session.errors.count:,})")
    items: list[Parts] = [
        (Marked(format_clock(one.time), "dim"), " ", Code(one.event), ": ", Quoted(one.reason))
        for one in session.errors
    ]
    yield Bullets(tuple(items))
    if session.errors.left_out:
        yield Paragraph(tuple(say_left_out(session.errors.left_out, "error")), "dim")
