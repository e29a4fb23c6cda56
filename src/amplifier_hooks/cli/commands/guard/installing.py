"""Putting guards up, taking them down, and which are up."""

from __future__ import annotations

import asyncio
import json
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amplifier_core.errors import AmplifierError
from amplifier_hooks.agent.trust.material import Material, Untrusted
from amplifier_hooks.agent.trust.store import TrustStore
from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.approval.trust_question import ask_for_trust
from amplifier_hooks.cli.person import refuse_agents
from amplifier_hooks.cli.text.output import print_line, print_wrapped
from amplifier_hooks.coding_agents.daemon import control
from amplifier_hooks.coding_agents.installing.agents import (
    AGENTS,
    ask_version,
    explain_version,
    find_program,
    is_older,
)
from amplifier_hooks.coding_agents.installing.bundle_state import BundleState, read_bundle_state
from amplifier_hooks.coding_agents.installing.guard import (
    GuardOptions,
    Outcome,
    install_guard,
    remove_guard,
)
from amplifier_hooks.coding_agents.installing.installation import Target, list_ours
from amplifier_hooks.coding_agents.installing.places import find_root, list_scopes
from amplifier_hooks.coding_agents.installing.status import Installed, Status, read_status
from amplifier_hooks.text.escape import escape

if TYPE_CHECKING:
    from amplifier_hooks.coding_agents.installing.bundle_state import BundleState
    from amplifier_hooks.coding_agents.installing.places import Scope


def show_one(name: str, folder: Path, *, as_json: bool) -> int:
    """Show one guard; 0 if it works."""
    root, _ = find_root(folder)
    report = _Report(read_status(name, root), root)
    if as_json:
        click.echo(json.dumps(report.to_plain(), indent=2))
    else:
        report.print()
    return exit_codes.DONE if report.works else exit_codes.FAILED


def show_all(folder: Path, *, as_json: bool) -> int:
    """Show the guards of all agents that are on this machine; 0 if all stand."""
    root, _ = find_root(folder)
    found = [read_status(name, root) for name in AGENTS]
    shown = [_Report(one, root) for one in found if one.program or one.installed]
    if as_json:
        click.echo(json.dumps([one.to_plain() for one in shown], indent=2))
    else:
        _print_all(shown)
    works = bool(shown) and all(one.works for one in shown)
    return exit_codes.DONE if works else exit_codes.FAILED


def _print_all(shown: list[_Report]) -> None:
    if not shown:
        names = ", ".join(AGENTS)
        click.echo(f"No agent was found on the PATH, and none is guarded; there are {names}.")
    for one in shown:
        one.print()


class _Report:
    """The status of one guard, with its bundle and the resident process."""

    def __init__(self, status: Status, root: Path) -> None:
        self.status = status
        self._root = root
        self._bundles = [check_bundle(one.bundle, root) for one in status.installed]
        self._residents = [_check_resident(one) for one in status.installed]
        self.problems = status.list_problems()
        checks = (*self._bundles, *self._residents)
        self.problems += dict.fromkeys(one["problem"] for one in checks if one.get("problem"))

    @property
    def works(self) -> bool:
        """Whether nothing keeps the guard from working."""
        return bool(self.status.installed) and not self.problems

    @property
    def _version(self) -> str:
        return f" {self.status.version}" if self.status.version else ""

    def to_plain(self) -> dict[str, Any]:
        """As JSON has it."""
        rows = zip(self.status.installed, self._bundles, self._residents, strict=True)
        return {
            "agent": self.status.agent.name,
            "program": self.status.program,
            "version": self.status.version,
            "stands": self.works,
            "installed": [
                {
                    "scope": one.scope,
                    "file": str(one.path),
                    "events": list(one.events),
                    "bundle": bundle,
                    "resident": resident,
                }
                for one, bundle, resident in rows
            ],
            "problems": self.problems,
            "notes": list(self.status.notes),
            "extensions": [
                {"kind": one.kind, "name": one.name, "file": str(one.where), "can": one.can}
                for one in self.status.extensions
            ],
        }

    def print(self) -> None:
        """For a person."""
        title = self.status.agent.title
        name = self.status.agent.name
        if not self.status.installed:
            print_line(("bad", "✗ "), f"{title} is not guarded: amplifier guard {name}")
        elif self.works:
            print_line(("good", "✓ "), f"{title}{self._version} is guarded")
        else:
            print_line(("bad", "✗ "), f"{title}{self._version} is not guarded as it should be")
        rows = zip(self.status.installed, self._bundles, self._residents, strict=True)
        for one, bundle, resident in rows:
            print_line(
                ("dim", f"  {one.scope:<8}"), escape(f"{one.path}, {len(one.events)} events")
            )
            print_line(
                ("dim", "  bundle  "), escape(", ".join(bundle["files"]) or "the packaged one")
            )
            print_line(("dim", "  process "), escape(resident["text"]))
        for problem in self.problems:
            print_wrapped(2, ("bad", "✗ "), escape(problem))
        for note in self.status.notes:
            print_wrapped(2, ("dim", "! "), escape(note))
        self._print_extensions()

    def _print_extensions(self) -> None:
        """By what they can do, since there may be many."""
        for can in dict.fromkeys(one.can for one in self.status.extensions):
            names = [one for one in self.status.extensions if one.can == can]
            listed = ", ".join(f"{one.kind} {one.name}" for one in names)
            print_wrapped(2, ("dim", "! "), escape(f"{listed}: {can}"))


