"""amplifier guard: put the hooks of a bundle in front of the coding agents that people use."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amplifier_core.errors import AmplifierError
from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.commands.guard.mcp import mcp
from amplifier_hooks.cli.options import AS_JSON, BUNDLE, add_options
from amplifier_hooks.coding_agents.known import KNOWN, TITLES

if TYPE_CHECKING:
    from amplifier_hooks.coding_agents.installing.installation import Target
    from amplifier_hooks.coding_agents.installing.places import Scope
    from amplifier_hooks.coding_agents.self_test.context import Finding

_HELP = """Guard {title} with your hooks.

By default the guard is for this project if the folder, or one above it in the repository, has an
amplifier.yaml, and else for you, in every folder. What is in the settings of {title} stays as it
is. --status ends with 0 only if the guard really stands.

"""
_HELP_SYSTEM = """
A project that you did not write can switch off the guard that is in your own settings. It cannot
switch off one that root has put up with --system, for every user of the machine.
"""
_EPILOG = """\b
Examples:
  amplifier guard {name}
  amplifier guard {name} --user --bundle ~/strict.yaml
  amplifier guard {name} --status
  amplifier guard {name} --remove
"""
_HTTP = click.option(
    "--http",
    is_flag=True,
    help="Have it call a local server, which is faster, instead of a program. Needs 2.1.325 or "
    "later: older versions let calls through when the server cannot be reached.",
)
_MANAGED_ONLY = click.option(
    "--managed-only",
    is_flag=True,
    help="With --system: also have it run no hooks and mods but those in the settings of the "
    "machine.",
)
_SYSTEM = click.option(
    "--system",
    "scope",
    flag_value="system",
    help="For every user of this machine, where no project can switch it off. Needs root.",
)
_OPTIONS: list[Callable[[Any], Any]] = [
    click.option("--user", "scope", flag_value="user", help="For you, in every folder."),
    click.option("--project", "scope", flag_value="project", help="Only for this project."),
    BUNDLE,
    click.option("--status", "show", is_flag=True, help="Show whether the guard stands."),
    click.option("--remove", is_flag=True, help="Remove the guard without a trace."),
    click.option(
        "--every-event", is_flag=True, help="Also events that happen many times a second."
    ),
    AS_JSON,
]


def make_agent_command(name: str, title: str) -> click.Command:
    """The command for one agent."""

    def run(
        scope: Scope | None,
        bundle: Path | None,
        show: bool,
        remove: bool,
        every_event: bool,
        as_json: bool,
        http: bool = False,
        managed_only: bool = False,
    ) -> int:
        installs = bool(bundle or every_event or http or managed_only)
        _check(show=show, remove=remove, installs=installs)
        _check_system(scope, bundle=bundle, http=http, managed_only=managed_only)
        if show:
            from amplifier_hooks.cli.commands.guard.installing import show_one

            return show_one(name, Path.cwd(), as_json=as_json)
        from amplifier_hooks.cli.commands.guard.installing import run_install, run_removal
        from amplifier_hooks.coding_agents.installing.guard import GuardOptions

        if remove:
            return run_removal(name, scope, as_json=as_json)
        target = _choose_target(name, scope)
        full = None if bundle is None else bundle.absolute()
        wish = GuardOptions(full, http, every_event, managed_only)
        return run_install(target, wish, as_json=as_json)

    known = KNOWN[name]
    has_system = bool(known.place.system)
    own = [_SYSTEM] if has_system else []
    own += [_HTTP] if known.speaks_http else []
    own += [_MANAGED_ONLY] if known.managed_only else []
    options = [*_OPTIONS[:-2], *own, *_OPTIONS[-2:]]
    help = _HELP.format(title=title) + (_HELP_SYSTEM if has_system else "")
    command = click.command(name, help=help, epilog=_EPILOG.format(name=name))
    return command(add_options(run, options))


def _check(*, show: bool, remove: bool, installs: bool) -> None:
    if show and remove:
        raise click.UsageError("Use only one of --status and --remove")
    if (show or remove) and installs:
        raise click.UsageError(
            "--bundle, --every-event, --http and --managed-only say what to install; "
            "they do not go with --status and --remove"
        )


def _check_system(
    scope: Scope | None, *, bundle: Path | None, http: bool, managed_only: bool
) -> None:
    if scope == "system" and (bundle is not None or http):
        raise click.UsageError(
            "--bundle and --http do not go with --system: each session is judged by the bundle of "
            "its folder or of its user, whose trust counts"
        )
    if managed_only and scope != "system":
        raise click.UsageError("--managed-only goes with --system")


def _choose_target(name: str, scope: Scope | None) -> Target:
    from amplifier_hooks.coding_agents.installing.installation import Target
    from amplifier_hooks.coding_agents.installing.places import find_root

    root, has_bundle = find_root(Path.cwd())
    return Target(name, scope or ("project" if has_bundle else "user"), root)


_WORDS = {
    "ok": ("good", "ok"),
    "cannot": ("dim", "cannot"),
    "yours": ("dim", "yours"),
    "broken": ("bad", "NOT"),
    "untried": ("bad", "untried"),
}
_WIDTH = 44
CHECK_EXAMPLES = """\b
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


@click.command(epilog=CHECK_EXAMPLES)
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


EPILOG = """\b
Examples:
  amplifier guard                     how the agents on this machine are guarded
  amplifier guard claude              put a guard in front of Claude Code
  amplifier guard codex --user        in every folder, not only in this project
  amplifier guard gemini --status
  amplifier guard copilot --remove
  amplifier guard check claude        fire events through it, and see that it works
  amplifier guard mcp                 put the gateway before the MCP servers of every client
"""


@click.group(epilog=EPILOG, invoke_without_command=True)
@AS_JSON
@click.pass_context
def guard(ctx: click.Context, as_json: bool) -> int:
    """Guard Claude Code, Codex, Gemini CLI and others with your hooks.

    Every event of the agent is then judged by the hooks of the bundle, and nothing that could not
    be judged is allowed. Without an agent: how those on this machine are guarded, with exit code 0
    only if all of them are.
    """
    if ctx.invoked_subcommand is not None:
        return 0
    from amplifier_hooks.cli.commands.guard.installing import show_all

    return show_all(Path.cwd(), as_json=as_json)


for _name, _title in TITLES.items():
    guard.add_command(make_agent_command(_name, _title))
guard.add_command(check)
guard.add_command(mcp)
