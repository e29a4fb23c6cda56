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
    """All that was found in one environment; `problems` is what went wrong beside the tests."""

    name: str
    cases: list[Case] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)
    """How the tests that are not scenarios ended."""
    problems: list[str] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        """Whether everything passed that the framework can do."""
        failed = any(case.outcome == "failed" for case in self.cases) or self.others["failed"]
        return not failed and not self.problems


def read_report(name: str, path: Path) -> Report:
    """The report of the run in the environment of that name."""
    report = Report(name)
    try:
        tree = ElementTree.parse(path)
    except (OSError, ElementTree.ParseError) as error:
        report.problems.append(f"pytest left no report: {error}")
        return report
    for element in tree.iter("testcase"):
        outcome, reason = _read_outcome(element)
        if outcome is None:
            continue
        if element.get("classname", "").startswith(CONTRACT):
            scenario = name_scenario(element.get("name", ""), name)
            report.cases.append(Case(scenario, outcome, reason))
        else:
            report.others[outcome] += 1
    return report


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
    function, _, given = test.partition("[")
    same = re.escape(framework).replace(r"\-", "[-_]")
    pieces = re.split(rf"(?:^|-){same}(?=-|$)", given.removesuffix("]"))
    parameters = "-".join(piece.strip("-") for piece in pieces if piece.strip("-"))
    words = function.removeprefix("test_").replace("_", " ")
    return f"{words} ({parameters})" if parameters else words
