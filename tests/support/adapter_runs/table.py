"""The table of `make adapters`: each scenario of the contract on each framework, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.support.adapter_runs.report import Case, Report

_MARKS = {"passed": "ok", "failed": "FAILED", "cannot": "cannot"}
_WORST_FIRST = ("failed", "cannot", "passed")


def draw_table(reports: Sequence[Report]) -> str:
    """The table, with the reasons and whatever went wrong below it."""
    scenarios = list(dict.fromkeys(case.scenario for one in reports for case in one.cases))
    rows = [["scenario", *(one.name for one in reports)]]
    rows += [[name, *(_mark(_find(one, name)) for one in reports)] for name in scenarios]
    rows.append(["**scenarios passed**", *(_count(one) for one in reports)])
    rows.append(["**other tests passed**", *(_count_others(one) for one in reports)])
    parts = [
        "\n".join(_align(rows)),
        "\n".join(_list_reasons(reports, "cannot")),
        "\n".join(_list_reasons(reports, "failed")),
        "\n".join(f"- PROBLEM {one.name}: {text}" for one in reports for text in one.problems),
    ]
    return "\n\n".join(part for part in parts if part)


def _find(report: Report, scenario: str) -> Case | None:
    """The worst, where one name stands for several tests."""
    found = [case for case in report.cases if case.scenario == scenario]
    return min(found, key=lambda case: _WORST_FIRST.index(case.outcome), default=None)


def _mark(case: Case | None) -> str:
    return "" if case is None else _MARKS[case.outcome]


def _count(report: Report) -> str:
    possible = [case for case in report.cases if case.outcome != "cannot"]
    return f"{sum(case.outcome == 'passed' for case in possible)}/{len(possible)}"


def _count_others(report: Report) -> str:
    others = report.others
    return f"{others['passed']}/{others['passed'] + others['failed']}"


def _align(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield f"| {' | '.join(cells)} |"
        if number == 0:
            yield f"|{'|'.join('-' * (width + 2) for width in widths)}|"


def _list_reasons(reports: Sequence[Report], outcome: str) -> Iterator[str]:
    """Each reason once, with the scenarios that it holds for."""
    for report in reports:
        reasons: dict[str, list[str]] = {}
        for case in report.cases:
            if case.outcome == outcome:
                reasons.setdefault(case.reason, []).append(case.scenario)
        for reason, scenarios in reasons.items():
            yield f"- {_MARKS[outcome]} {report.name}: {', '.join(scenarios)}: {reason}"
