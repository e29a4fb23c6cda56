"""Played agents whose guard is installed as it should be, or broken in one place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from amplifier_hooks.coding_agents.daemon.folder import choose_folder
from amplifier_hooks.coding_agents.dialects.dialect import Handler
from amplifier_hooks.coding_agents.installing.agents import AGENTS
from amplifier_hooks.coding_agents.installing.installation import Target
from amplifier_hooks.coding_agents.self_test.context import CheckContext, leave
from amplifier_hooks.coding_agents.self_test.entry import Entry, read_entries
from amplifier_hooks.coding_agents.self_test.hook import make_ticket
from amplifier_hooks.coding_agents.self_test.host import Host

BUNDLE = """
name: project
hooks:
  - {module: hooks-redaction, enabled: false}
  - {module: hooks-production-guard, enabled: false}
  - {module: hooks-command-guard, enabled: false}
  - {module: hooks-progress-monitor, enabled: false}
  - {module: hooks-todo-display, enabled: false}
"""
SECONDS = 0.5


def read_guard(agent: str, project: Path) -> dict[str, Entry]:
    """What is installed for an agent."""
    return read_entries(Target(agent, "user", project))


def break_line(
    entries: Mapping[str, Entry], native: str, change: Callable[[str], str]
) -> dict[str, Entry]:
    """The same with another command at one event."""
    handler = entries[native].handler
    assert handler.command is not None
    changed = change(handler.command)
    assert changed != handler.command
    return {**entries, native: Entry(replace(handler, command=changed))}


def pass_through(script: str) -> Callable[[str], str]:
    """Have what the command prints changed by `sed`."""
    return lambda line: f"( {line.partition(' ||')[0]} ) | sed '{script}'"


def change_entries(context: CheckContext, entries: Mapping[str, Entry]) -> CheckContext:
    """The same session behind other commands."""
    host = Host(context.host.dialect.name, entries, context.ticket.session_id, Path.cwd())
    return replace(context, host=host)


@contextmanager
def play(
    agent: str,
    project: Path,
    entries: Mapping[str, Entry] | None = None,
    seconds: float = SECONDS,
    folder: Path | None = None,
) -> Iterator[CheckContext]:
    """A session of the agent; `folder` says where else to learn how the process is started."""
    found = read_guard(agent, project) if entries is None else entries
    place = choose_folder()
    ticket = make_ticket(place, seconds)
    host = Host(agent, found, ticket.session_id, project)
    try:
        yield CheckContext(host, ticket, AGENTS[agent].title, folder or place, seconds)
    finally:
        leave(host, ticket, place)


def make_entry(agent: str, native: str, command: str = "true", **more: Any) -> Entry:
    """An entry with any command."""
    return Entry(Handler(agent, native, "settings", command=command, **more))
