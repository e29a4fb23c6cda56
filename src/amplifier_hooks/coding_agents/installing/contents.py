"""What stands in the settings file of an agent: as hooks in JSON or TOML, or as a plugin."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Protocol

from amplifier_hooks.coding_agents.installing import toml_edit
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

_FIRST = f"// {MARK.removeprefix('# ')}: written by `amplifier guard opencode`\n"
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
    return f"{_FIRST}{_TABLE}{json.dumps(lines, indent=2)};\n{program}"


def list_plugin_entries(text: str) -> dict[str, list[Any]]:
    """The lines of a plugin of ours, by event; none if it is not ours."""
    if not text.startswith(_FIRST) or _TABLE not in text:
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
    if agent.name == "opencode":
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
            return toml_edit.list_entries(self.file.text, is_ours)
        except ValueError as problem:
            raise self._explain(problem) from problem

    def add(self, options: Options, before: bytes | None) -> bytes:
        """The content with our lines as they are wanted."""
        wanted = self.agent.build_entries(options)
        try:
            text = toml_edit.remove_lines(self.file.text, is_ours)
            text = toml_edit.add_lines(text, wanted, self.agent.list_switches(options))
        except ValueError as problem:
            raise self._explain(problem) from problem
        return self.file.encode(text)

    def remove(self, before: bytes | None) -> bytes:
        """The content without our lines."""
        try:
            return self.file.encode(toml_edit.remove_lines(self.file.text, is_ours))
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
        found = list_plugin_entries(self.file.text)
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
