"""amplifier guard AGENT: one command for each agent, with the same options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amplifier_hooks.cli.options import AS_JSON, BUNDLE, add_options
from amplifier_hooks.coding_agents.known import KNOWN

if TYPE_CHECKING:
    from amplifier_hooks.coding_agents.installing.installation import Target
    from amplifier_hooks.coding_agents.installing.places import Scope

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
            from amplifier_hooks.cli.commands.guard.status import show_one

            return show_one(name, Path.cwd(), as_json=as_json)
        from amplifier_hooks.cli.commands.guard.installing import install_guard, remove_guard
        from amplifier_hooks.coding_agents.installing.guard import Wish

        if remove:
            return remove_guard(name, scope, as_json=as_json)
        target = _choose_target(name, scope)
        full = None if bundle is None else bundle.absolute()
        wish = Wish(full, http, every_event, managed_only)
        return install_guard(target, wish, as_json=as_json)

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
