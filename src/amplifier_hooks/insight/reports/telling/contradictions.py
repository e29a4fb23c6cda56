"""Calls that were denied and ran all the same: nothing in a report matters more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from amplifier_hooks.insight.reports.excerpts import Kept
from amplifier_hooks.insight.reports.model import Contradiction
from amplifier_hooks.insight.reports.telling.document import (
    Block,
    Bullets,
    Code,
    Marked,
    Paragraph,
    Parts,
    Quoted,
)
from amplifier_hooks.insight.reports.telling.times import format_minute
from amplifier_hooks.insight.reports.telling.words import format_count, say_left_out


def tell_contradictions(
    kept: Kept[Contradiction], sessions: Mapping[str, str] | None = None
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
    yield Bullets(tuple(_tell_one(one, sessions or {}) for one in kept))
    if kept.left_out:
        yield Paragraph(tuple(say_left_out(kept.left_out, "more")), "dim")


def _tell_one(one: Contradiction, sessions: Mapping[str, str]) -> Parts:
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
