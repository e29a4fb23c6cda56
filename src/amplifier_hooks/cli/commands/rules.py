"""amplifier rules: whether rules do what was meant, and which new ones people's answers suggest."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.commands.audit.options import report_errors
from amplifier_hooks.cli.options import AS_JSON, BUNDLE
from amplifier_hooks.cli.text.output import (
    get_width,
    is_terminal,
    print_heading,
    print_line,
    print_wrapped,
)
from amplifier_hooks.cli.text.table import Column, print_table
from amplifier_hooks.text.escape import escape

if TYPE_CHECKING:
    from amplifier_hooks.insight.rule_checks import Check, Finding, Rules, StandingGrant, Usage
    from amplifier_hooks.insight.rule_suggestions import Proposal, Suggestions


EPILOG = """\b
Examples:
  amplifier rules check
  amplifier rules check policy.yaml approvals.yaml
  amplifier rules suggest
  amplifier rules suggest --only npm-test --write approvals.yaml
"""
CHECK_EPILOG = """\b
Examples:
  amplifier rules check
  amplifier rules check policy.yaml approvals.yaml
  amplifier rules check --bundle ci.yaml --no-trails --json

Exit codes: 0 no problem, 1 problems, 2 wrong usage, 3 rules that cannot be loaded.
"""
SUGGEST_EPILOG = """\b
Examples:
  amplifier rules suggest
  amplifier rules suggest --min 10 --sessions 3 --days 5
  amplifier rules suggest --only npm-test --write approvals.yaml

A rule takes effect when a session is started with --approve rules:FILE, and not before.
"""

TRAIL = click.option(
    "--trail",
    "trails",
    multiple=True,
    metavar="TRAIL",
    help="Look at this trail: a directory, the start of a session's id, or its name. Can be given "
    "several times. [default: all sessions of this folder]",
)


@click.group(epilog=EPILOG)
def rules() -> None:
    """Check rules, and let past approvals suggest new ones."""


@rules.command(epilog=CHECK_EPILOG)
@click.argument(
    "files",
    nargs=-1,
    metavar="[FILE]...",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
)
@BUNDLE
@TRAIL
@click.option("--no-trails", is_flag=True, help="Do not look at recorded sessions.")
@click.option("--strict", is_flag=True, help="Notes count as problems.")
@AS_JSON
@report_errors
def check(
    files: tuple[Path, ...],
    bundle: Path | None,
    trails: tuple[str, ...],
    no_trails: bool,
    strict: bool,
    as_json: bool,
) -> int:
    """Find rules that never match, or that others shadow or contradict.

    Without FILE: the rules of hooks-rules in the bundle of this folder. FILE is a file of such
    rules, or one for --approve rules:FILE. Nothing of a bundle is run.
    """
    from amplifier_hooks.cli.commands.audit.options import select
    from amplifier_hooks.insight.rule_checks import check_rules

    if no_trails and trails:
        raise click.UsageError("Give --trail or --no-trails, not both")
    groups = _read_groups(files, bundle)
    found = check_rules(groups, [] if no_trails else select(trails), asyncio.run(_read_standing()))
    if as_json:
        click.echo(json.dumps(check_to_dict(found), indent=2, ensure_ascii=False))
    else:
        print_check(found)
    failed = found.problems or (strict and found.notes)
    return exit_codes.FAILED if failed else exit_codes.DONE


@rules.command(epilog=SUGGEST_EPILOG)
@click.argument("trails", nargs=-1, metavar="[TRAIL]...")
@click.option(
    "--min",
    "approvals",
    type=click.IntRange(min=2),
    default=5,
    show_default=True,
    help="How often people must have allowed it.",
)
@click.option(
    "--sessions",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="In how many sessions.",
)
@click.option(
    "--days", type=click.IntRange(min=1), default=2, show_default=True, help="On how many days."
)
@click.option("--only", multiple=True, metavar="NAME", help="Only these rules; can be repeated.")
@click.option(
    "--write",
    "file",
    type=click.Path(path_type=Path),
    help="Write the rules to this new file, for --approve rules:FILE.",
)
@AS_JSON
@report_errors
def suggest(
    trails: tuple[str, ...],
    approvals: int,
    sessions: int,
    days: int,
    only: tuple[str, ...],
    file: Path | None,
    as_json: bool,
) -> int:
    """Propose rules for what people allowed again and again.

    TRAIL is a directory, the start of a session's id, or its name; by default, all sessions of this
    folder. Each rule comes with its evidence, and with what else it would have let through. It
    takes effect only if you use it.
    """
    from amplifier_hooks.cli.commands.audit.options import select
    from amplifier_hooks.insight.rule_suggestions import Thresholds, suggest_rules

    needed = Thresholds(approvals, sessions, days)
    standing = asyncio.run(_read_standing())
    found = choose(suggest_rules(select(trails), needed, standing), only)
    if file is not None:
        write_rules(file, found)
    if as_json:
        click.echo(json.dumps(suggestions_to_dict(found), indent=2, ensure_ascii=False))
    else:
        print_suggestions(found, file)
    return exit_codes.DONE


def _read_groups(files: tuple[Path, ...], bundle: Path | None) -> list[Rules]:
    from amplifier_hooks.agent.bundles import load_bundle
    from amplifier_hooks.insight.rule_checks import read_bundle_rules, read_rules_file

    folder = Path.cwd()
    found: list[Rules] = []
    if bundle is not None or not files:
        found += read_bundle_rules(load_bundle(bundle), folder)
    return found + [read_rules_file(path, folder) for path in files]


async def _read_standing() -> list[StandingGrant]:
    """What the store has, if there is one: looking for it does not make it."""
    from amplifier_hooks.approvals.stores.address import (
        find_store,
        names_postgres,
        read_path,
    )
    from amplifier_hooks.insight.rule_checks.rules import read_grants

    place = find_store()
    if not names_postgres(place) and not read_path(place).is_file():
        return []
    from amplifier_hooks.approvals.stores.store import open_store

    async with await open_store(place) as store:
        return await read_grants(store, Path.cwd())


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
            f"{_show_place(use.place)}{_describe_doubt(use.undecided)}",
        )
        for use in sorted(usage.uses, key=lambda one: -one.matched)
    ]
    columns = (Column(align="right"), Column("tool"), Column("dim"))
    print_table(rows, *columns, Column("dim", overflow="cut start"), indent=2)


def _describe_doubt(undecided: int) -> str:
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