def check_bundle(named: Path | None, root: Path) -> dict[str, Any]:
    """The files of a bundle, whether it is trusted, and what to do if it is not."""
    from amplifier_core.errors import AmplifierError
    from amplifier_hooks.agent.bundles import BundleError

    files = [] if named is None else [str(named)]
    if named is not None and not named.is_file():
        return {"files": files, "trusted": False}  # the status says so
    try:
        state = read_bundle_state(named, root)
    except (BundleError, AmplifierError, OSError) as error:
        return {"files": files, "trusted": False, "problem": f"everything is denied: {error}"}
    if state.trusted:
        return {"files": state.sources, "trusted": True}
    why = f"nobody has trusted what {state.material.name or 'the bundle'} runs in {root}"
    if damage := TrustStore().find_damage(state.material):
        why = f"the record of what was trusted in {root} is damaged: {damage.path} ({damage.why})"
    option = "" if named is None else f" --bundle {shlex.quote(str(named))}"
    command = f"amplifier trust{option}"
    problem = f"{why}, so everything is denied there; look at it and allow it: {command}"
    return {"files": state.sources, "trusted": False, "problem": problem}


def _check_resident(installed: Installed) -> dict[str, Any]:
    """The process that judges; it is started when it is needed."""
    if installed.folder is None:
        return {"running": False, "text": "unknown"}
    if installed.scope == "system" and not installed.folder.exists():
        return {"running": False, "text": "starts with the first event of this user"}
    try:
        found = control.read_status(installed.folder)
    except (OSError, ValueError) as error:
        return {"running": False, "text": "does not answer", "problem": str(error)}
    if found is None:
        return {"running": False, "text": "starts with the next event"}
    text = f"{found['pid']}, {found['sessions']} sessions"
    http = found.get("http") or {}
    problem = "; ".join(filter(None, [http.get("problem", ""), *(found.get("alarms") or ())]))
    return {"running": True, "text": text, "problem": problem, **found}


_CLOSED_SINCE = "2.1.325"


class TooOld(AmplifierError):
    """This version would let calls through."""


def check_version() -> str:
    """Refuse a Claude Code that does not block when a hook's server fails: TooOld.

    Returns what a person must find out, where the version cannot be read.
    """
    program = find_program(("claude",), Path.cwd())
    found = "" if program is None else ask_version(program)
    if not found:
        wanted = f"Claude Code {_CLOSED_SINCE} or later"
        return f"Use {wanted}: older ones let calls through when HTTP fails."
    if is_older(found, _CLOSED_SINCE):
        raise TooOld(
            f"Claude Code {found} may let calls through when a hook's server cannot be reached; "
            f"update it to {_CLOSED_SINCE} or later, or leave out --http"
        )
    return ""


def require_trust(bundle: Path | None, root: Path) -> BundleState:
    """Ask for trust if nobody has given it: Untrusted without a yes.

    A guard whose bundle nobody has trusted would deny everything. One that is named is trusted
    where it lies, for all folders, and then what it would also run in this one.
    """
    state = read_bundle_state(bundle, root)
    store = TrustStore()
    for material in (state.where_it_lies, state.material):
        if state.trusted:
            break
        if material is not None and not store.is_trusted(material):
            _ask(material, store, bundle)
        state = read_bundle_state(bundle, root)
    return state


def _ask(material: Material, store: TrustStore, bundle: Path | None) -> None:
    try:
        asyncio.run(ask_for_trust(material, store))
    except Untrusted as error:
        if bundle is None:
            raise
        where = f"in {material.folder}, and add --bundle {shlex.quote(str(bundle))}"
        raise Untrusted(f"{error}. Run that {where}") from error


_WHERE = {
    "project": "in this project",
    "user": "in every folder",
    "system": "for every user of this machine",
}


