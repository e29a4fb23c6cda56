"""Cost and tokens, for each model and for each turn."""

from __future__ import annotations

from collections.abc import Iterator

from amplifier_hooks.insight.reports.model import SessionFigures, Spending, Spent
from amplifier_hooks.insight.reports.telling.document import (
    Bar,
    Bars,
    Block,
    Code,
    Column,
    Paragraph,
    Parts,
    Table,
)
from amplifier_hooks.insight.reports.telling.words import format_money

_MOST_BARS = 40


def tell_spending(session: SessionFigures) -> Iterator[Block]:
    """The table of models, and a chart of turns."""
    yield from tell_models(session.spending)
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


def tell_models(spending: Spending) -> Iterator[Block]:
    """The table of models, and where the prices come from."""
    if not spending.models:
        yield Paragraph(("The trail does not say how many tokens were used.",))
        return
    titles = ("Requests", "Input", "of it cached", "Output", "Tokens", "Cost")
    columns = (Column("Model"), *(Column(title, number=True) for title in titles))
    rows = [_make_row((Code(name),), spent) for name, spent in spending.models.items()]
    total = spending.total
    if len(rows) > 1:
        rows.append(_make_row(("All",), total))
    yield Table(columns, tuple(rows))
    yield Paragraph((_explain(total),), "dim")


def _make_row(name: Parts, spent: Spent) -> tuple[Parts, ...]:
    counts = (spent.requests, spent.input, spent.cached, spent.output, spent.tokens)
    money = "not known" if spent.unpriced and not spent.money else format_money(spent.money)
    more = " and more" if spent.unpriced and spent.money else ""
    return (name, *((f"{count:,}",) for count in counts), (f"{money}{more}",))


def _explain(total: Spent) -> str:
    told = (
        "Costs are computed from rough list prices that are built into Amplifier, or are those "
        "that the provider reported; they are not a bill."
    )
    if not total.unpriced:
        return told
    return f"{told} For {total.unpriced:,} tokens there is no price: only the tokens are counted."
