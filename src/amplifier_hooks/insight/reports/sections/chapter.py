"""The chapter of one session: its summary, and the sections below it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from amplifier_hooks.insight.reports.document import (
    Bar,
    Bars,
    Block,
    Bullets,
    Code,
    Column,
    Heading,
    Inline,
    Lane,
    Link,
    Marked,
    Paragraph,
    Parts,
    Quoted,
    Table,
    Tile,
    Tiles,
    Timeline,
    Tone,
    describe_left_out,
    format_clock,
    format_count,
    format_money,
    format_seconds,
    format_span,
    format_times,
    join_words,
    list_counts,
)
from amplifier_hooks.insight.reports.excerpts import measure
from amplifier_hooks.insight.reports.model import Intervention, SessionFigures, Spending, Spent
from amplifier_hooks.insight.reports.sections.actions import (
    STATES,
    describe_actions,
    describe_approvals,
    format_decider,
)
from amplifier_hooks.insight.reports.sections.hooks import describe_hooks
from amplifier_hooks.insight.reports.sections.proof import (
    describe_proof,
    describe_unknown,
    describe_verdict,
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


def describe_summary(session: SessionFigures) -> Iterator[Block]:
    """The sentences at the top of a chapter, and the figures that matter."""
    verdict = Paragraph(describe_verdict(session.proof))
    is_doubtful = session.proof.verdict in ("tampered", "unreadable")
    if is_doubtful:
        yield verdict
    yield Paragraph(tuple(_describe_place(session)))
    yield Paragraph(tuple(_describe_work(session)))
    yield Tiles(tuple(_list_tiles(session)))
    if points := tuple(_list_points(session)):
        yield Bullets(points)
    if not is_doubtful:
        yield verdict


def _describe_place(session: SessionFigures) -> Iterator[Inline]:
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
    if session.resumed > 1:
        yield f"It was resumed {session.resumed} times. "
    elif session.resumed:
        yield "It continued an earlier one. "
    yield from _describe_ending(session)
    yield from _describe_limits(session)


def _describe_limits(session: SessionFigures) -> Iterator[Inline]:
    """What a reader must know before the figures."""
    if session.header.shadow:
        yield " "
        yield Marked("Hooks were in shadow mode: they were asked, and had no effect.", "warn")
    if session.header.level == "decisions":
        yield " Its trail has decisions alone, so what is told of turns and calls is not complete."


def _describe_ending(session: SessionFigures) -> Iterator[Inline]:
    known = _ENDINGS.get(session.ending)
    if known is not None:
        yield known
    else:
        yield from ("It ended: ", Quoted(session.ending), ".")


def _describe_work(session: SessionFigures) -> Iterator[Inline]:
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
        who: Parts = (" by ", *format_decider(one.by)) if one.by else ()
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


def describe_timeline(session: SessionFigures) -> Iterator[Block]:
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


_MOST_BARS = 40


def describe_spending(session: SessionFigures) -> Iterator[Block]:
    """The table of models, and a chart of turns."""
    yield from describe_models(session.spending)
    turns = [turn for turn in session.turns if turn.tokens]
    if len(turns) > 1:
        bars = tuple(
            Bar(
                f"Turn {turn.number}{f', {turn.agent}' if turn.agent else ''}",
                (float(turn.tokens),),
                "" if turn.money is None else format_money(turn.money),
            )
            for turn in turns[:_MOST_BARS]
        )
        yield Bars("Tokens, turn by turn", (("tokens", "note"),), bars, alone=True)


def describe_models(spending: Spending) -> Iterator[Block]:
    """The table of models, and where the prices come from."""
    if not spending.models:
        yield Paragraph(("The trail does not say how many tokens were used.",))
        return
    titles = ("Requests", "Input", "of it cached", "Output", "Tokens", "Cost")
    columns = (Column("Model"), *(Column(title, number=True) for title in titles))
    rows = [_make_model_row((Code(name),), spent) for name, spent in spending.models.items()]
    total = spending.total
    if len(rows) > 1:
        rows.append(_make_model_row(("All",), total))
    yield Table(columns, tuple(rows))
    yield Paragraph((_explain_costs(total),), "dim")


def _make_model_row(name: Parts, spent: Spent) -> tuple[Parts, ...]:
    counts = (spent.requests, spent.input, spent.cached, spent.output, spent.tokens)
    money = "not known" if spent.unpriced and not spent.money else format_money(spent.money)
    more = " and more" if spent.unpriced and spent.money else ""
    return (name, *((f"{count:,}",) for count in counts), (f"{money}{more}",))


def _explain_costs(total: Spent) -> str:
    told = (
        "Costs are computed from rough list prices that are built into Amplifier, or are those "
        "that the provider reported; they are not a bill."
    )
    if not total.unpriced:
        return told
    return f"{told} For {total.unpriced:,} tokens there is no price: only the tokens are counted."


SECTIONS: tuple[tuple[str, str, Callable[[SessionFigures], Iterator[Block]]], ...] = (
    ("time", "Time line", describe_timeline),
    ("agent", "What the agent did", describe_actions),
    ("hooks", "What hooks did", describe_hooks),
    ("approvals", "Who approved what", describe_approvals),
    ("cost", "Cost and tokens", describe_spending),
    ("proof", "What the trail proves", describe_proof),
    ("unknown", "What is not known", describe_unknown),
)


def describe_session(session: SessionFigures, number: int) -> Iterator[Block]:
    """Everything about one session; its summary comes first."""
    yield from describe_summary(session)
    yield Paragraph(tuple(_list_links(number)))
    yield from _describe_errors(session)
    for key, title, tell in SECTIONS:
        yield Heading(3, title, make_anchor(number, key))
        yield from tell(session)


def make_anchor(number: int, key: str = "") -> str:
    """The name of a place in a report."""
    return f"s{number}-{key}" if key else f"s{number}"


def _list_links(number: int) -> Iterator[str | Link]:
    for index, (key, title, _) in enumerate(SECTIONS):
        yield from (" · " if index else "", Link(title, make_anchor(number, key)))


def _describe_errors(session: SessionFigures) -> Iterator[Block]:
    if not session.errors.count:
        return
    yield Heading(4, f"What went wrong ({session.errors.count:,})")
    items: list[Parts] = [
        (Marked(format_clock(one.time), "dim"), " ", Code(one.event), ": ", Quoted(one.reason))
        for one in session.errors
    ]
    yield Bullets(tuple(items))
    if session.errors.left_out:
        yield Paragraph(tuple(describe_left_out(session.errors.left_out, "error")), "dim")
