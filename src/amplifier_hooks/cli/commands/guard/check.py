"""amplifier guard check AGENT: fire events through the guard that is installed, and see."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amplifier_core.errors import AmplifierError
from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.options import AS_JSON
from amplifier_hooks.coding_agents.known import TITLES

if TYPE_CHECKING:
    from amplifier_hooks.coding_agents.installing.installation import Target
    from amplifier_hooks.coding_agents.self_test.context import Finding

_WORDS = {
    "ok": ("good", "ok"),
    "cannot": ("dim", "cannot"),
    "yours": ("dim", "yours"),
    "broken": ("bad", "NOT"),
    "untried": ("bad", "untried"),
}
_WIDTH = 44
EPILOG = """\b
"cannot" is no failure: the agent has no way to do this. "yours" is none either: your own hooks
blocked the harmless command of the check. What stays of a check is the trail of its session,
whose name has "amplifier-check" in it.

\b
Examples:
  amplifier guard check claude
  amplifier guard check codex --json
"""


class NotGuarded(AmplifierError):
    """There is nothing to check."""


@click.command(epilog=EPILOG)
@click.argument("agent", type=click.Choice(list(TITLES)))
@AS_JSON
def check(agent: str, as_json: bool) -> int:
    """Prove that an installed guard works.

    The check plays the agent: it calls exactly the command that stands in the agent's settings,
    with events of its own, and reads the answers as the agent does. Nothing of what it asks about
    is run. Exit code 0 only if everything works that the agent can do.
    """
    from amplifier_hooks.coding_agents.installing.places import find_root

    root, _ = find_root(Path.cwd())
    targets = _find_installed(agent, root)
    reports = [_check_target(one, quiet=as_json) for one in targets]
    if as_json:
        import json

        click.echo(json.dumps(reports, indent=2))
    works = all(one["works"] for one in reports)
    return exit_codes.DONE if works else exit_codes.FAILED


def _find_installed(agent: str, root: Path) -> list[Target]:
    from amplifier_hooks.coding_agents.installing.installation import Target, list_ours
    from amplifier_hooks.coding_agents.installing.places import list_scopes

    every = [Target(agent, scope, root) for scope in list_scopes(agent)]
    found = [one for one in every if list_ours(one)]
    if not found:
        files = " nor in ".join(str(one.path) for one in every)
        raise NotGuarded(
            f"{TITLES[agent]} is not guarded here: nothing of ours is in {files}. "
            f"Put a guard up with: amplifier guard {agent}"
        )
    return found


def _check_target(target: Target, *, quiet: bool) -> dict[str, Any]:
    """Check one settings file, and show each line as soon as it is known."""
    from amplifier_hooks.cli.text.output import print_heading, print_line
    from amplifier_hooks.coding_agents.self_test.check import Check
    from amplifier_hooks.coding_agents.self_test.entry import read_entries
    from amplifier_hooks.text.escape import escape

    if not quiet:
        print_heading(escape(f"{TITLES[target.agent]}, {target.path}"))
    run = Check(target.agent, read_entries(target), Path.cwd())
    findings = []
    for one in chain(run.run(), run.ask_agent(target.root)):
        findings.append(one)
        if not quiet:
            _print(one)
    works = not any(one.fails for one in findings)
    if not quiet and run.milliseconds is not None:
        print_line(("dim", f"  One call takes {run.milliseconds:.0f} ms."))
    return {
        "agent": target.agent,
        "scope": target.scope,
        "file": str(target.path),
        "works": works,
        "milliseconds": run.milliseconds,
        "lines": [{"name": one.name, "state": one.state, "detail": one.detail} for one in findings],
    }


def _print(finding: Finding) -> None:
    from amplifier_hooks.cli.text.output import print_line
    from amplifier_hooks.text.escape import escape

    style, word = _WORDS[finding.state]
    print_line(
        (style, f"  {word:<8}"), f"{finding.name:<{_WIDTH}}", ("dim", escape(finding.detail))
    )
