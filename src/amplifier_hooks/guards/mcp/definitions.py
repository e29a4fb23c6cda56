"""Definitions of tools by their servers, and the guard that keeps them to what people allowed."""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import fcntl
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from amplifier_core.errors import AmplifierError
from amplifier_core.events import APPROVAL_GRANTED, TOOL_PRE
from amplifier_core.interfaces import Host
from amplifier_core.models import HookResult
from amplifier_core.utils import digest
from amplifier_hooks.guards.mcp.protocol import fold_name, name_tool
from amplifier_hooks.machine.files import replace_file
from amplifier_hooks.machine.locations import find_data_home
from amplifier_hooks.modules.registration import is_own_event

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


NewTools = Literal["allow", "ask"]
"""What is done with a tool that was never seen: it is allowed as it is, or a person is asked."""

FIRST_SEEN = "first seen"
_PRIORITY = 890
_LONGEST = 20_000
_TIMEOUT = 300.0
_MOST_NAMED = 20
_UNKNOWN = "the server has not said what the tool does"


@dataclass(frozen=True, slots=True)
class _Pending:
    """A definition that nobody has allowed yet."""

    definition: Definition
    question: str
    """Without a word of the server: a model reads it with the refusal."""
    change: str
    """What the person decides about."""


class DefinitionGuard:
    """Knows one server's tools, as they are and as they were allowed."""

    def __init__(
        self,
        host: Host,
        server: str,
        identity: Sequence[str],
        *,
        new_tools: NewTools = "allow",
        known: KnownTools | None = None,
        timeout: float = _TIMEOUT,
    ) -> None:
        self._host = host
        self._server = server
        self._identity = tuple(identity)
        self._new_tools = new_tools
        self._known = known or KnownTools()
        self._timeout = timeout
        self._pending: dict[str, _Pending] = {}
        self._digests: dict[str, str] = {}
        self._ours: set[str] = set()
        self._was_known: bool | None = None
        self._added: list[str] = []
        self.name = f"mcp-definitions:{server}"
        """Of its hooks, and so in questions and in the trail."""

    def register(self) -> None:
        """Judge calls from now on; the session's clean-up ends that."""
        hooks = self._host.hooks
        guard = hooks.register(TOOL_PRE, self._judge, _PRIORITY, self.name, on_error="deny")
        told = hooks.register(APPROVAL_GRANTED, self._take_yes, name=self.name)
        self._host.register_cleanup(guard)
        self._host.register_cleanup(told)

    async def review(self, tools: Sequence[Definition]) -> list[Definition]:
        """What `take` gives; the person is told of tools that a server had not when it was met."""
        shown = await asyncio.to_thread(self.take, tools)
        if self._added:
            names = ", ".join(self._added[:_MOST_NAMED])
            more = len(self._added) - _MOST_NAMED
            self._added = []
            rest = f" and {more:,} more" if more > 0 else ""
            news = f"The MCP server {self._server!r} has tools that it did not have: {names}{rest}"
            await self._host.show(news, "warning", self.name)
        return shown

    def take(self, tools: Sequence[Definition]) -> list[Definition]:
        """What a model may be shown of these tools, which the server has just listed.

        A changed tool is shown as it was allowed, and of two with one name only the first. Blocks
        for a moment: it reads and writes a file.
        """
        tools = list({str(one.get("name")): one for one in reversed(tools)}.values())[::-1]
        server = self._known.find(self._identity)
        allowed = {} if server is None else server.tools
        shown: list[Definition] = []
        fresh: list[Definition] = []
        for tool in tools:
            name = str(tool.get("name"))
            self._digests[name_tool(self._server, name)] = digest_definition(tool)
            before = allowed.get(name)
            if before is None and self._new_tools == "allow":
                fresh.append(tool)
            shown.append(self._compare(name, tool, before.definition if before else None))
        if self._was_known is None:
            self._was_known = bool(allowed)
        if fresh:
            self._added += [str(one.get("name")) for one in fresh if self._was_known]
            self._known.allow(self._identity, self._server, fresh, FIRST_SEEN)
        self._note_waiting(tools, {} if server is None else server.waiting)
        return shown

    def _note_waiting(self, tools: Sequence[Definition], before: Mapping[str, Definition]) -> None:
        """Keep what waits for a person, who may also allow it outside of a session."""
        changes: dict[str, Definition | None] = {}
        for tool in tools:
            name = str(tool.get("name"))
            pending = self._pending.get(name_tool(self._server, name))
            waits = None if pending is None else pending.definition
            if waits != before.get(name):
                changes[name] = waits
        if changes:
            self._known.note_waiting(self._identity, self._server, changes)

    def accept(self, names: Iterable[str]) -> None:
        """Ask nobody about tools of our own that are named like the server's."""
        self._ours.update(names)

    def get_digest(self, name: str) -> str | None:
        """Of the definition that the server has given last, by the name in the session."""
        return self._digests.get(name)

    def _compare(self, name: str, tool: Definition, before: Definition | None) -> Definition:
        ours = name_tool(self._server, name)
        is_new = before is None and self._new_tools == "ask"
        if before is not None and digest_definition(before) != digest_definition(tool):
            change = describe_change(before, tool)
            self._pending[ours] = self._note(tool, "was changed by its server", change)
            return before
        if is_new:
            what = describe_definition(tool)
            self._pending[ours] = self._note(tool, "is new", what)
            return {"name": name, "description": UNSEEN, "inputSchema": {"type": "object"}}
        self._pending.pop(ours, None)
        return tool

    def _note(self, tool: Definition, what: str, change: str) -> _Pending:
        size = len(change)
        told = change if size <= _LONGEST else f"{change[:_LONGEST]}\n… ({size:,} characters)"
        mark = digest_definition(tool)[:12]
        name = name_tool(self._server, str(tool.get("name")))
        question = f"{name} {what}. Allow the tool as its server describes it now ({mark})?"
        return _Pending(tool, question, told)

    def _judge(self, event: str, data: dict[str, Any]) -> HookResult:
        name = str(data.get("tool_name"))
        meant = self._find_lookalike(name)
        if meant is not None:
            return HookResult(
                action="deny",
                reason=f"The MCP server {self._server!r} has no tool {name}; some servers would "
                f"take that for {meant}. Call it by the name that it has",
            )
        pending = self._pending.get(name)
        question = pending.question if pending is not None else self._ask_about(name)
        # A sub-agent that uses the server has a guard of its own: nobody is asked twice.
        if not question or not is_own_event(self._host, data):
            return HookResult(action="continue")
        return HookResult(
            action="ask_user",
            approval_prompt=question,
            approval_options=["Allow", "Deny"],
            approval_timeout=self._timeout,
            reason=_UNKNOWN if pending is None else pending.change,
        )

    def _find_lookalike(self, name: str) -> str | None:
        """The listed tool that a server which minds neither case nor signs would run instead."""
        if name in self._digests or name in self._ours:
            return None
        folded = fold_name(name)
        return next((one for one in self._digests if fold_name(one) == folded), None)

    def _ask_about(self, name: str) -> str:
        """The question about a tool that its server has not listed; empty if nobody is asked."""
        is_tool = name.startswith(name_tool(self._server, "")) and "/" not in name
        is_known = name in self._digests or name in self._ours
        if self._new_tools == "allow" or is_known or not is_tool:
            return ""
        server = self._known.find(self._identity)
        if name in {name_tool(self._server, one) for one in (server.tools if server else ())}:
            return ""
        return (
            f"The MCP server {self._server!r} has not listed the tool {name}, so nobody knows what "
            "it says of itself. Call it all the same?"
        )

    def _take_yes(self, event: str, data: dict[str, Any]) -> HookResult:
        """A person has allowed a definition: it counts from now on, in every session."""
        if data.get("hook") == self.name and data.get("how") == "person":
            for ours, pending in list(self._pending.items()):
                if pending.question == data.get("prompt"):
                    by = str(data.get("by") or "a person")
                    self._known.allow(self._identity, self._server, [pending.definition], by)
                    del self._pending[ours]
        return HookResult(action="continue")


UNSEEN = "No person has allowed this tool yet. A call of it asks for that."
