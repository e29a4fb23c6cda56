"""What happened when, as lanes on a line of time."""

from __future__ import annotations

from collections.abc import Iterator

from amplifier_hooks.insight.reports.model import SessionFigures
from amplifier_hooks.insight.reports.telling.document import Block, Lane, Paragraph, Timeline


def tell_timeline(session: SessionFigures) -> Iterator[Block]:
    """The time line of a session."""
    lanes = tuple(lane for lane in _list_lanes(session) if lane.spans)
    if not lanes:
        yield Paragraph(("The trail tells of nothing that takes time.",))
        return
    note = "Times are UTC. Long pauses are shortened, and marked where they were."
    yield Timeline("Time line", lanes, note)


def _list_lanes(session: SessionFigures) -> Iterator[Lane]:
    for title, tone, spans in (
        ("Turns", "dim", session.working),
        ("Model", "note", session.thinking),
        ("Tools", "good", session.running),
        ("Waiting for people", "warn", session.questions.waits),
        ("Denied", "bad", session.denying),
    ):
        yield Lane(title, tone, tuple(spans))
