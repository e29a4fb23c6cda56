"""An entry of ours in an agent's settings, as the agent would call it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from amplifier_foundation.dialects import DIALECTS
from amplifier_foundation.dialects.handler import Handler
from amplifier_foundation.guests.installing.agents import get_command, is_ours, list_handlers
from amplifier_foundation.guests.installing.installation import Target, list_ours
from amplifier_foundation.guests.installing.line import is_line

_FOLDER, _SECONDS, _LEAST = 4, 7, 8


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
        return Path(words[_FOLDER]) if len(words) >= _LEAST else None

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
        command, old = self.handler.command or "", self.folder
        quoted = "" if old is None else "'" + str(old).replace("'", "'\"'\"'") + "'"
        if not quoted or command.count(quoted) != 1:
            raise ValueError("the line does not name its folder as we write it")
        moved = command.replace(quoted, shlex.quote(str(folder)))
        return Entry(replace(self.handler, command=moved))


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
    if agent == "opencode":  # our plugin
        return DIALECTS[agent].events[event].gate
    if agent == "claude":
        return given.get("type") == "http" and given.get("onFailure") == "block"
    return given.get("failClosed") is True
