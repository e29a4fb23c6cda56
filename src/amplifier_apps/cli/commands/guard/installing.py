"""Installing a guard and removing it: what is asked before, and what is said afterwards."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amplifier_apps.cli import exit_codes
from amplifier_apps.cli.commands.guard.claude_version import check_version
from amplifier_apps.cli.commands.guard.trusting import require_trust
from amplifier_apps.cli.text.escape import escape
from amplifier_apps.cli.text.output import print_line, print_wrapped
from amplifier_core.errors import AmplifierError
from amplifier_foundation.guests.installing.agents import AGENTS
from amplifier_foundation.guests.installing.guard import Outcome, Wish, put_up, take_down
from amplifier_foundation.guests.installing.installation import Target, list_ours
from amplifier_foundation.guests.installing.places import find_root

if TYPE_CHECKING:
    from amplifier_foundation.guests.installing.bundle_state import BundleState
    from amplifier_foundation.guests.installing.places import Scope

_MARKS = ("CLAUDECODE", "GEMINI_CLI", "COPILOT_CLI", "CURSOR_AGENT", "OPENCODE", "CODEX_SANDBOX")
"""In the environment of what agents run."""


class RunByAgent(AmplifierError):
    """An agent must not change its own guard."""


def install_guard(
    target: Target, bundle: Path | None, *, every_event: bool, http: bool, as_json: bool
) -> int:
    """Have the bundle trusted, install the guard, and say what a person must know about it."""
    refuse_agent()
    doubt = check_version() if http else ""
    state = require_trust(bundle, target.root)
    outcome = put_up(target, Wish(bundle, http, every_event))
    notes = [*_list_notes(target, outcome, http=http), *filter(None, [doubt])]
    if as_json:
        click.echo(json.dumps(_to_plain(target, outcome, state, notes), indent=2))
    else:
        _print_installed(target, outcome, state, notes)
    return _choose_code(outcome)


def remove_guard(name: str, scope: Scope | None, *, as_json: bool) -> int:
    """Take the guard out of the settings that it is in."""
    refuse_agent()
    target = _find_installed(name, scope)
    outcome = take_down(target)
    if as_json:
        plain = {"agent": name, "scope": target.scope, "file": str(outcome.change.path)}
        plain |= {"change": outcome.change.kind, "problem": outcome.untrusted}
        click.echo(json.dumps(plain, indent=2))
        return _choose_code(outcome)
    title, path = AGENTS[name].title, escape(str(outcome.change.path))
    if outcome.untrusted:
        print_wrapped(0, ("bad", "✗ "), escape(outcome.untrusted))
    if outcome.change.kind == "absent":
        print_line(f"There is no guard of ours in {path}.")
    else:
        print_line(("good", "✓ "), f"{title} is no longer guarded by {path}")
    return _choose_code(outcome)


def _choose_code(outcome: Outcome) -> int:
    return exit_codes.FAILED if outcome.untrusted else exit_codes.DONE


def refuse_agent() -> None:
    """Raise RunByAgent if this command was started by an agent that a guard may be before."""
    from amplifier_apps.cli.commands.approvals.desk import refuse_agents

    refuse_agents()
    mark = next((one for one in _MARKS if os.environ.get(one)), None)
    if mark is not None:
        raise RunByAgent(
            f"This command was started by an agent ({mark} is set), and an agent cannot change its "
            "own guard. Use a terminal of your own"
        )


def _find_installed(name: str, scope: Scope | None) -> Target:
    """Where the guard is; the one that is named, or the only one."""
    root, has_bundle = find_root(Path.cwd())
    scopes: tuple[Scope, ...] = (scope,) if scope else ("project", "user")
    found = [one for one in scopes if list_ours(Target(name, one, root))]
    if len(found) > 1:
        raise click.UsageError(
            "The guard is installed for you and for this project; add --user or --project"
        )
    default: Scope = scope or ("project" if has_bundle else "user")
    return Target(name, found[0] if found else default, root)


def _list_notes(target: Target, outcome: Outcome, *, http: bool) -> Iterator[str]:
    from amplifier_foundation.guests.installing.status import read_notes

    title = AGENTS[target.agent].title
    if outcome.change.kind != "unchanged":
        yield f"Start {title} anew: sessions that are open may not know the guard."
    yield from read_notes(target.agent, target.root)
    if target.scope == "project" and is_shared(outcome.change.path):
        yield (
            f"{outcome.change.path} holds paths of this machine: keep it out of version control, "
            "or use --user."
        )
    if http:
        yield "With HTTP_PROXY set, NO_PROXY must name 127.0.0.1, or everything is denied."


def is_shared(path: Path) -> bool:
    """Whether git would take the file into the repository."""
    try:
        done = subprocess.run(
            ["git", "check-ignore", "-q", path],
            cwd=path.parent,
            capture_output=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 1


def _print_installed(
    target: Target, outcome: Outcome, state: BundleState, notes: list[str]
) -> None:
    kind, title = outcome.change.kind, AGENTS[target.agent].title
    where = "in this project" if target.scope == "project" else "in every folder"
    done = {"unchanged": "was guarded already", "updated": "is guarded with these options now"}
    print_line(("good", "✓ "), f"{title} {done.get(kind, 'is guarded now')}, {where}")
    rows = [("file", str(outcome.change.path)), ("events", str(len(outcome.events)))]
    rows.append(("bundle", ", ".join(state.sources) or "the packaged one"))
    for name, value in rows:
        print_line(("dim", f"  {name:<8}"), escape(value))
    if outcome.untrusted:
        print_wrapped(0, ("bad", "✗ "), escape(outcome.untrusted))
    for note in notes:
        print_wrapped(0, ("dim", "! "), escape(note))


def _to_plain(
    target: Target, outcome: Outcome, state: BundleState, notes: list[str]
) -> dict[str, Any]:
    return {
        "agent": target.agent,
        "scope": target.scope,
        "file": str(outcome.change.path),
        "change": outcome.change.kind,
        "events": list(outcome.events),
        "bundle": state.sources,
        "problem": outcome.untrusted,
        "notes": notes,
    }
