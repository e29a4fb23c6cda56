"""amplifier hooks backtest: what other hooks would have decided in recorded sessions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amplifier_hooks.agent.session.inspection.trails import shorten_trails
from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.commands.audit.options import SINCE, UNTIL, report_errors
from amplifier_hooks.cli.options import AS_JSON, BUNDLE
from amplifier_hooks.cli.text.output import Part, print_heading, print_line, print_wrapped
from amplifier_hooks.cli.text.table import Cell, Column, print_table
from amplifier_hooks.text.escape import escape, get_first_line

if TYPE_CHECKING:
    from amplifier_hooks.insight.backtest import Policy, PolicySource
    from amplifier_hooks.insight.backtest.job import Findings, Job, Launch, StateFile


EPILOG = """\b
Examples:
  amplifier hooks backtest                             the bundle as it is now
  amplifier hooks backtest --hook new_guard.py         with one more hook
  amplifier hooks backtest --rules rules.yaml --only   these rules and nothing else
  amplifier hooks backtest --bundle new.yaml --baseline amplifier.yaml
  amplifier hooks backtest --since 7d --fail-on newly_denied,error
"""

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


def _read_kinds(
    _context: click.Context, _parameter: click.Parameter, given: str | None
) -> tuple[str, ...]:
    if given is None:
        return ()
    from amplifier_hooks.insight.backtest.counts import find_unknown_kinds
    from amplifier_hooks.insight.backtest.verdicts import KINDS

    kinds = tuple(one.strip().replace("-", "_") for one in given.split(",") if one.strip())
    if unknown := find_unknown_kinds(kinds):
        raise click.BadParameter(f"unknown {', '.join(unknown)}; have {', '.join(KINDS)}")
    return kinds


@click.command(epilog=EPILOG)
@click.argument("trails", nargs=-1, metavar="[TRAIL]...")
@BUNDLE
@click.option("--hook", "hooks", type=_FILE, multiple=True, help="Add this hook file.")
@click.option("--rules", type=_FILE, multiple=True, help="Use this file of rules.")
@click.option("--only", is_flag=True, help="Try the named hooks and rules without a bundle.")
@click.option("--without", multiple=True, metavar="NAME", help="Leave out this hook module.")
@click.option(
    "--baseline",
    type=_FILE,
    help="Compare with this bundle, hook file or file of rules, not with what happened.",
)
@click.option("--everywhere", is_flag=True, help="Sessions of all folders, not only of this one.")
@SINCE
@UNTIL
@click.option(
    "--examples",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    help="How many to show of each kind of difference.",
)
@click.option(
    "--fail-on",
    callback=_read_kinds,
    metavar="KINDS",
    help="End with exit code 1 if there are differences of these kinds, such as "
    "newly_denied,error.",
)
@click.option(
    "--state",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Keep results in this file, and go on from it. [default: kept until a run is complete]",
)
@AS_JSON
@report_errors
def backtest(trails: tuple[str, ...], as_json: bool, **options: Any) -> int:
    """Replay recorded sessions through other hooks, and show what they would decide differently.

    Without arguments, all sessions that worked in this folder. Tools never run, nobody is asked,
    and the hooks run in a process that can write and send nothing. A hook file takes the place of
    the bundle's file of the same name; files of rules take the place of the bundle's rules.
    """

    launch, policy = _prepare(trails, **options)
    interrupted = _run(launch)
    findings = launch.findings
    report = _make_report(findings, policy)
    if as_json:
        click.echo(json.dumps(report, indent=2, ensure_ascii=False, default=str))
    else:
        print_findings(report)
    if interrupted:
        return exit_codes.INTERRUPTED
    return _choose_exit_code(report, options["fail_on"])


def _prepare(names: tuple[str, ...], **options: Any) -> tuple[Launch, Policy]:
    from amplifier_hooks.cli.commands.audit.options import select_recorded
    from amplifier_hooks.insight.backtest import PolicySource, Window, load_policy
    from amplifier_hooks.insight.backtest.job import Candidate, Job, Launch

    if options["only"] and not (options["hooks"] or options["rules"]):
        raise click.UsageError("--only needs --hook or --rules: there is nothing else to try")
    source = PolicySource(
        None if options["bundle"] is None else str(options["bundle"].absolute()),
        tuple(str(one.absolute()) for one in options["hooks"]),
        tuple(str(one.absolute()) for one in options["rules"]),
        options["only"],
        options["without"],
    )
    found = select_recorded(names, options["everywhere"])
    folder = Path.cwd()
    paths = [one.absolute() for one in found]
    policy = load_policy(source, folder)
    other = None
    _require_trust(source)
    if options["baseline"] is not None:
        other = load_policy(source.with_file(str(options["baseline"].absolute())), folder)
        _require_trust(other.source)
    job = Job(
        folder,
        tuple(paths),
        Candidate.of(policy),
        None if other is None else Candidate.of(other),
        Window(options["since"] or "", options["until"] or ""),
        options["examples"],
    )
    return Launch(job, _find_state(options["state"], job)), policy


def _require_trust(source: PolicySource) -> None:
    """A bundle runs only if a person trusts it; a file that is named on its own was just chosen."""
    from amplifier_hooks.agent.trust.material import Untrusted
    from amplifier_hooks.cli.commands.hooks.testing import load_material

    if source.only:
        return
    named = None if source.bundle is None else Path(source.bundle)
    _, refusal = asyncio.run(load_material(named))
    if refusal:
        raise Untrusted(refusal)


def _find_state(named: Path | None, job: Job) -> StateFile:
    from amplifier_hooks.insight.backtest.job import StateFile, is_foreign_file
    from amplifier_hooks.machine.locations import find_data_home

    if named is not None and is_foreign_file(named):
        raise click.UsageError(
            f"--state {named}: this file is not one that a backtest has written, and would be "
            "replaced; name a new file"
        )
    usual = find_data_home() / "amplifier" / "backtest" / f"{job.digest[:32]}.json"
    return StateFile(named or usual, job.digest, temporary=named is None)


def _run(launch: Launch) -> bool:
    """Run it to the end; True if somebody stopped it."""
    from amplifier_hooks.cli.commands.audit.options import show_progress
    from amplifier_hooks.insight.backtest.job import measure_trail

    total = sum(measure_trail(one) for one in launch.findings.job.trails)
    with show_progress("Backtesting", total) as progress:
        launch.progress = progress.update
        try:
            asyncio.run(launch.run())
        except KeyboardInterrupt:
            return True
    return False


def _make_report(findings: Findings, policy: Policy) -> dict[str, Any]:
    from amplifier_hooks.insight.backtest.counts import make_report

    job = findings.job
    protection = findings.protection
    return {
        **make_report(findings.add_up(), policy.acting),
        "policy": policy.source.to_dict(),
        "baseline": None if job.baseline is None else job.baseline.source.to_dict(),
        "complete": findings.is_complete,
        "trails": {
            "all": len(job.trails),
            "done": len(findings.done),
            "from_state": findings.remembered,
        },
        "sandbox": protection.name or None,
        "no_sandbox_because": protection.reason or None,
    }


def _choose_exit_code(report: dict[str, Any], kinds: tuple[str, ...]) -> int:
    from amplifier_hooks.insight.backtest.counts import find_failures

    return exit_codes.FAILED if find_failures(report, kinds) else exit_codes.DONE


_HANDED_OVER = {"not_run": "did not run", "not_known": "not known"}
_ASKED_BY_OTHERS = {
    "allowed": "it ran",
    "refused": "it did not run",
    "not_run": "it did not run",
    "not_known": "what came of it is not known",
}

Shorts = Mapping[Path, str]
"""The names of trails, as a command takes them."""
Report = Mapping[str, Any]

_LABELS = {
    "newly_denied": ("newly denied", "bad"),
    "no_longer_denied": ("no longer denied", "warn"),
    "newly_asked": ("newly asked", "warn"),
    "no_longer_asked": ("no longer asked", "note"),
    "changed_input": ("changed input", "note"),
    "newly_injected": ("newly injected", "note"),
    "no_longer_injected": ("no longer injected", "note"),
    "error": ("errors", "bad"),
    "cannot_tell": ("cannot tell", "dim"),
}
_WAS = {
    "continue": "it went on",
    "deny": "denied",
    "ask_user": "a person was asked",
    "inject_context": "it went on, and the agent was told something",
}
_WOULD = {
    "continue": "it would go on",
    "deny": "denied",
    "ask_user": "a person would be asked",
    "inject_context": "it would go on, and the agent would be told something",
}
_SHOWN = 200
_PLACES = 3


def print_findings(report: Report) -> None:
    """Print everything."""
    shorts = shorten_trails(_list_trails(report))
    _print_scope(report, shorts)
    _print_summary(report)
    _print_questions(report)
    for kind in _LABELS:
        _print_kind(report, kind, shorts)
    _print_unclear(report, shorts)
    _print_not_run(report)
    _print_times(report)


def _list_trails(report: Report) -> Iterator[Path]:
    """Every trail that is named somewhere."""
    places = [place for one in report["cannot_tell"] for place in one["places"]]
    examples = [one for kept in report["examples"].values() for one in kept]
    for one in (*report["unreadable"], *examples, *places):
        yield Path(one["trail"])


def _print_scope(report: Report, shorts: Shorts) -> None:
    trails = report["trails"]
    if not report["complete"]:
        text = f"Stopped: {trails['done']} of {trails['all']} sessions were read to their end."
        print_wrapped(0, ("warn", "! "), f"{text} Run the same command again to go on.")
    days = f", {report['first'][:10]} to {report['last'][:10]}" if report["first"] else ""
    counts = f"{_count(report['sessions'], 'session')}, {_count(report['events'], 'event')}{days}"
    print_wrapped(0, counts)
    other = report["baseline"]
    against = "what happened" if other is None else _name_policy(other)
    print_wrapped(0, f"{_name_policy(report['policy'])}, compared with {against}")
    if report["sandbox"] is None:
        why = escape(str(report["no_sandbox_because"]))
        print_wrapped(0, ("warn", "! "), f"The hooks ran without a sandbox: {why}")
    for one in report["unreadable"]:
        name = escape(shorts[Path(one["trail"])])
        print_wrapped(0, ("warn", "! "), f"{name} cannot be judged: {escape(one['why'])}")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _name_policy(source: Mapping[str, Any]) -> str:
    names = [Path(one).name for one in (*source["hooks"], *source["rules"])]
    if not source["only"]:
        names.insert(0, Path(source["bundle"]).name if source["bundle"] else "the bundle")
    text = " with ".join([names[0], ", ".join(names[1:])] if len(names) > 1 else names)
    left = f" without {', '.join(source['without'])}" if source["without"] else ""
    return escape(text + left)


def _print_summary(report: Report) -> None:
    found = {kind: number for kind, number in report["differences"].items() if number}
    rows: list[tuple[Cell, ...]] = [
        (((_LABELS[kind][1], _LABELS[kind][0]),), f"{number:,}", _describe_people(report, kind))
        for kind, number in found.items()
    ]
    same = report["events"] - sum(found.values())
    rows.append(("the same", f"{same:,}", ""))
    print_line("")
    print_table(rows, Column(), Column(align="right"), Column("dim"), indent=2)


def _describe_people(report: Report, kind: str) -> str:
    said = report["people"].get(kind)
    if not said:
        return ""
    people = [f"{word} {said[word]:,}" for word in ("allowed", "refused") if said.get(word)]
    rest = [f"{said[word]:,} {text}" for word, text in _HANDED_OVER.items() if said.get(word)]
    parts = [f"people had {' and '.join(people)}"] if people else []
    return f"of these, {', '.join([*parts, *rest])}"


def _print_questions(report: Report) -> None:
    asked = report["questions"]
    if not (asked["then"] or asked["would"]):
        return
    print_line("")
    would = f"{asked['would_per_day']:g}"
    then = f"{asked['then_per_day']:g}"
    were = "were asked" if report["baseline"] is None else "by the other policy"
    text = f"Questions for people: {would} a day would be asked, {then} a day {were}"
    print_wrapped(2, f"{text} ({asked['would']:,} and {asked['then']:,} in all)")


def _print_kind(report: Report, kind: str, shorts: Shorts) -> None:
    examples = report["examples"].get(kind)
    if not examples:
        return
    label, style = _LABELS[kind]
    print_heading(label.capitalize())
    for hook, figures in report["by_hook"].items():
        if figures.get(kind):
            print_wrapped(2, (style, f"{figures[kind]:,} "), f"by {escape(hook)}")
    for example in examples:
        _print_example(example, shorts)
    rest = report["differences"][kind] - len(examples)
    if rest > 0:
        print_wrapped(2, ("dim", f"and {rest:,} more; --examples shows more of them"))


def _print_example(example: Mapping[str, Any], shorts: Shorts) -> None:
    print_line("")
    when = example["time"][:19].replace("T", " ")
    where = f"{shorts[Path(example['trail'])]} record {example['sequence']}"
    what = example["tool"] or example["event"]
    print_wrapped(2, ("dim", f"{when}  "), ("tool", f"{escape(what)}  "), ("dim", escape(where)))
    if example["about"]:
        print_wrapped(4, _shorten(example["about"]))
    for label, text in _list_details(example):
        print_wrapped(4, ("dim", f"{label} "), _shorten(text))


def _list_details(example: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "changes" not in example or example["would"]["action"] != "continue":
        yield "was:  ", _describe_verdict(example["was"], _WAS)
        yield "would:", _describe_verdict(example["would"], _WOULD)
    if "error" in example:
        yield (
            "error:",
            f"{example['error']} ({example['at']})" if example["at"] else example["error"],
        )
    for change in example.get("changes", ()):
        yield f"{escape(change['field'])}:", _describe_change(change)
    if unasked := example.get("not_asked_then"):
        yield "note: ", f"hooks behind it were not asked then: {', '.join(unasked)}"
    if person := example["person"]:
        yield "then: ", _describe_person(person)


def _describe_person(person: Mapping[str, Any]) -> str:
    day = person["time"][:10]
    if to := person.get("to"):
        found = _ASKED_BY_OTHERS[person["state"]]
        return f"handed over to {to} on {day}, which asked its person: {found}"
    who = person["by"] or "a person"
    did = "allowed" if person["allowed"] else "refused"
    comment = f": {person['comment']}" if person["comment"] else ""
    return f"{who} {did} it on {day}{comment}"


def _describe_change(change: Mapping[str, str]) -> str:
    if not change["was"]:
        return f"added: {change['would']}"
    if change["would"]:
        return f"{change['was']} → {change['would']}"
    return f"removed: {change['was']}"


def _describe_verdict(verdict: Mapping[str, Any], words: Mapping[str, str]) -> str:
    text = words.get(verdict["action"], verdict["action"])
    by = f" by {verdict['hook']}" if verdict["hook"] and verdict["action"] != "continue" else ""
    why = verdict["reason"] or next(iter(verdict["asks"]), "")
    return f"{text}{by}: {why}" if why else text + by


def _shorten(text: str) -> str:
    line = get_first_line(text)
    return escape(line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…")


def _print_unclear(report: Report, shorts: Shorts) -> None:
    if not report["cannot_tell"]:
        return
    print_heading("Cannot tell")
    for one in report["cannot_tell"]:
        about = f" ({escape(one['field'])})" if one["field"] else ""
        text = f"{escape(one['hook'] or 'no hook')}{about}: {escape(one['why'])}"
        print_wrapped(2, ("warn", f"{one['count']:,} "), text)
        shown = [_name_place(place, shorts) for place in one["places"][:_PLACES]]
        more = ", …" if one["count"] > len(shown) else ""
        print_wrapped(4, ("dim", f"{', '.join(shown)}{more}"))


def _name_place(place: Mapping[str, Any], shorts: Shorts) -> str:
    return escape(f"{shorts[Path(place['trail'])]} record {place['sequence']} {place['event']}")


def _print_not_run(report: Report) -> None:
    if not report["not_run"]:
        return
    print_heading("Not run")
    for one in report["not_run"]:
        taken = f"its answers were on record in {one['answers_taken_in']} of {report['sessions']}"
        parts: tuple[Part, ...] = (
            ("tool", escape(one["module"])),
            f": {one['why']}; {taken} sessions",
        )
        print_wrapped(2, *parts)


def _print_times(report: Report) -> None:
    times = {name: one for name, one in report["times"].items() if one["calls"]}
    if not times:
        return
    print_heading("Time of hooks")
    head: list[Cell] = [(("dim", one),) for one in ("hook", "calls", "p50 ms", "p99 ms")]
    rows = [
        [escape(name), f"{one['calls']:,}", *(_write_ms(one[key]) for key in ("p50_ms", "p99_ms"))]
        for name, one in times.items()
    ]
    numbers = [Column(align="right")] * 3
    print_table([head, *rows], Column(overflow="cut end"), *numbers, indent=2)


def _write_ms(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
