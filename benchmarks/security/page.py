"""docs/security-benchmarks.md, from the figures that were measured last."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.security.compared_texts import KINDS, TextSet, list_sets
from benchmarks.security.rivals import NOT_COMPARED, OURSELVES, Compared
from benchmarks.security.table import Row, format_share

FIGURES = Path(__file__).with_name("figures.json")
PAGE = Path(__file__).parents[2] / "docs" / "security-benchmarks.md"

Figures = dict[str, Any]

_PART = re.compile(r"(<!-- begin (\w+), [^>]*-->\n).*?(<!-- end \2 -->)", re.DOTALL)


def read_figures(file: Path = FIGURES) -> Figures:
    """What was measured last."""
    if not file.is_file():
        return {"rows": {}, "compared": {}, "sets": {}}
    figures: Figures = json.loads(file.read_text(encoding="utf-8"))
    return figures


def renew_rows(known: Figures, rows: Iterable[Row]) -> Figures:
    """The figures with these rows; one that could not be measured stays, if it is known."""
    renewed = {}
    for row in rows:
        old = known["rows"].get(row.name)
        given = {"date": _read_date(), **asdict(row)}
        del given["name"]
        renewed[row.name] = given if row.measured is not None or old is None else old
    return {**known, "rows": renewed}


def renew_comparison(known: Figures, compared: Iterable[Compared]) -> Figures:
    """The figures with these products; what could not be measured stays, if it is known."""
    renewed = {}
    for one in compared:
        key = f"{one.kind} {one.name}"
        old = known["compared"].get(key)
        shares = {**(old["shares"] if old else {}), **one.shares}
        given = {"date": _read_date(), **asdict(one), "shares": shares}
        renewed[key] = given if one.shares or old is None else old
    sets = {one.name: _describe(one) for kind in KINDS for one in list_sets(kind)}
    return {**known, "compared": renewed, "sets": {**known["sets"], **sets}}


def _read_date() -> str:
    return datetime.now(UTC).date().isoformat()


def _describe(one: TextSet) -> dict[str, Any]:
    return {"kind": one.kind, "count": len(one.texts), "harmful": one.is_harmful}


def write_figures(figures: Figures, file: Path = FIGURES) -> None:
    """Keep them."""
    text = json.dumps(figures, indent=1, ensure_ascii=False)
    file.write_text(f"{text}\n", encoding="utf-8")


def write_page(page: str, figures: Figures) -> str:
    """The page with these figures: its marked parts are renewed, the rest stays."""
    parts = {
        "comparison": "\n".join(format_comparison(figures, kind) for kind in KINDS),
        "settings": "".join(_write_settings(figures["compared"].values())),
        "others": "".join(f"- {name}: {why}.\n" for name, why in NOT_COMPARED.items()),
        "ourselves": "".join(_write_rows(figures["rows"])),
    }
    return _PART.sub(lambda found: f"{found[1]}\n{parts[found[2]]}\n{found[3]}", page)


def renew_page(figures: Figures, file: Path = PAGE) -> None:
    """Write the page with these figures."""
    file.write_text(write_page(file.read_text(encoding="utf-8"), figures), encoding="utf-8")


def format_comparison(figures: Figures, kind: str) -> str:
    """A table for one kind: a line for each product, a column for each set."""
    sets = {name: one for name, one in figures["sets"].items() if one["kind"] == kind}
    heads = [f"{name} ({one['count']}), {_word_wish(kind, one)}" for name, one in sets.items()]
    products = [one for one in figures["compared"].values() if one["kind"] == kind]
    lines = [
        ["", *heads],
        ["---"] * (len(sets) + 1),
        *(_write_product(one, sets) for one in products),
    ]
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"### {kind.capitalize()}\n\n{table}"


def _word_wish(kind: str, texts: Mapping[str, Any]) -> str:
    if kind == "commands":
        return "stopped" if texts["harmful"] else "*disturbed*"
    return "found" if texts["harmful"] else "*found wrongly*"


def _write_product(one: Mapping[str, Any], sets: Iterable[str]) -> list[str]:
    name = f"**{one['name']}**" if one["name"].startswith(OURSELVES) else one["name"]
    if not one["shares"]:
        return [name, one["missing"]]
    shares = one["shares"]
    return [name, *(f"{shares[each]:.1f} %" if each in shares else "–" for each in sets)]


def _write_settings(products: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    yield "| product | version | asked about | how | measured |\n|---|---|---|---|---|\n"
    for one in products:
        shown = [one["name"], one["version"], one["kind"], one["asked"], one["date"]]
        yield f"| {' | '.join(shown)} |\n"


def _write_rows(rows: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    yield "| what | measured | goal | | date |\n|---|---|---|---|---|\n"
    for name, given in rows.items():
        row = Row(name, given["measured"], given["goal"], given["wanted"], given["missing"])
        measured = format_share(row.measured, "–")
        goal = "" if row.goal is None else f"{row.wanted} {row.goal:g} %"
        verdict = "**missed**" if row.verdict == "missed" else row.verdict
        yield f"| {name} | {measured} | {goal} | {verdict} | {given['date']} |\n"
