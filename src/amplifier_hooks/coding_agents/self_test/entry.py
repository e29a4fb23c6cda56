"""An entry of ours in an agent's settings, as the agent would call it."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from amplifier_hooks.coding_agents.client.launch import read_launch
from amplifier_hooks.coding_agents.daemon.folder import choose_folder
from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.dialects.dialect import Handler
from amplifier_hooks.coding_agents.installing.agents import get_command, is_ours, list_handlers
from amplifier_hooks.coding_agents.installing.installation import Target, list_ours
from amplifier_hooks.coding_agents.installing.line import (
    MARK,
    OWN_FOLDER,
    is_line,
    make_guest_command,
    resolve_folder,
)
from amplifier_hooks.coding_agents.known import KNOWN

_FOLDER = 4
_SECONDS = 7
_LEAST = 8
_QUOTED = r"""'[^']*'(?:"'"'[^']*')*"""
_TAIL = re.compile(
    rf""" [a-z]+ [\w.]+ [\d.]+(?: {_QUOTED})?"""
    rf"""(?: \|\| (?:exit [0-9]+|\{{ echo {_QUOTED} >&2; exit 2; \}}|echo (?:{_QUOTED}|\w+)))?"""
    rf"""(?: {re.escape(MARK)})?"""
)
"""What follows interpreter, client and folder: words that are data, and an end, which may be
missing. Nothing in it can start anything else."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What is called at one event, and when the agent gives up."""

    handler: Handler
    """What the dialects need to judge an answer as the agent does."""

    @property
    def native(self) -> str:
        """The agent's name of the event."""
        return self.handler.native

    @property
    def by_http(self) -> bool:
        """Whether the agent sends the event instead of starting a command."""
        return self.handler.url is not None

    @property
    def folder(self) -> Path | None:
        """Where the resident process is met; None if the entry does not say."""
        words = _list_words(self.handler.command or "")
        return resolve_folder(words[_FOLDER]) if len(words) >= _LEAST else None

    @property
    def seconds(self) -> float | None:
        """Our own limit; None if the entry does not say."""
        words = _list_words(self.handler.command or "")
        try:
            return float(words[_SECONDS]) if len(words) >= _LEAST else None
        except ValueError:
            return None

    def move_to(self, folder: Path, port: int = 0) -> Entry:
        """The same entry for another resident process; ValueError if it cannot be told."""
        if self.handler.url is not None:
            url = urlsplit(self.handler.url)._replace(netloc=f"127.0.0.1:{port}")
            return Entry(replace(self.handler, url=url.geturl()))
        command = self.handler.command or ""
        words = _list_words(command)
        old = words[_FOLDER] if len(words) >= _LEAST else ""
        quoted = old and "'" + old.replace("'", "'\"'\"'") + "'"
        if not quoted or command.count(quoted) != 1:
            raise ValueError("the line does not name its folder as we write it")
        moved = command.replace(quoted, shlex.quote(str(folder)))
        return Entry(replace(self.handler, command=moved))


def explain_foreign(entries: Mapping[str, Entry]) -> str | None:
    """Why entries must not be called: they name another program than this installation writes.

    The settings of a project may come with a clone. Whoever wrote them could name any interpreter,
    any client, a folder whose launch.json starts anything, or any address.
    """
    folder = choose_folder()
    beginnings = [_make_beginning(one) for one in (folder, OWN_FOLDER)]
    for event, entry in entries.items():
        if entry.handler.url is not None:
            if not _is_own_address(entry.handler.url, folder):
                return f"{event} is sent to {entry.handler.url}, not to the process of this user"
            continue
        command = entry.handler.command or ""
        rests = [command[len(one) :] for one in beginnings if command.startswith(one)]
        if not any(_TAIL.fullmatch(rest.rstrip()) for rest in rests):
            return (
                f"{event} would run another command than this installation writes, so it was not "
                f"run: {command[:200]}"
            )
    return None


def _make_beginning(folder: Path) -> str:
    """Interpreter, client and folder, as lines of this installation begin."""
    line = make_guest_command(folder).build_line("a", "b", 0, gate=False)
    return line.partition(" a b 0")[0]


def _is_own_address(url: str, folder: Path) -> bool:
    try:
        port = int((read_launch(os.fsencode(folder)).http or {})["port"])
    except (ValueError, KeyError, TypeError):
        return False
    return url.startswith(f"http://127.0.0.1:{port}/")


def read_entries(target: Target) -> dict[str, Entry]:
    """Our entries in a settings file, by event; the first one of each."""
    found: dict[str, Entry] = {}
    for event, entries in list_ours(target).items():
        handlers = [one for entry in entries for one in list_handlers(entry) if _is_called(one)]
        if handlers:
            found[event] = Entry(_read_handler(target, event, handlers[0]))
    return found


def _list_words(line: str) -> list[str]:
    """The words of the client, also of a line that has lost its end."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return []
    return words[: words.index("||")] if "||" in words else words


def _is_called(handler: Any) -> bool:
    return isinstance(handler, dict) and (is_ours(handler) or is_line(get_command(handler)))


def _read_handler(target: Target, event: str, given: dict[str, Any]) -> Handler:
    dialect = DIALECTS[target.agent]
    written = given.get("timeout", given.get("timeoutSec"))
    timeout = dialect.get_timeout(event)
    if isinstance(written, int | float) and not isinstance(written, bool):
        timeout = written * dialect.unit
    return Handler(
        dialect=dialect.name,
        native=event,
        where=str(target.path),
        command=get_command(given),
        url=given.get("url"),
        headers=given.get("headers") or {},
        timeout=timeout,
        fail_closed=_is_closed(target.agent, event, given),
    )


def _is_closed(agent: str, event: str, given: dict[str, Any]) -> bool:
    """Whether the agent itself blocks when its hook fails.

    Claude's `onFailure` is believed for HTTP only: older versions do not know it, and a command has
    a lock of its own.
    """
    if KNOWN[agent].is_plugin:
        return DIALECTS[agent].events[event].gate
    if agent == "claude":
        return given.get("type") == "http" and given.get("onFailure") == "block"
    return given.get("failClosed") is True
