"""The beginning of a chapter: who, when, where, how it ended, and the three things that matter."""

from __future__ import annotations

from collections.abc import Iterator

from amplifier_hooks.insight.reports.excerpts import measure
from amplifier_hooks.insight.reports.model import Intervention, SessionFigures
from amplifier_hooks.insight.reports.telling.approvals import STATES, name_decider
from amplifier_hooks.insight.reports.telling.document import (
    Block,
    Bullets,
    Code,
    Inline,
    Marked,
    Paragraph,
    Parts,
    Quoted,
    Tile,
    Tiles,
    Tone,
)
from amplifier_hooks.insight.reports.telling.proof import describe_verdict
from amplifier_hooks.insight.reports.telling.times import format_span
from amplifier_hooks.insight.reports.telling.words import (
    format_count,
    format_money,
    format_seconds,
    format_times,
    join_words,
    list_counts,
)

_ENDINGS = {
    "complete": "It ended as planned.",
    "user_exit": "The person ended it.",
    "error": "It ended with an error.",
    "timeout": "It ended because its time was up.",
    "denied": "A hook did not let it start.",
    "suspended": "It was put aside, to be resumed later.",
    "": "The trail does not tell of its end: it may still run, or its process was stopped.",
}
_EXAMPLES = 3


def tell_summary(session: SessionFigures) -> Iterator[Block]:
    """The sentences at the top of a chapter, and the figures that matter."""
    verdict = Paragraph(describe_verdict(session.proof))
    is_doubtful = session.proof.verdict in ("tampered", "unreadable")
    if is_doubtful:
        yield verdict
    yield Paragraph(tuple(_tell_place(session)))
    yield Paragraph(tuple(_tell_work(session)))
    yield Tiles(tuple(_list_tiles(session)))
    if points := tuple(_list_points(session)):
        yield Bullets(points)
    if not is_doubtful:
        yield verdict


def _tell_place(session: SessionFigures) -> Iterator[Inline]:
    header = session.header
    yield "The session "
    if session.name:
        yield from (Quoted(session.name), " ")
    yield from (Code(session.id), f" ran {format_span(session.first, session.last)}")
    if (took := measure(session.first, session.last)) is not None:
        yield f" ({format_seconds(took)})"
    if header.folder:
        yield from (" in ", Code(header.folder))
    if header.bundle:
        yield from (", with the bundle ", Code(header.bundle))
        if header.bundle_file:
            yield from (" from ", Code(header.bundle_file))
    yield ". "
    if session.resumed:
        yield (
            f"It was resumed {session.resumed} times. "
            if session.resumed > 1
            else ("It continued an earlier one. ")
        )
    yield from _tell_ending(session)
    yield from _tell_limits(session)


def _tell_limits(session: SessionFigures) -> Iterator[Inline]:
    """What a reader must know before the figures."""
    if session.header.shadow:
        yield " "
        yield Marked("Hooks were in shadow mode: they were asked, and had no effect.", "warn")
    if session.header.level == "decisions":
        yield " Its trail has decisions alone, so what is told of turns and calls is not complete."


def _tell_ending(session: SessionFigures) -> Iterator[Inline]:
    known = _ENDINGS.get(session.ending)
    if known is not None:
        yield known
    else:
        yield from ("It ended: ", Quoted(session.ending), ".")


def _tell_work(session: SessionFigures) -> Iterator[Inline]:
    calls = session.call_count
    yield f"In {format_count(session.turns.count, 'turn')}, the agent called "
    if not calls:
        yield "no tools"
    else:
        yield f"tools {format_times(calls)}: "
        for index, (name, count) in enumerate(list_counts(session.tools)):
            yield from (", " if index else "", Code(name), f" {count:,}")
    yield ". "
    if calls:
        words = [f"{count:,} {word}" for word, count in _list_outcomes(session)]
        yield f"Of these calls, {join_words(words)}. "
    spent = session.spending.total
    if spent.tokens:
        yield "Models used: "
        for index, name in enumerate(session.spending.models):
            yield from (", " if index else "", Code(name))
        money = f", about {format_money(spent.money)}" if spent.money else ""
        yield f"; {spent.tokens:,} tokens{money}. "
    if session.agents:
        yield f"{format_count(len(session.agents), 'sub-agent')} took part."


def _list_outcomes(session: SessionFigures) -> Iterator[tuple[str, int]]:
    words = {
        "done": "succeeded",
        "failed": "failed",
        "denied": "were denied by a hook",
        "refused": "were not approved",
        "stopped": "were stopped",
        "unknown": "have an unknown outcome",
        "running": "have an unknown outcome",
        "not run": "did not run",
        "not started": "were not started, as far as the trail tells",
    }
    for outcome, word in words.items():
        if count := session.calls[outcome]:
            yield (
                word if count > 1 else word.replace("were ", "was ").replace("have ", "has "),
                count,
            )


def _list_tiles(session: SessionFigures) -> Iterator[Tile]:
    questions = session.questions
    yield Tile(
        f"{session.denied:,}", "denied", "times that a hook said no", _tone(session.denied, "bad")
    )
    parts = [
        f"{count:,} {word}"
        for count, word in (
            (questions.allowed, "allowed"),
            (questions.refused, "refused"),
            (questions.expired, "expired"),
            (questions.cancelled, "withdrawn"),
            (questions.not_run, "did not run"),
            (questions.not_known, "not known"),
            (questions.open, "unanswered"),
        )
        if count
    ]
    yield Tile(
        f"{questions.asked:,}",
        "asked",
        join_words(parts) if parts else "questions to people",
        _tone(questions.asked, "warn"),
    )
    yield Tile(
        f"{session.changed:,}",
        "changed",
        "times that a hook changed something",
        _tone(session.changed, "note"),
    )


def _tone(count: int, tone: Tone) -> Tone | None:
    """The tile of a zero is quiet."""
    return tone if count else None


def _list_points(session: SessionFigures) -> Iterator[Parts]:
    kept = session.interventions
    for one in [*kept["denial"]][:_EXAMPLES]:
        yield (Marked("Denied", "bad"), " by ", Code(one.hook), ": ", *_describe(one))
    yield from _list_questions(session)
    for one in [*kept["change"]][:_EXAMPLES]:
        yield (Marked("Changed", "note"), " by ", Code(one.hook), ": ", *_describe(one))
    if failures := kept["failure"].count:
        words = format_times(failures)
        yield (Marked("Failed", "warn"), f": hooks failed {words}; see below.")
    if shadows := kept["shadow"].count:
        words = f": hooks would have intervened {format_times(shadows)}; see below."
        yield (Marked("Shadow mode", "note"), words)


def _describe(one: Intervention) -> Parts:
    about: Parts = (Code(one.about),) if one.about else (Code(one.event),)
    return (*about, ": ", Quoted(one.reason)) if one.reason else about


def _list_questions(session: SessionFigures) -> Iterator[Parts]:
    notable = [one for one in session.questions.kept if one.outcome != "remembered"]
    for one in notable[:_EXAMPLES]:
        first = one.prompt.text.strip().split("\n", 1)[0]
        who: Parts = (" by ", *name_decider(one.by)) if one.by else ()
        if one.to and not one.by:
            who = (" (handed over to ", Code(one.to), ")")
        yield (
            Marked("Asked", "warn"),
            " by ",
            Code(one.hook),
            ": ",
            Quoted(first or one.tool or one.event),
            f" → {STATES.get(one.outcome, one.outcome)}",
            *who,
        )
