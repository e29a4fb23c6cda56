"""What `amplifier rules suggest` prints."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from amplifier_hooks.cli.commands.rules.writing import dump_rules
from amplifier_hooks.cli.text.output import (
    get_width,
    is_terminal,
    print_heading,
    print_line,
    print_wrapped,
)
from amplifier_hooks.insight.rule_suggestions import Proposal, Suggestions
from amplifier_hooks.text.escape import escape

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
    _print_sum(found, file)


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
            2, ("warn", "lets in   "), f"{_count(also.count, 'call')} {also.what}: {examples}"
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


def _print_sum(found: Suggestions, file: Path | None) -> None:
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
