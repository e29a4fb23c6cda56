"""Hooks: their figures, and each time that one of them mattered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from amplifier_hooks.insight.reports.document import (
    Bar,
    Bars,
    Block,
    Card,
    Code,
    Column,
    Heading,
    Listing,
    Marked,
    Paragraph,
    Parts,
    Quoted,
    Table,
    Tone,
    describe_left_out,
    format_clock,
    format_milliseconds,
)
from amplifier_hooks.insight.reports.excerpts import BoundedList, Excerpt
from amplifier_hooks.insight.reports.model import HookFigures, Intervention, Kind, SessionFigures

MOST_HOOKS = 40
NOTHING = Excerpt("(nothing)")

_SERIES = (
    ("denied", "bad"),
    ("asked", "warn"),
    ("changed", "note"),
    ("told the agent", "good"),
    ("failed", "dim"),
)
_SECTIONS: tuple[tuple[Kind, str, Tone], ...] = (
    ("denial", "Denied", "bad"),
    ("change", "Changed", "note"),
    ("injection", "Told the agent", "good"),
    ("failure", "Failed", "warn"),
    ("shadow", "Would have done (shadow mode)", "dim"),
    ("message", "Told the person", "dim"),
)


def describe_hooks(session: SessionFigures) -> Iterator[Block]:
    """The table of hooks, and what each of them did."""
    if session.unsure:
        yield Paragraph(
            ("The trail has decisions alone: hooks were called at least as often as shown.",)
        )
    yield from describe_hook_figures(session.hooks)
    for kind, title, tone in _SECTIONS:
        kept = session.interventions[kind]
        if kept.count:
            yield Heading(4, f"{title} ({kept.count:,})")
            yield from _describe_interventions(kept, tone)


def describe_hook_figures(hooks: Mapping[str, HookFigures]) -> Iterator[Block]:
    """A chart of what hooks answered, and a table of all figures."""
    if not hooks:
        yield Paragraph(("No hook was registered.",))
        return
    ranked = sorted(hooks.items(), key=_rank)
    drawn = [_make_bar(name, hook) for name, hook in ranked[:MOST_HOOKS]]
    bars = tuple(bar for bar in drawn if any(bar.values))
    if bars:
        yield Bars("What hooks answered, other than “continue”", _SERIES, bars)
    yield _make_hook_table(ranked[:MOST_HOOKS])
    if left := len(ranked) - MOST_HOOKS:
        yield from (Paragraph((text,), "dim") for text in describe_left_out(max(0, left), "hook"))


def _rank(named: tuple[str, HookFigures]) -> tuple[int, int, str]:
    name, hook = named
    return -_count_spoken(hook), -hook.counts.calls, name


def _count_spoken(hook: HookFigures) -> int:
    counts = hook.counts
    return sum(counts.answers.values()) + counts.failures + sum(counts.shadowed.values())


def _make_bar(name: str, hook: HookFigures) -> Bar:
    return Bar(name, tuple(map(float, (*_count_answers(hook), hook.counts.failures))))


def _count_answers(hook: HookFigures) -> tuple[int, ...]:
    """Denied, asked, changed, told; questions are counted as people saw them, each once."""
    answers = hook.counts.answers
    asked = hook.counts.asked
    return answers.get("deny", 0), asked, answers.get("modify", 0), answers.get("inject_context", 0)


def _make_hook_table(ranked: list[tuple[str, HookFigures]]) -> Table:
    titles = ("Calls", "Denied", "Asked", "Changed", "Told", "Failed", "Late", "p50", "p95", "p99")
    columns = (Column("Hook"), *(Column(title, number=True) for title in titles))
    return Table(columns, tuple(_make_hook_row(name, hook) for name, hook in ranked))


def _make_hook_row(name: str, hook: HookFigures) -> tuple[Parts, ...]:
    counts = hook.counts
    figures = [
        counts.calls,
        *_count_answers(hook),
        counts.failures - counts.timeouts,
        counts.timeouts,
    ]
    times = [format_milliseconds(counts.find_quantile(share)) for share in (0.5, 0.95, 0.99)]
    guard: Parts = (" ", Marked("guard", "note")) if hook.guard else ()
    shadow: Parts = (" ", Marked("shadow", "warn")) if hook.shadow else ()
    return (
        (Code(name), *guard, *shadow),
        *((f"{figure:,}" if figure else "–",) for figure in figures),
        *((time or "–",) for time in times),
    )


def _describe_interventions(kept: BoundedList[Intervention], tone: Tone) -> Iterator[Block]:
    yield from (_describe_intervention(one, tone) for one in kept.first)
    if kept.left_out:
        yield Paragraph(tuple(describe_left_out(kept.left_out, "more time")), "dim")
    yield from (_describe_intervention(one, tone) for one in kept.last)


def _describe_intervention(one: Intervention, tone: Tone) -> Block:
    head: Parts = (
        Marked(format_clock(one.time), "dim"),
        " ",
        Code(one.hook),
        " at ",
        Code(one.event),
    )
    about: Parts = (": ", Code(one.about)) if one.about else ()
    late: Parts = (" ", Marked("timed out", "warn")) if one.timed_out else ()
    blocks: list[Block] = [Paragraph((*head, *about, *late))]
    if one.reason:
        blocks.append(Paragraph((Quoted(one.reason),)))
    for field in one.fields:
        blocks.append(Listing(f"{field.path}, before", field.before or NOTHING))
        blocks.append(Listing(f"{field.path}, after", field.after or NOTHING))
    if one.kind == "change" and not one.fields:
        text = "What it was before is not in the trail, or is masked there."
        blocks.append(Paragraph((text,), "dim"))
    return Card(tuple(blocks), tone)
