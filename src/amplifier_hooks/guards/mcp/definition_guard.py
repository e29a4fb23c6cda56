"""Keeps tools to the definition that a person allowed: a changed one is shown, and asked about."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from amplifier_core.events import APPROVAL_GRANTED, TOOL_PRE
from amplifier_core.interfaces import Host
from amplifier_core.models import HookResult
from amplifier_hooks.guards.mcp.definitions import (
    Definition,
    KnownTools,
    describe_change,
    describe_definition,
    digest_definition,
)
from amplifier_hooks.guards.mcp.protocol import fold_name, name_tool
from amplifier_hooks.modules.registration import is_own_event

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
