"""What a run of the adapters' tests on one framework found, read from pytest's report."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

CONTRACT = "tests.adapters."
CANNOT = "cannot: "
"""How the reason begins with which a test skips what a framework has no means for."""

Outcome = Literal["passed", "failed", "cannot"]


@dataclass(frozen=True)
class Case:
    """One scenario of the contract on one framework."""

    scenario: str
    outcome: Outcome
    reason: str = ""


@dataclass
class Report:
    """All that was found in one environment; `problems` is what went wrong beside the scenarios."""

    name: str
    cases: list[Case] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)
    """How the tests that are not scenarios ended."""
    problems: list[str] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        """Whether everything passed that the framework can do."""
        return not self.problems and all(case.outcome != "failed" for case in self.cases)


def read_report(name: str, path: Path) -> Report:
    """The report of the run in the environment of that name."""
    report = Report(name)
    try:
        tree = ElementTree.parse(path)
    except (OSError, ElementTree.ParseError) as error:
        report.problems.append(f"pytest left no report: {error}")
        return report
    for element in tree.iter("testcase"):
        _add(report, element)
    return report


def _add(report: Report, element: ElementTree.Element) -> None:
    """A test of the contract with this framework among its parameters, or another one."""
    folder, test = element.get("classname", ""), element.get("name", "")
    outcome, reason = _read_outcome(element)
    if outcome is None:
        return
    if folder.startswith(CONTRACT) and _match(report.name).search(_get_parameters(test)):
        report.cases.append(Case(name_scenario(test, report.name), outcome, reason))
        return
    report.others[outcome] += 1
    if outcome == "failed":
        report.problems.append(f"{folder}.{test} failed: {reason}".removeprefix("."))


def _read_outcome(element: ElementTree.Element) -> tuple[Outcome | None, str]:
    found = {child.tag: child.get("message") or "" for child in element}
    wrong = next((found[tag] for tag in ("failure", "error") if tag in found), None)
    if wrong is not None:
        return "failed", wrong.partition("\n")[0]
    if "skipped" not in found:
        return "passed", ""
    reason = found["skipped"]
    return ("cannot", reason.removeprefix(CANNOT)) if reason.startswith(CANNOT) else (None, reason)


def name_scenario(test: str, framework: str) -> str:
    """A test's name as words, with its parameters but for the framework."""
    pieces = _match(framework).split(_get_parameters(test))
    parameters = "-".join(piece.strip("-") for piece in pieces if piece.strip("-"))
    words = test.partition("[")[0].removeprefix("test_").replace("_", " ")
    return f"{words} ({parameters})" if parameters else words


def _get_parameters(test: str) -> str:
    return test.partition("[")[2].removesuffix("]")


def _match(framework: str) -> re.Pattern[str]:
    """Its name as a whole parameter, in either spelling."""
    same = re.escape(framework).replace(r"\-", "[-_]")
    return re.compile(rf"(?:^|-){same}(?=-|$)")
