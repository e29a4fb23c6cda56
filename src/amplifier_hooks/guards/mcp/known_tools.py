"""What a person has allowed of each server's tools: their definitions, as they were then.

Where   $XDG_DATA_HOME/amplifier/mcp, by default ~/.local/share/amplifier/mcp
Format  one JSON file for each server, named by the digest of what it is: its command or address
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from amplifier_core.errors import AmplifierError
from amplifier_core.utils import digest
from amplifier_hooks.guards.mcp.definitions import Definition
from amplifier_hooks.machine.files import replace_file
from amplifier_hooks.machine.user import find_data_home

_PRIVATE = 0o600
LARGEST = 32 * 1024 * 1024
"""Bytes for one server: it could list other names each time, and nothing is forgotten for it."""


class KnownToolsError(AmplifierError):
    """What was allowed cannot be read or written, so nobody knows what was."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """One tool, as it was allowed last."""

    definition: Definition
    at: str
    by: str
    """A person's name, or `first seen`: then nobody was asked."""


@dataclass(slots=True)
class KnownServer:
    """One server, and what was allowed of it."""

    identity: list[str]
    """What it is: its command with arguments, or its address."""
    name: str
    """What it was called when it was seen last."""
    tools: dict[str, Allowed] = field(default_factory=dict)
    waiting: dict[str, Definition] = field(default_factory=dict)
    """Definitions that the server has given last and nobody has allowed."""

    @property
    def is_empty(self) -> bool:
        """Whether everything was forgotten."""
        return not self.tools and not self.waiting

    @property
    def id(self) -> str:
        """A short text that stands for what the server is."""
        return digest(self.identity)[:8]


class KnownTools:
    """All of it, in a folder that only the person can read."""

    def __init__(self, folder: Path | None = None, env: Mapping[str, str] | None = None) -> None:
        self.folder = folder or find_data_home(env) / "amplifier" / "mcp"

    def find(self, identity: Iterable[str]) -> KnownServer | None:
        """What was allowed of a server; KnownToolsError if that cannot be read."""
        return _read(self._get_path(list(identity)))

    def allow(
        self, identity: Iterable[str], name: str, tools: Iterable[Definition], by: str
    ) -> None:
        """Note definitions that were allowed."""
        known, at = list(identity), datetime.now(UTC).isoformat(timespec="seconds")
        with self._change(known, name) as server:
            for tool in tools:
                server.tools[str(tool.get("name"))] = Allowed(tool, at, by)
                server.waiting.pop(str(tool.get("name")), None)

    def note_waiting(
        self, identity: Iterable[str], name: str, tools: Mapping[str, Definition | None]
    ) -> None:
        """Keep definitions for a person to look at; None is for one that waits no more."""
        with self._change(list(identity), name) as server:
            for tool, definition in tools.items():
                server.waiting.pop(tool, None)
                if definition is not None:
                    server.waiting[tool] = definition

    def forget(self, identity: Iterable[str], tools: Iterable[str] | None = None) -> int:
        """Forget tools of a server, or all of them; returns how many were known."""
        known = list(identity)
        server = self.find(known)
        if server is None:
            return 0
        have = {**server.tools, **server.waiting}
        wanted = list(have) if tools is None else [name for name in tools if name in have]
        with self._change(known, server.name) as changed:
            for name in wanted:
                changed.tools.pop(name, None)
                changed.waiting.pop(name, None)
        return len(wanted)

    def list_servers(self) -> list[KnownServer]:
        """Every server that is known, by name."""
        found = self.folder.glob("*.json") if self.folder.is_dir() else ()
        servers = [server for path in found if (server := _read(path)) and not server.is_empty]
        return sorted(servers, key=lambda one: (one.name, one.identity))

    @contextlib.contextmanager
    def _change(self, identity: list[str], name: str) -> Iterator[KnownServer]:
        """A server to be changed; nobody else changes it meanwhile."""
        path = self._get_path(identity)
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with (self.folder / "lock").open("a") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                server = _read(path) or KnownServer(identity, name)
                server.name = name
                yield server
                content = _write(server)
                if len(content) > LARGEST:
                    raise KnownToolsError(
                        f"The server {name} says too much of its tools to be kept: "
                        f"{len(content):,} bytes; {LARGEST:,} are the most"
                    )
                replace_file(path, content, mode=_PRIVATE)
        except OSError as error:
            raise KnownToolsError(
                f"What was allowed of the server {name} cannot be kept in {path}: "
                f"{error.strerror or error}"
            ) from error

    def _get_path(self, identity: list[str]) -> Path:
        return self.folder / f"{digest(identity)}.json"


def _read(path: Path) -> KnownServer | None:
    try:
        found: dict[str, Any] = json.loads(path.read_bytes())
        tools = {name: Allowed(**one) for name, one in found["tools"].items()}
        waiting = {str(name): dict(one) for name, one in found.get("waiting", {}).items()}
        identity = [str(one) for one in found["identity"]]
        return KnownServer(identity, str(found["name"]), tools, waiting)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise KnownToolsError(
            f"{path} has what was allowed of a server's tools, and cannot be read "
            f"({type(error).__name__}). If it is damaged, remove it: all of them are then new"
        ) from error


def _write(server: KnownServer) -> bytes:
    return (json.dumps(asdict(server), indent=1, sort_keys=True) + os.linesep).encode()
