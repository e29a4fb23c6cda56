"""What `amplifier rules check` prints."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from amplifier_hooks.cli.text.output import print_line, print_wrapped
from amplifier_hooks.cli.text.table import Column, print_table
from amplifier_hooks.insight.rule_checks import Check, Finding, Usage
from amplifier_hooks.text.escape import escape


def check_to_dict(check: Check) -> dict[str, Any]:
    """A check as JSON shows it."""
    return {
        "rules": check.rules,
        "problems": [asdict(one) for one in check.problems],
        "notes": [asdict(one) for one in check.notes],
        "usage": asdict(check.usage),
    }


def print_check(check: Check) -> None:
    """Problems first, then notes, how often each rule matched, and a line about all of it."""
    if not check.rules:
        print_wrapped(
            0,
            "There are no rules to check: the bundle has no entry of hooks-rules. Name a file of "
            "rules, or a bundle with --bundle.",
        )
        return
    for one in check.problems:
        _print_finding(one, ("bad", "✗ "))
    for one in check.notes:
        _print_finding(one, ("note", "· "))
    if check.usage.events:
        _print_usage(check.usage)
    if check.findings or check.usage.events:
        print_line("")
    _print_sum(check)


def _print_finding(finding: Finding, mark: tuple[str, str]) -> None:
    names = [escape(name) for name in finding.rules]
    if finding.kind == "shadowed":
        print_wrapped(0, mark, ("title", names[0]), f": shadowed by {names[1]}")
    else:
        print_wrapped(0, mark, ("title", " and ".join(names)), f": {finding.kind}")
    print_wrapped(2, escape(finding.sentence))
    print_wrapped(2, ("dim", ", ".join(map(_show_place, dict.fromkeys(finding.places)))))
    if finding.example:
        print_wrapped(2, ("dim", f"for example {_show_event(finding.example)}"))


def _show_place(place: str) -> str:
    """A file of this folder by its name in it."""
    return escape(place.removeprefix(f"{Path.cwd()}/"))


def _show_event(example: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in example.items() if key not in ("event", "tool_name")}
    shown = json.dumps(rest.get("tool_input", rest), ensure_ascii=False, default=str)
    return escape(" ".join(filter(None, (example["event"], example.get("tool_name"), shown))))


def _print_usage(usage: Usage) -> None:
    looked = f"{usage.events} events and {usage.questions} questions"
    sessions = "1 session" if usage.trails == 1 else f"{usage.trails} sessions"
    since = escape(usage.since[:10])
    print_line("")
    print_wrapped(0, ("title", f"Matches in {looked} of {sessions} since {since}"))
    rows = [
        (
            str(use.matched),
            escape(use.name),
            escape(use.last[:10]) or "never",
            f"{_show_place(use.place)}{_tell_doubt(use.undecided)}",
        )
        for use in sorted(usage.uses, key=lambda one: -one.matched)
    ]
    columns = (Column(align="right"), Column("tool"), Column("dim"))
    print_table(rows, *columns, Column("dim", overflow="cut start"), indent=2)


def _tell_doubt(undecided: int) -> str:
    return f" ({undecided} cannot be told)" if undecided else ""


def _print_sum(check: Check) -> None:
    problems = len(check.problems)
    notes = len(check.notes)
    counted = f"{_count(check.rules, 'rule')}: {_count(problems, 'problem')}"
    mark = ("bad", "✗ ") if problems else ("good", "✓ ")
    print_line(mark, counted if not notes else f"{counted}, {_count(notes, 'note')}")


def _count(number: int, noun: str) -> str:
    words = "no" if number == 0 else str(number)
    return f"{words} {noun}" if number == 1 else f"{words} {noun}s"
