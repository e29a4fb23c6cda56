"""Contents of an agent's settings file: hooks in JSON or TOML, or a plugin."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Protocol

from amplifier_hooks.coding_agents.installing.agents import Agent, Options, is_ours
from amplifier_hooks.coding_agents.installing.document import (
    add_entries,
    list_entries,
    remove_entries,
    remove_value,
    set_value,
)
from amplifier_hooks.coding_agents.installing.json_edit import JsonProblem
from amplifier_hooks.coding_agents.installing.line import MARK
from amplifier_hooks.coding_agents.installing.settings_file import SettingsError, SettingsFile

_TOML_TABLE = r"(?m)^[ \t]*\[[ \t]*{name}[ \t]*\][ \t]*(?:#[^\n]*)?$"


def list_toml_entries(text: str, is_ours: Callable[[Any], bool]) -> dict[str, list[Any]]:
    """The groups that hold handlers of ours, by event; ValueError if the text is no TOML."""
    hooks = tomllib.loads(text).get("hooks", {})
    if not isinstance(hooks, dict):
        raise ValueError("'hooks' must be a table")  # noqa: TRY004 - of the file, not of the code
    found = {event: _select_ours(groups, is_ours) for event, groups in hooks.items()}
    return {event: groups for event, groups in found.items() if groups}


def add_lines(
    text: str, entries: Mapping[str, Any], switches: Mapping[tuple[str, ...], Any]
) -> str:
    """The text with our entries and switches; ValueError where that is not possible."""
    old = tomllib.loads(text)
    new = text if not text or text.endswith("\n") else text + "\n"
    for path, value in switches.items():
        new = _add_switch(new, old, path, value)
    for event, group in entries.items():
        handlers = _write(group["hooks"])
        new += _end(f"[[hooks.{event}]]") + _end(f"hooks = {handlers}")
    _check(old, tomllib.loads(new), entries, switches)
    return new


def remove_lines(text: str, is_ours: Callable[[Any], bool]) -> str:
    """The text without our lines; ValueError if something of ours would be left."""
    tomllib.loads(text)
    kept = [one for one in text.splitlines(keepends=True) if not one.rstrip().endswith(MARK)]
    new = "".join(kept)
    if list_toml_entries(new, is_ours):
        raise ValueError("entries of ours were rewritten by somebody; remove them by hand")
    return new


def _add_switch(text: str, old: dict[str, Any], path: tuple[str, ...], value: Any) -> str:
    table = old
    key = path[-1]
    for name in path[:-1]:
        table = table.get(name, {})
    if key in table:
        if table[key] != value:
            raise ValueError(f"'{'.'.join(path)}' must be {_write(value)}")
        return text
    line = _end(f"{key} = {_write(value)}")
    if len(path) == 1:  # before every table
        return line + text
    name = ".".join(path[:-1])
    if path[0] not in old:
        return text + _end(f"[{name}]") + line
    found = re.search(_TOML_TABLE.format(name=re.escape(name)), text)
    if found is None:
        raise ValueError(f"'{name}' is not written as a table [{name}]; write it so")
    at = found.end() + 1
    return text[:at] + line + text[at:]


def _check(
    old: dict[str, Any],
    new: dict[str, Any],
    entries: Mapping[str, Any],
    switches: Mapping[tuple[str, ...], Any],
) -> None:
    """Whether TOML reads exactly what was there, and what we have added."""
    for event, group in entries.items():
        old.setdefault("hooks", {}).setdefault(event, []).append(group)
    for path, value in switches.items():
        table = old
        for name in path[:-1]:
            table = table.setdefault(name, {})
        table[path[-1]] = value
    if old != new:
        raise ValueError("this cannot be written without changing the meaning of something else")


def _select_ours(groups: Any, is_ours: Callable[[Any], bool]) -> list[Any]:
    if not isinstance(groups, list):
        return []
    return [
        one for one in groups if isinstance(one, dict) and any(map(is_ours, one.get("hooks") or ()))
    ]


def _end(line: str) -> str:
    return f"{line} {MARK}\n"


def _write(value: Any) -> str:
    """A value as TOML: texts, numbers, and lists and tables of them in one line."""
    if isinstance(value, dict):
        inner = ", ".join(f"{name} = {_write(one)}" for name, one in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_write, value))}]"
    return json.dumps(value, ensure_ascii=False)


_FIRST = f"// {MARK.removeprefix('# ')}: written by `amplifier guard {{agent}}`\n"
_TABLE = "const LINES = "


def build_plugin(agent: Agent, options: Options) -> str:
    """The text of the plugin, with the line for each event."""
    lines = {}
    for event, row in agent.list_events(every_event=options.every_event).items():
        limits = agent.get_limits(event)
        line = options.command.build_line(
            agent.name, event, limits.ours, gate=row.gate, bundle=options.bundle
        )
        lines[event] = {"line": line, "gate": row.gate, "seconds": limits.host or limits.ours}
    program = files(__package__).joinpath("plugin.js").read_text()
    return f"{_FIRST.format(agent=agent.name)}{_TABLE}{json.dumps(lines, indent=2)};\n{program}"


def list_plugin_entries(agent: str, text: str) -> dict[str, list[Any]]:
    """The lines of a plugin of ours, by event; none if it is not ours."""
    if not text.startswith(_FIRST.format(agent=agent)) or _TABLE not in text:
        return {}
    try:
        found, _ = json.JSONDecoder().raw_decode(text[text.index(_TABLE) + len(_TABLE) :])
    except ValueError:
        return {"?": [{"command": ""}]}
    return {event: [{"command": one["line"]}] for event, one in found.items()}


class Contents(Protocol):
    """A settings file with or without us in it. Every method raises SettingsError, or works."""

    @property
    def entries(self) -> dict[str, list[Any]]: ...

    def add(self, options: Options, before: bytes | None) -> bytes: ...

    def remove(self, before: bytes | None) -> bytes: ...

    def is_empty(self, content: bytes) -> bool: ...


def read_contents(agent: Agent, file: SettingsFile) -> Contents:
    """What is in a file, in the form of its agent."""
    if agent.known.is_plugin:
        return PluginContents(agent, file)
    if file.path.suffix == ".toml":
        return TomlContents(agent, file)
    return HookContents(agent, file)


@dataclass(frozen=True, slots=True)
class HookContents:
    """Hooks in JSON, ours among those of others."""

    agent: Agent
    file: SettingsFile

    @property
    def entries(self) -> dict[str, list[Any]]:
        """Our entries, by event."""
        text = self.file.text
        if not text.strip():
            return {}
        try:
            return list_entries(text, self.agent.form)
        except JsonProblem as problem:
            raise self._explain(problem) from problem

    def add(self, options: Options, before: bytes | None) -> bytes:
        """The content with our entries as they are wanted."""
        wanted = self.agent.build_entries(options)
        original = _decode(before)
        try:
            text = add_entries(self.file.text, wanted, self.agent.form, original)
            text = self._keep_switches(text, options, original)
        except JsonProblem as problem:
            raise self._explain(problem) from problem
        return self.file.encode(text)

    def remove(self, before: bytes | None) -> bytes:
        """The content without our entries."""
        try:
            text = remove_entries(self.file.text, self.agent.form, _decode(before))
            for path in (*self.agent.known.keeps_on, *self.agent.known.managed_only):
                text = remove_value(text, path, self.agent.form, _decode(before))
        except JsonProblem as problem:
            raise self._explain(problem) from problem
        return self.file.encode(text)

    def is_empty(self, content: bytes) -> bool:
        """Whether a content says nothing at all."""
        return not _decode(content).strip().strip("{}").strip()

    def _keep_switches(self, text: str, options: Options, original: str) -> str:
        """With the switches that are wanted; one of an earlier installation goes."""
        wanted = self.agent.list_switches(options)
        known = self.agent.known
        for path in (*known.keeps_on, *known.managed_only) if options.system else ():
            if path not in wanted:
                text = remove_value(text, path, self.agent.form, original)
        for path, value in wanted.items():
            text = set_value(text, path, value, self.agent.form)
        return text

    def _explain(self, problem: JsonProblem) -> SettingsError:
        return SettingsError(
            f"{self.file.path}, line {problem.line}: {problem.what}. "
            f"Correct the file, which {self.agent.title} may not read either, and try again; "
            "nothing was changed"
        )


@dataclass(frozen=True, slots=True)
class TomlContents:
    """Hooks in TOML, each line of ours with our mark at its end."""

    agent: Agent
    file: SettingsFile

    @property
    def entries(self) -> dict[str, list[Any]]:
        """Our entries, by event."""
        try:
            return list_toml_entries(self.file.text, is_ours)
        except ValueError as problem:
            raise self._explain(problem) from problem

    def add(self, options: Options, before: bytes | None) -> bytes:
        """The content with our lines as they are wanted."""
        wanted = self.agent.build_entries(options)
        try:
            text = remove_lines(self.file.text, is_ours)
            text = add_lines(text, wanted, self.agent.list_switches(options))
        except ValueError as problem:
            raise self._explain(problem) from problem
        return self.file.encode(text)

    def remove(self, before: bytes | None) -> bytes:
        """The content without our lines."""
        try:
            return self.file.encode(remove_lines(self.file.text, is_ours))
        except ValueError as problem:
            raise self._explain(problem) from problem

    def is_empty(self, content: bytes) -> bool:
        """Whether a content says nothing at all."""
        return not _decode(content).strip()

    def _explain(self, problem: ValueError) -> SettingsError:
        return SettingsError(f"{self.file.path}: {problem}; nothing was changed")


@dataclass(frozen=True, slots=True)
class PluginContents:
    """A program that is all ours."""

    agent: Agent
    file: SettingsFile

    @property
    def entries(self) -> dict[str, list[Any]]:
        """The events that our plugin reports."""
        if self.file.content is None:
            return {}
        found = list_plugin_entries(self.agent.name, self.file.text)
        if not found:
            raise SettingsError(
                f"{self.file.path} is not a plugin of ours; move it away and try again; "
                "nothing was changed"
            )
        return found

    def add(self, options: Options, before: bytes | None) -> bytes:
        """The plugin."""
        return build_plugin(self.agent, options).encode()

    def remove(self, before: bytes | None) -> bytes:
        """Nothing is left of it."""
        return b""

    def is_empty(self, content: bytes) -> bool:
        """Whether nothing is left."""
        return not content


def _decode(content: bytes | None) -> str:
    return "" if content is None else content.decode("utf-8-sig", "replace")
