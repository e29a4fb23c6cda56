"""Definitions of tools: what a person has allowed of each server, and what has changed since.

Where   $XDG_DATA_HOME/amplifier/mcp, by default ~/.local/share/amplifier/mcp
Format  one JSON file for each server, named by the digest of what it is: its command or address
"""

from __future__ import annotations

import contextlib
import difflib
import fcntl
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from amplifier_core.errors import AmplifierError
from amplifier_core.utils import digest
from amplifier_hooks.machine.files import replace_file
from amplifier_hooks.machine.locations import find_data_home

Definition = dict[str, Any]
"""A tool as its server describes it."""

_FIRST = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
_FOR_PEOPLE = "icons"
"""All else is read by some model, or decides how a call is treated: clients differ in that."""


_BLANK = re.compile(
    "[\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u2800\\u3164\\ufe00-\\ufe0f\\uffa0\\U000e0100-\\U000e01ef]"
)
"""Fillers and variation selectors: whole texts were hidden in rows of these."""

_MOST_COMPARED = 2_000
"""Lines: to find the shortest way from one text to the other takes their square."""

_HEADERS = 2
"""Lines at the top of a comparison. By their marks they cannot be told from lines of a text."""


def digest_definition(tool: Definition) -> str:
    """What is compared with the definition that a person allowed."""
    return digest({name: tool[name] for name in _list_judged(tool) if tool.get(name) is not None})


def describe_change(before: Definition, after: Definition) -> str:
    """The lines of a definition that went away and came, for a person who decides."""
    changes: list[str] = []
    for name in _list_judged(before, after):
        old = _write_lines(before.get(name))
        new = _write_lines(after.get(name))
        if old == new:
            continue
        changes += [f"{name}:", *(f"  {one}" for one in _compare_lines(old, new))]
    return "\n".join(changes)


def _compare_lines(old: list[str], new: list[str]) -> list[str]:
    """The lines that came and went, with what is around them if there are not too many."""
    if len(old) + len(new) > _MOST_COMPARED:
        came = set(new)
        went = set(old)
        return [
            *(f"+{one}" for one in new if one not in went),
            *(f"-{one}" for one in old if one not in came),
        ] or ["the same lines, in another order or number"]
    lines = list(difflib.unified_diff(old, new, lineterm="", n=1))[_HEADERS:]
    return [one for one in lines if not one.startswith("@@")]


def describe_definition(tool: Definition) -> str:
    """A whole definition, for a person who sees it for the first time."""
    parts = [_introduce(name, tool[name]) for name in _list_judged(tool)[1:] if tool.get(name)]
    return "\n".join(parts) or "It says nothing about itself."


def _introduce(name: str, value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    first, *rest = [_spell_out(line) for line in text.splitlines()] or [""]
    return "\n".join([f"{name}: {first}", *(f"  {line}" for line in rest)])


def _list_judged(*tools: Definition) -> list[str]:
    others = {name for tool in tools for name in tool} - {*_FIRST, _FOR_PEOPLE}
    return [*_FIRST, *sorted(others)]


def _write_lines(value: Any) -> list[str]:
    if value is None:
        return []
    text = value if isinstance(value, str) else json.dumps(value, indent=1, sort_keys=True)
    return [_spell_out(line) for line in text.splitlines()]


def _spell_out(line: str) -> str:
    """The line with every character named that moves or hides others on a screen, or is blank."""
    if line.isascii() and line.isprintable():
        return line
    return "".join(c.encode("unicode_escape").decode() if _hides(c) else c for c in line)


def _hides(character: str) -> bool:
    return not character.isprintable() or _BLANK.fullmatch(character) is not None


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
        return _read_server(self._get_path(list(identity)))

    def allow(
        self, identity: Iterable[str], name: str, tools: Iterable[Definition], by: str
    ) -> None:
        """Note definitions that were allowed."""
        known = list(identity)
        at = datetime.now(UTC).isoformat(timespec="seconds")
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
        servers = [
            server for path in found if (server := _read_server(path)) and not server.is_empty
        ]
        return sorted(servers, key=lambda one: (one.name, one.identity))

    @contextlib.contextmanager
    def _change(self, identity: list[str], name: str) -> Iterator[KnownServer]:
        """A server to be changed; nobody else changes it meanwhile."""
        path = self._get_path(identity)
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with (self.folder / "lock").open("a") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                server = _read_server(path) or KnownServer(identity, name)
                server.name = name
                yield server
                content = _encode_server(server)
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


def _read_server(path: Path) -> KnownServer | None:
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


def _encode_server(server: KnownServer) -> bytes:
    return (json.dumps(asdict(server), indent=1, sort_keys=True) + os.linesep).encode()
