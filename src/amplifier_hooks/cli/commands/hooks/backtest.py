"""amplifier hooks backtest: what other hooks would have decided in recorded sessions."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.commands.audit.options import SINCE, UNTIL, report_errors
from amplifier_hooks.cli.options import AS_JSON, BUNDLE

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
    from amplifier_hooks.cli.commands.hooks.backtest_text import print_findings

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
    from amplifier_hooks.insight.backtest.job import StateFile, holds_something_else
    from amplifier_hooks.machine.locations import find_data_home

    if named is not None and holds_something_else(named):
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
