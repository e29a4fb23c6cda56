"""amplifier guard --status: whether the guards really stand, and what is wrong if not."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import click

from amplifier_hooks.agent.trust.store import TrustStore
from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.text.output import print_line, print_wrapped
from amplifier_hooks.coding_agents.daemon import control
from amplifier_hooks.coding_agents.installing.agents import AGENTS
from amplifier_hooks.coding_agents.installing.bundle_state import read_bundle_state
from amplifier_hooks.coding_agents.installing.places import find_root
from amplifier_hooks.coding_agents.installing.status import Installed, Status, read_status
from amplifier_hooks.text.escape import escape


def show_one(name: str, folder: Path, *, as_json: bool) -> int:
    """Show one guard; 0 if it stands."""
    root, _ = find_root(folder)
    report = _Report(read_status(name, root), root)
    if as_json:
        click.echo(json.dumps(report.to_plain(), indent=2))
    else:
        report.print()
    return exit_codes.DONE if report.stands else exit_codes.FAILED


def show_all(folder: Path, *, as_json: bool) -> int:
    """Show the guards of all agents that are on this machine; 0 if all stand."""
    root, _ = find_root(folder)
    found = [read_status(name, root) for name in AGENTS]
    shown = [_Report(one, root) for one in found if one.program or one.installed]
    if as_json:
        click.echo(json.dumps([one.to_plain() for one in shown], indent=2))
    else:
        _print_all(shown)
    stands = bool(shown) and all(one.stands for one in shown)
    return exit_codes.DONE if stands else exit_codes.FAILED


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
    def stands(self) -> bool:
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
            "stands": self.stands,
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
        elif self.stands:
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