def run_install(target: Target, wish: GuardOptions, *, as_json: bool) -> int:
    """Have the bundle trusted, install the guard, and say what a person must know about it.

    A guard for every user is not put up for a folder, so there is nothing to trust.
    """
    refuse_agents()
    doubt = check_version() if wish.http else ""
    state = None if target.scope == "system" else require_trust(wish.bundle, target.root)
    outcome = install_guard(target, wish)
    notes = [*_list_notes(target, outcome, http=wish.http), *filter(None, [doubt])]
    if as_json:
        click.echo(json.dumps(_to_plain(target, outcome, state, notes), indent=2))
    else:
        _print_installed(target, outcome, state, notes)
    return _choose_code(outcome)


def run_removal(name: str, scope: Scope | None, *, as_json: bool) -> int:
    """Take the guard out of the settings that it is in."""
    refuse_agents()
    target = _find_installed(name, scope)
    outcome = remove_guard(target)
    if as_json:
        plain = {"agent": name, "scope": target.scope, "file": str(outcome.change.path)}
        plain |= {"change": outcome.change.kind, "problem": outcome.untrusted}
        click.echo(json.dumps(plain, indent=2))
        return _choose_code(outcome)
    title = AGENTS[name].title
    path = escape(str(outcome.change.path))
    if outcome.untrusted:
        print_wrapped(0, ("bad", "✗ "), escape(outcome.untrusted))
    if outcome.change.kind == "absent":
        print_line(f"There is no guard of ours in {path}.")
    else:
        print_line(("good", "✓ "), f"{title} is no longer guarded by {path}")
    return _choose_code(outcome)


def _choose_code(outcome: Outcome) -> int:
    return exit_codes.FAILED if outcome.untrusted else exit_codes.DONE


def _find_installed(name: str, scope: Scope | None) -> Target:
    """Where the guard is; the one that is named, or the only one."""
    root, has_bundle = find_root(Path.cwd())
    scopes: tuple[Scope, ...] = (scope,) if scope else ("project", "user")
    found = [one for one in scopes if list_ours(Target(name, one, root))]
    for_all = scope is None and "system" in list_scopes(name)
    if not found and for_all and list_ours(Target(name, "system", root)):
        raise click.UsageError("The guard is there for every user; root removes it with --system")
    if len(found) > 1:
        raise click.UsageError(
            "The guard is installed for you and for this project; add --user or --project"
        )
    default: Scope = scope or ("project" if has_bundle else "user")
    return Target(name, found[0] if found else default, root)


def _list_notes(target: Target, outcome: Outcome, *, http: bool) -> Iterator[str]:
    from amplifier_hooks.coding_agents.dialects import DIALECTS
    from amplifier_hooks.coding_agents.installing.status import read_notes
    from amplifier_hooks.coding_agents.sessions.approval import SHORT_WAIT

    title = AGENTS[target.agent].title
    if outcome.change.kind != "unchanged":
        yield f"Start {title} anew: sessions that are open may not know the guard."
    if not DIALECTS[target.agent].asks_its_person:
        yield (
            f"{title} cannot ask you. What needs a yes waits {SHORT_WAIT:g} s for `amplifier "
            "approvals` in another shell, then it is refused; a later yes counts when it tries "
            "again."
        )
    if why := explain_version(target.agent, title, outcome.version):
        yield why
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
    target: Target, outcome: Outcome, state: BundleState | None, notes: list[str]
) -> None:
    kind = outcome.change.kind
    title = AGENTS[target.agent].title
    where = _WHERE[target.scope]
    done = {"unchanged": "was guarded already", "updated": "is guarded with these options now"}
    print_line(("good", "✓ "), f"{title} {done.get(kind, 'is guarded now')}, {where}")
    rows = [("file", str(outcome.change.path)), ("events", str(len(outcome.events)))]
    rows += [("version", outcome.version)] if outcome.version else []
    rows.append(("bundle", _describe_bundle(state)))
    for name, value in rows:
        print_line(("dim", f"  {name:<8}"), escape(value))
    if outcome.untrusted:
        print_wrapped(0, ("bad", "✗ "), escape(outcome.untrusted))
    for note in notes:
        print_wrapped(0, ("dim", "! "), escape(note))


def _describe_bundle(state: BundleState | None) -> str:
    if state is None:
        return "that of the folder, else that of the user, else the packaged one"
    return ", ".join(state.sources) or "the packaged one"


def _to_plain(
    target: Target, outcome: Outcome, state: BundleState | None, notes: list[str]
) -> dict[str, Any]:
    return {
        "agent": target.agent,
        "scope": target.scope,
        "file": str(outcome.change.path),
        "change": outcome.change.kind,
        "events": list(outcome.events),
        "version": outcome.version,
        "bundle": None if state is None else state.sources,
        "problem": outcome.untrusted,
        "notes": notes,
    }
