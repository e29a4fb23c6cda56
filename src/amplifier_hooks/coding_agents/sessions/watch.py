"""Whether the settings that guard an agent are still what they were when its session began.

They are read at every event. A stamp of the file would be cheaper, but what writes through a
mapping of a file need not change any; a settings file is small.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amplifier_core import events
from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.dialects.reading import name_event
from amplifier_hooks.coding_agents.installing.agents import AGENTS
from amplifier_hooks.coding_agents.installing.contents import read_contents
from amplifier_hooks.coding_agents.installing.places import (
    PLACES,
    find_root,
    find_settings,
    list_beside,
    list_scopes,
)
from amplifier_hooks.coding_agents.installing.record import Records
from amplifier_hooks.coding_agents.installing.settings_file import (
    SettingsError,
    SettingsFile,
    read_settings,
)
from amplifier_hooks.coding_agents.installing.switches import (
    SwitchFile,
    find_switches,
    list_switch_files,
)
from amplifier_hooks.coding_agents.installing.system import open_system_records
from amplifier_hooks.coding_agents.known import KNOWN
from amplifier_hooks.machine.files import compute_digest


@dataclass(frozen=True, slots=True)
class View:
    """What one settings file says about our guard."""

    entries: Mapping[str, str]
    """The digest of our entry, by event."""
    switches: tuple[str, ...] = ()
    """What in it keeps hooks from running."""
    problem: str = ""
    """Why it cannot be read."""


class Watch:
    """Looks at all settings files of one agent that are in force where its session began."""

    def __init__(self, agent: str, start: Path, seen: Any = None) -> None:
        self._agent = agent
        self._roots = list(dict.fromkeys((start, find_root(start)[0])))
        self._contents: dict[Path, bytes | None] = {}
        self._views: dict[Path, View] = {}
        # Where a variable said so when the guard was installed.
        self._elsewhere = [
            path
            for record in Records().list()
            if record.scope == "user" and record.agent == agent
            for path in list_beside(agent, Path(record.path))
        ]
        loaded = _load(seen)
        self._start = self._read_all() if loaded is None else loaded

    def look(self) -> list[str]:
        """What has been done to the guard since the session began; nothing, if all is well."""
        now = self._read_all()
        found = [
            f"{path}: {what}"
            for path in {**self._start, **now}
            for what in self._compare(path, now.get(path, View({})))
        ]
        return [*found, *self._find_missing_gate(now)]

    def list_switched_off(self) -> list[str]:
        """What keeps hooks of any guarded agent from running in this project."""
        guarded = {one.agent for one in (*Records().list(), *open_system_records().list())}
        return [
            f"{AGENTS[name].title}: {what}"
            for name in AGENTS
            if name in guarded
            for root in self._roots
            for what in find_switches(name, root, managed=_is_managed(name))
        ]

    def save(self) -> dict[str, Any]:
        """For the process that goes on with the session."""
        return {
            str(path): [dict(one.entries), list(one.switches), one.problem]
            for path, one in self._start.items()
        }

    def _compare(self, path: Path, now: View) -> Iterator[str]:
        before = self._start.get(path, View({}))
        if now == before:
            return
        changes = list(_describe_changes(before, now))
        if changes and self._is_by_person(path, before, now):
            self._start[path] = now
            return
        yield from changes

    def _is_by_person(self, path: Path, before: View, now: View) -> bool:
        """Whether a command of ours made the change, or a person was shown it by one."""
        content = self._contents.get(path)
        digest = None if content is None else compute_digest(content)
        for records in (Records(), open_system_records()):
            record = records.find(path)
            if record is not None and record.written == digest:
                return True
            if digest is not None and records.find_accepted(path) == digest:
                return True
        is_removed = bool(before.entries) and not now.entries and not now.switches
        recorded = Records().find(path) or open_system_records().find(path)
        return is_removed and recorded is None and not now.problem

    def _find_missing_gate(self, now: Mapping[Path, View]) -> Iterator[str]:
        """Whether we are called at some events, but at none that comes before a tool."""
        installed = {event for view in now.values() for event in view.entries}
        rows = DIALECTS[self._agent].events
        tools = {name for name, row in rows.items() if name_event(name, row) == events.TOOL_PRE}
        if installed & rows.keys() and not installed & tools:
            title = AGENTS[self._agent].title
            yield f"nothing of ours is before the tools of {title} ({', '.join(sorted(tools))})"

    def _read_all(self) -> dict[Path, View]:
        return {path: self._read(path, find) for path, find in self._list_files().items()}

    def _list_files(self) -> dict[Path, SwitchFile | None]:
        """Those that hold our entries, those that hold switches, and those that do both."""
        agents = (self._agent, *KNOWN[self._agent].also_reads)
        names = [name for agent in agents for name in PLACES[agent].project]
        paths = [root / name for root in self._roots for name in names]
        scopes = list_scopes(self._agent)
        paths += [find_settings(self._agent, scope, self._roots[0]) for scope in scopes]
        found: dict[Path, SwitchFile | None] = dict.fromkeys([*paths, *self._elsewhere])
        for root in self._roots:
            found |= {one.path: one for one in list_switch_files(self._agent, root)}
        return found

    def _read(self, path: Path, switches: SwitchFile | None) -> View:
        try:
            file = read_settings(path)
        except SettingsError as error:
            self._contents.pop(path, None)
            return View({}, problem=str(error))
        if path not in self._views or self._contents.get(path) != file.content:
            self._contents[path] = file.content
            self._views[path] = _make_view(self._agent, file, switches)
        return self._views[path]


def _make_view(agent: str, file: SettingsFile, switches: SwitchFile | None) -> View:
    if file.content is None:
        return View({})
    # Copilot and Cursor run what is in Claude's files, in Claude's form.
    owner = "claude" if file.path.parent.name == ".claude" else agent
    off = () if switches is None else tuple(switches.list_switches(file))
    if KNOWN[owner].is_plugin and file.path.suffix != ".js":
        return View({}, off)
    try:
        entries = read_contents(AGENTS[owner], file).entries
    except SettingsError as error:
        return View({}, off, str(error))
    digests = {
        event: compute_digest(json.dumps(one, sort_keys=True).encode())
        for event, one in entries.items()
    }
    return View(digests, off)


def _describe_changes(before: View, now: View) -> Iterator[str]:
    if now.problem and not before.problem:
        yield f"it can no longer be read ({now.problem})"
        return
    for word, events_ in (
        ("gone", [one for one in before.entries if one not in now.entries]),
        ("changed", [e for e, d in before.entries.items() if now.entries.get(e, d) != d]),
    ):
        if events_:
            yield f"our entry is {word}: {', '.join(events_)}"
    yield from (one for one in now.switches if one not in before.switches)


def _is_managed(agent: str) -> bool:
    if "system" not in list_scopes(agent):
        return False
    try:
        path = find_settings(agent, "system", Path("/"))
        return bool(read_contents(AGENTS[agent], read_settings(path)).entries)
    except SettingsError:
        return False


def _load(seen: Any) -> dict[Path, View] | None:
    """What was saved; None if that cannot be read, as of a session of an older version."""
    try:
        return {
            Path(path): View(dict(entries), tuple(switches), str(problem))
            for path, (entries, switches, problem) in seen.items()
        }
    except (AttributeError, TypeError, ValueError):
        return None
