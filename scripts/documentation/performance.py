"""docs/performance.md: what hooks cost, from the figures that the benchmarks measured."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

Row = dict[str, Any]

TABLE = "| what | measured | goal | time |\n|---|---|---|---|\n"
_PART = re.compile(r"(<!-- begin (\w+), [^>]*-->\n).*?(<!-- end \2 -->)", re.DOTALL)


@dataclass(frozen=True)
class Price:
    """What a user does, and the row that says what it costs: all of it, or what comes on top."""

    what: str
    benchmark: str
    row: str
    part: Literal["all", "added"] = "all"


PRICES = (
    Price("an event that no hook listens to", "kernel", "emit, 0 handlers"),
    Price(
        "an event with ten hooks, besides what the hooks do themselves",
        "kernel",
        "emit, 10 handlers",
        "added",
    ),
    Price(
        "1,000 rules of hooks-rules, none of which is about the tool",
        "rules",
        "1,000 rules, none for the tool",
        "added",
    ),
    Price(
        "a whole turn with one tool call and five hooks on each of four events",
        "session",
        "a turn, 5 hooks on four events",
    ),
    Price(
        "the same turn with its trail",
        "session",
        "a turn, 5 hooks on four events, trail on",
    ),
    Price(
        "one record in the trail, for the session that writes it",
        "audit",
        "one record without hooks, from call to queued, in os.write",
    ),
    Price(
        "a command in the sandbox, besides the command itself",
        "sandbox",
        "Bash true, sandbox on, against off",
        "added",
    ),
    Price(
        "one event of a coding agent such as Claude Code, with its hooks and its trail",
        "guest",
        "The installed line, with a session, its hooks and its trail",
    ),
    Price(
        "a call of an MCP server through the gateway, with the default bundle",
        "mcp",
        "Milliseconds added to a call: the default bundle, median",
        "added",
    ),
    Price(
        "a call and its result judged over HTTP, with the default bundle, 50 clients",
        "judge",
        "milliseconds that a judgement adds, 50 clients at work, p50",
        "added",
    ),
    Price(
        "a decision that is durable on disk (SQLite)",
        "store",
        "one decision alone, in bare writes with sync",
    ),
    Price(
        "from a decision to the agent that waits for it, at worst (99th percentile)",
        "store",
        "decision to waiting agent, p99, milliseconds",
    ),
)


def write_page(page: str, figures: dict[str, Any]) -> str:
    """The page with its marked parts renewed; all else is written by hand."""
    parts = {
        "prices": _write_prices(figures),
        "machines": _write_machines(figures),
        "figures": "\n".join(_write_tables(name, one["reports"]) for name, one in figures.items()),
    }
    if {name for _, name, _ in _PART.findall(page)} != parts.keys():
        raise LookupError(f"the page must have the parts {', '.join(parts)}, each marked once")
    return _PART.sub(lambda part: f"{part[1]}\n{parts[part[2]]}\n{part[3]}", page)


def _write_prices(figures: dict[str, Any]) -> str:
    rows = "".join(f"| {one.what} | {_write_price(one, figures)} |\n" for one in PRICES)
    return f"| for | you pay |\n|---|---|\n{rows}"


def _write_machines(figures: dict[str, Any]) -> str:
    rows = "".join(
        f"| {name} | {one['date']} | {one['machine']} | {one['python']} | {one['load']} |\n"
        for name, one in figures.items()
    )
    head = "| benchmark | date | machine | Python | load |\n|---|---|---|---|---|\n"
    return head + rows


def _write_price(price: Price, figures: dict[str, Any]) -> str:
    row = _find_row(price, figures)
    spent = row["subject_us"] - (row["baseline_us"] if price.part == "added" else 0)
    return write_time(spent)


def _find_row(price: Price, figures: dict[str, Any]) -> Row:
    reports = figures.get(price.benchmark, {}).get("reports", [])
    found = [row for report in reports for row in report["rows"] if row["what"] == price.row]
    if not found:
        raise LookupError(f"the benchmark {price.benchmark} has no row {price.row!r}")
    return dict(found[0])


def _write_tables(name: str, reports: list[dict[str, Any]]) -> str:
    return "\n".join(
        f"### {_write_title(name, report['title'])}\n\n{TABLE}"
        + "".join(map("| {} |\n".format, _list_cells(report["rows"])))
        for report in reports
    )


def _write_title(name: str, title: str) -> str:
    return name.capitalize() if title.lower() == name else f"{name.capitalize()}: {title}"


def _list_cells(rows: list[Row]) -> Iterator[str]:
    for row in rows:
        goal = "" if row["at_most"] is None else f"at most {row['at_most']:g}"
        missed = row["at_most"] is not None and row["ratio"] > row["at_most"]
        mark = " **missed**" if missed else ""
        is_time = row["subject_us"] > 0 and not ("MB" in row["what"] or "megabytes" in row["what"])
        time = write_time(row["subject_us"]) if is_time else ""
        what = row["what"].replace("|", "\\|")
        yield f"{what} | {row['ratio']:.3g} | {goal}{mark} | {time}"


def write_time(microseconds: float) -> str:
    """In the unit that a person would use."""
    microseconds = float(f"{microseconds:.3g}")
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= size:
            return f"{microseconds / size:.3g} {unit}"
    return f"{microseconds:.2g} µs" if microseconds < 10 else f"{microseconds:.0f} µs"
