"""amplifier rules: whether rules do what was meant, and which new ones people's answers suggest."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.commands.audit.options import report_errors
from amplifier_hooks.cli.options import AS_JSON, BUNDLE

if TYPE_CHECKING:
    from amplifier_hooks.insight.rule_checks import Rules, StandingGrant

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
    from amplifier_hooks.cli.commands.rules.text import check_to_dict, print_check
    from amplifier_hooks.insight.rule_checks import check_rules

    if no_trails and trails:
        raise click.UsageError("Give --trail or --no-trails, not both")
    groups = _read_groups(files, bundle)
    found = check_rules(groups, [] if no_trails else select(trails), asyncio.run(_read_standing()))
    if as_json:
        import json

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
    from amplifier_hooks.cli.commands.rules.text import (
        choose,
        print_suggestions,
        suggestions_to_dict,
        write_rules,
    )
    from amplifier_hooks.insight.rule_suggestions import Thresholds, suggest_rules

    needed = Thresholds(approvals, sessions, days)
    standing = asyncio.run(_read_standing())
    found = choose(suggest_rules(select(trails), needed, standing), only)
    if file is not None:
        write_rules(file, found)
    if as_json:
        import json

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
    from amplifier_hooks.approvals.stores.store import open_store
    from amplifier_hooks.insight.rule_checks.rules import read_grants

    place = find_store()
    if not names_postgres(place) and not read_path(place).is_file():
        return []
    async with await open_store(place) as store:
        return await read_grants(store, Path.cwd())
