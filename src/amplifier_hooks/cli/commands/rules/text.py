"""What rules check and rules suggest print and write."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amplifier_hooks.cli.text.output import (
    get_width,
    is_terminal,
    print_heading,
    print_line,
    print_wrapped,
)
from amplifier_hooks.cli.text.table import Column, print_table
from amplifier_hooks.insight.rule_checks import Check, Finding, Usage
from amplifier_hooks.insight.rule_suggestions import Proposal, Suggestions
from amplifier_hooks.text.escape import escape

if TYPE_CHECKING:
    from amplifier_hooks.insight.rule_suggestions import Suggestions


def choose(found: Suggestions, names: Sequence[str]) -> Suggestions:
    """The suggestions of these names, or all."""
    have = [one.name for one in found.proposals]
    for name in names:
        if name not in have:
            known = f"have {', '.join(have)}" if have else "none is suggested"
            raise click.UsageError(f"No suggested rule {name!r}; {known}")
    chosen = [one for one in found.proposals if not names or one.name in names]
    return replace(found, proposals=tuple(chosen))


def write_rules(file: Path, found: Suggestions) -> None:
    """Write the rules to a new file; one that is there stays as it is."""
    from amplifier_hooks.cli.person import refuse_agents

    refuse_agents()
    if not found.proposals:
        raise click.UsageError(f"No rule is suggested, so {str(file)!r} was not written")
    day = datetime.now(UTC).date().isoformat()
    text = (
        f"# Suggested by amplifier rules suggest on {day}. Read each rule before you use it:\n"
        "# amplifier run --approve rules:FILE\n"
        f"rules:\n{dump_rules([one.rule for one in found.proposals])}otherwise: ask\n"
    )
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError as error:
        raise click.UsageError(
            f"{str(file)!r} is there already and was not changed; name a new file"
        ) from error
    except OSError as error:
        raise click.UsageError(f"{str(file)!r} cannot be written: {error.strerror}") from error


def dump_rules(rules: Sequence[dict[str, Any]], width: int = 100) -> str:
    """Rules as YAML, in plain letters that can be pasted: foreign text in it is quoted."""
    import yaml

    text: str = yaml.safe_dump(list(rules), sort_keys=False, allow_unicode=False, width=width)
    return text


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
    _print_check_sum(check)


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


def _print_check_sum(check: Check) -> None:
    problems = len(check.problems)
    notes = len(check.notes)
    counted = f"{_count_or_no(check.rules, 'rule')}: {_count_or_no(problems, 'problem')}"
    mark = ("bad", "✗ ") if problems else ("good", "✓ ")
    print_line(mark, counted if not notes else f"{counted}, {_count_or_no(notes, 'note')}")


def _count_or_no(number: int, noun: str) -> str:
    words = "no" if number == 0 else str(number)
    return f"{words} {noun}" if number == 1 else f"{words} {noun}s"


_WIDEST = 90
_NARROWEST = 24


def suggestions_to_dict(found: Suggestions) -> dict[str, Any]:
    """Suggestions as JSON shows them."""
    return {
        "questions": found.questions,
        "sessions": found.trails,
        "since": found.since,
        "tampered": list(map(str, found.tampered)),
        "proposals": [
            {**asdict(one), "backtest": _backtest_to_dict(one)} for one in found.proposals
        ],
        "withheld": [asdict(one) for one in found.withheld],
    }


def _backtest_to_dict(proposal: Proposal) -> dict[str, Any]:
    return {**asdict(proposal.backtest), "also": list(map(asdict, proposal.backtest.also.values()))}


def print_suggestions(found: Suggestions, file: Path | None = None) -> None:
    """Each rule with its evidence and its backtest; then what is not suggested, and why."""
    for proposal in found.proposals:
        _print_proposal(proposal)
    if found.withheld:
        print_heading("Not suggested")
    for one in found.withheld:
        call = f"{escape(one.example)} ({_count(one.approvals, 'approval')})"
        print_wrapped(2, ("dim", "· "), f"{call}: {escape(one.reason)}")
    if found.proposals or found.withheld:
        print_line("")
    for path in found.tampered:
        reason = "was changed after it was written, and is no evidence"
        print_wrapped(0, ("bad", "✗ "), f"The trail {escape(str(path))} {reason}")
    _print_suggestions_sum(found, file)


def _print_proposal(proposal: Proposal) -> None:
    print_heading(escape(proposal.name))
    width = min(max(get_width() - 16, _NARROWEST), _WIDEST) if is_terminal() else _WIDEST
    for line in dump_rules([proposal.rule], width).splitlines():
        print_line("  ", ("string", line))
    _print_support(proposal)
    test = proposal.backtest
    hook = escape(str(proposal.rule["hook"]))
    print_wrapped(
        2,
        ("label", "saves     "),
        f"{test.saved} of {_count(test.questions, 'question')} that {hook} asked",
    )
    if not test.also:
        print_wrapped(2, ("label", "lets in   "), f"nothing else of {_count(test.calls, 'call')}")
    for also in test.also.values():
        examples = "; ".join(map(escape, also.examples))
        print_wrapped(
            2,
            ("warn", "lets in   "),
            f"{_count(also.count, 'call')} {also.what}: {examples}",
        )
    for warning in proposal.warnings:
        print_wrapped(2, ("warn", "mind      "), escape(warning))


def _print_support(proposal: Proposal) -> None:
    support = proposal.support
    people = ", ".join(f"{escape(name)} {count}" for name, count in support.people.items())
    often = (
        f"{_count(support.approvals, 'approval')} in {_count(support.sessions, 'session')} on "
        f"{_count(support.days, 'day')}, {support.first[:10]} to {support.last[:10]}, by {people}"
    )
    if support.remembered:
        often += f'; {support.remembered} more by an "always" within a session'
    print_wrapped(2, ("label", "evidence  "), often)
    for example in support.examples:
        print_wrapped(2, ("label", "          "), ("dim", escape(example)))


def _print_suggestions_sum(found: Suggestions, file: Path | None) -> None:
    looked = f"{_count(found.questions, 'question')} of {_count(found.trails, 'session')}"
    since = f" since {escape(found.since[:10])}" if found.since else ""
    number = len(found.proposals)
    if not number:
        print_wrapped(0, f"Nothing to suggest from {looked}{since}.")
        return
    print_wrapped(0, ("good", "✓ "), f"{_count(number, 'rule')} suggested from {looked}{since}")
    if file is None:
        print_wrapped(0, ("dim", "Nothing was changed; --write FILE writes them to a new file"))
    else:
        name = escape(str(file))
        print_wrapped(0, ("dim", f"Written to {name}; used with --approve rules:{name}"))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
