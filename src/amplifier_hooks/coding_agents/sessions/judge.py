"""From what an agent's hook was given to what it is to answer."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from amplifier_core import events
from amplifier_core.errors import AmplifierError
from amplifier_core.utils import describe_error, digest
from amplifier_hooks.agent.bundles import BundleError
from amplifier_hooks.coding_agents.daemon.protocol import Request, Response
from amplifier_hooks.coding_agents.dialects import DIALECTS, Dialect, vscode
from amplifier_hooks.coding_agents.dialects.cursor import write_blocking_reply
from amplifier_hooks.coding_agents.dialects.reading import read_payload
from amplifier_hooks.coding_agents.dialects.writing import BLOCKED, write_reply
from amplifier_hooks.coding_agents.known import can_be_unguarded, has_option
from amplifier_hooks.coding_agents.protection import list_protected_files
from amplifier_hooks.coding_agents.sessions.bypasses import (
    add_embedded_commands,
    read_host_arguments,
)
from amplifier_hooks.coding_agents.sessions.open_sessions import (
    AgentSessions,
    AgentStates,
    Equip,
    IsSelfTest,
)
from amplifier_hooks.external.incoming import Incoming, UnreadablePayload
from amplifier_hooks.external.verdicts import Verdict
from amplifier_hooks.machine.files import normalize

_LONGEST_GAP = 10.0
"""Seconds between the answer to one line and the question by the next."""

_MOST = 256
_CONTENT = ("tool_name", "tool_input", "tool_result", "error", "prompt")


@dataclass(slots=True)
class _Event:
    lines: set[str]
    verdict: asyncio.Future[Verdict] = field(default_factory=asyncio.Future)
    ended: float | None = None

    def is_repeated_by(self, line: str) -> bool:
        fresh = self.ended is None or time.monotonic() - self.ended < _LONGEST_GAP
        return line not in self.lines and fresh and not self.verdict.cancelled()


class Repeats:
    """Remembers events for a moment."""

    def __init__(self) -> None:
        self._events: dict[str, _Event] = {}

    async def judge_once(
        self, incoming: Incoming, line: str, judge: Callable[[], Awaitable[Verdict]]
    ) -> Verdict:
        """What `judge` says; or what it said about this event when it came by another line.

        Texts and messages have gone out with the first answer.
        """
        key = _name(incoming, incoming.data)
        known = self._events.get(key)
        if known is not None and known.is_repeated_by(line):
            known.lines.add(line)
            verdict = await asyncio.shield(known.verdict)
            return replace(verdict, context=(), notes=())
        event = self._events[key] = _Event({line})
        self._forget_oldest()
        return await self._judge(event, incoming, judge)

    async def _judge(
        self, event: _Event, incoming: Incoming, judge: Callable[[], Awaitable[Verdict]]
    ) -> Verdict:
        try:
            verdict = await judge()
        except BaseException:
            event.verdict.cancel()  # whoever waits for it has no verdict either
            raise
        event.verdict.set_result(verdict)
        event.ended = time.monotonic()
        if verdict.tool_input is not None:
            # Programs that call their hooks in order show the next one the changed input.
            changed = _Event(set(event.lines), ended=event.ended)
            changed.verdict.set_result(replace(verdict, tool_input=None))
            data = {**incoming.data, "tool_input": verdict.tool_input}
            self._events[_name(incoming, data)] = changed
        return verdict

    def _forget_oldest(self) -> None:
        surplus = len(self._events) - _MOST
        for key in list(self._events)[: max(surplus, 0)]:
            del self._events[key]


def _name(incoming: Incoming, data: dict[str, object]) -> str:
    content = {key: data[key] for key in _CONTENT if key in data}
    named = [incoming.session_id, incoming.agent_id, incoming.event]
    return digest({"event": named, "content": content})


_UNDER_CLAUDE = "copilot-claude"
_NOT_COPILOT = frozenset({"permission_mode", "prompt_id", "tool_use_id", "hookEventName"})
_ONLY_CURSOR = frozenset({"conversation_id", "generation_id", "cursor_version"})
_TOOLS_OF_RELATIVES = {
    "run_shell_command": "Bash",
    "read_file": "Read",
    "write_file": "Write",
    "replace": "Edit",
    "edit": "Edit",
    "grep_search": "Grep",
    "glob": "Glob",
    "list_directory": "LS",
    "todo_write": "Todo",
}
"""Relatives of Gemini CLI, such as Qwen Code, speak as Claude Code does, with these tools."""

_READ_SEVERAL = frozenset({"copilot", "cursor", "vscode"})
_IN_CURSOR = {
    "PreToolUse": "preToolUse",
    "PostToolUse": "postToolUse",
    "PostToolUseFailure": "postToolUseFailure",
    "UserPromptSubmit": "beforeSubmitPrompt",
    "SessionStart": "sessionStart",
    "SessionEnd": "sessionEnd",
    "Stop": "stop",
    "SubagentStart": "subagentStart",
    "SubagentStop": "subagentStop",
    "PreCompact": "preCompact",
}
"""Cursor's names of the events that it finds in Claude Code's settings."""


class AttributedEvent(NamedTuple):
    """An event, in the terms of the program that really sent it."""

    dialect: Dialect
    event: str
    payload: bytes
    advice: str = ""
    """What a person can do if it cannot be read, where the program reads another's settings."""


def recognize(request: Request) -> AttributedEvent:
    """Whose event this is, by the line that it came by and by what it says."""
    payload = _parse(request.payload)
    if request.agent == "claude" and "COPILOT_CLI" in request.marks and _is_copilot(payload):
        dialect = replace(DIALECTS[_UNDER_CLAUDE], name="copilot")
        return AttributedEvent(dialect, request.event, request.payload)
    if request.agent == "claude" and len(_ONLY_CURSOR & payload.keys()) > 1:
        # Whether it takes its own answers there is not known; that an exit code blocks, is.
        cursor = replace(DIALECTS["cursor"], write_reply=write_blocking_reply)
        return AttributedEvent(
            cursor, _IN_CURSOR.get(request.event, request.event), request.payload
        )
    if request.agent in ("claude", "copilot") and vscode.is_from_vscode(request.agent, payload):
        told = json.dumps(vscode.spell(payload)).encode()
        return AttributedEvent(
            vscode.DIALECT, vscode.name_event(request.event), told, vscode.ADVICE
        )
    dialect = DIALECTS[request.agent]
    if request.agent == "claude" and payload.get("tool_name") in _TOOLS_OF_RELATIVES:
        dialect = replace(dialect, older_names={**dialect.older_names, **_TOOLS_OF_RELATIVES})
    return AttributedEvent(dialect, request.event, request.payload)


def can_be_called_twice(dialect: Dialect) -> bool:
    """Whether a program finds lines of ours in the settings of several agents."""
    return dialect.name in _READ_SEVERAL


def _is_copilot(payload: Mapping[str, Any]) -> bool:
    """Whether an event has what Copilot tells at each of them, and nothing that only Claude has.

    Its mark alone does not tell: a Claude that Copilot has started inherits it, and would not
    obey what is said to Copilot.
    """
    return "timestamp" in payload and payload.keys().isdisjoint(_NOT_COPILOT)


def _parse(payload: bytes) -> dict[str, Any]:
    try:
        told = json.loads(payload)
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


logger = logging.getLogger(__name__)

FAILED = 1
_NOBODY = (
    "Refused: nobody can be asked here. It needs a session in a terminal, a rule that decides it, "
    "or people elsewhere (approval: {via: store} in amplifier.yaml). The question was: "
)
_FORGOTTEN = 6 * 3600.0  # seconds after which an agent that speaks HTTP has ended without a word


class AgentJudge:
    """Answers the hooks of all agents of one person."""

    def __init__(
        self,
        states: AgentStates | None = None,
        list_guarded: Callable[[Path], Sequence[Path]] | None = None,
        equip: Equip = lambda coordinator: None,
        is_self_test: IsSelfTest = lambda session_id: False,
    ) -> None:
        guarded = list_protected_files if list_guarded is None else list_guarded
        self._sessions = AgentSessions(states or AgentStates(), guarded, equip, is_self_test)
        self._roots: dict[str, str] = {}
        self._told: dict[str, str] = {}
        self._over_http: dict[str, float] = {}
        self._repeats = Repeats()

    async def answer(self, request: Request) -> Response:
        """Judge one event; whatever goes wrong at a gate is a denial that says what."""
        told = recognize(request)
        dialect = told.dialect
        try:
            incoming = read_payload(dialect, told.event, told.payload)
            incoming = await add_embedded_commands(dialect, incoming)
        except UnreadablePayload as error:
            why = f"{error}. {told.advice}" if told.advice else str(error)
            return _fail(dialect, told.event, why)
        try:
            verdict = await self._judge_once(dialect, incoming, request)
        except (AmplifierError, BundleError, OSError) as error:
            verdict = self._explain(dialect, incoming, str(error))
        except Exception as error:
            logger.exception("%s %s could not be judged", dialect.name, incoming.native)
            verdict = self._explain(dialect, incoming, describe_error(error))
        if verdict.decision == "ask" and _is_alone(dialect, request):
            verdict = replace(verdict, reason=f"{_NOBODY}{verdict.reason}")
        reply = write_reply(dialect, incoming, verdict)
        return Response(reply.code, _encode(reply.stdout), _encode(reply.stderr))

    async def _judge_once(self, dialect: Dialect, incoming: Incoming, request: Request) -> Verdict:
        if not can_be_called_twice(dialect):
            return await self._judge(dialect, incoming, request)
        return await self._repeats.judge_once(
            incoming, request.agent, lambda: self._judge(dialect, incoming, request)
        )

    async def _judge(self, dialect: Dialect, incoming: Incoming, request: Request) -> Verdict:
        since = time.monotonic()
        start = find_start(incoming, request)
        incoming = self._find_root(incoming)
        if "HTTP" in request.marks:
            self._over_http[incoming.session_id] = since
        named = (dialect, incoming.session_id, start, request.bundle)
        async with self._sessions.use(*named, _is_alone(dialect, request)) as guest:
            if incoming.event == events.SESSION_END and not incoming.agent_id:
                self._over_http.pop(incoming.session_id, None)
                await self._sessions.end(guest, str(incoming.data.get("reason") or "complete"))
                return Verdict()
            left = _get_limit(request.seconds) - (time.monotonic() - since)
            host = _read_host(dialect, incoming, request)
            known = guest.read_evidence()
            verdict = await guest.handle(incoming, dialect, max(left, 0.0), host)
            if guest.read_evidence() != known:  # what comes of it must be found, whoever dies now
                await self._sessions.save_now(guest)
            return verdict

    def _explain(self, dialect: Dialect, incoming: Incoming, why: str) -> Verdict:
        """What to answer where nothing could be judged: no, at a gate; else a message, once."""
        if dialect.events[incoming.native].gate:
            return Verdict(decision="deny", reason=f"amplifier: {why}")
        if self._told.get(incoming.session_id) == why:
            return Verdict()
        self._told[incoming.session_id] = why
        return Verdict(notes=(f"amplifier: {why}",))

    def _find_root(self, incoming: Incoming) -> Incoming:
        """A sub-agent that has a session id of its own belongs to the session that it works for.

        Else each would have budgets of its own, and a trail that never ends.
        """
        own = incoming.session_id
        parent = incoming.parent_id
        # Where a sub-agent starts another one, the session id is of neither; the parent is right.
        agent = incoming.agent_id or own
        if parent and parent != agent:
            self._roots[agent] = self._roots.get(parent, parent)
        root = self._roots.get(agent)
        return incoming if root is None else replace(incoming, session_id=root, agent_id=agent)

    async def close(self) -> None:
        """Suspend every session; another process goes on with them."""
        await self._sessions.close()

    def count_sessions(self) -> int:
        """How many are open."""
        return len(self._sessions)

    def list_alarms(self) -> list[str]:
        """What has been done to the guards of sessions that are open."""
        return self._sessions.list_alarms()

    def holds_open(self) -> bool:
        """Whether an agent relies on this process without being able to start it."""
        oldest = time.monotonic() - _FORGOTTEN
        return any(used > oldest for used in self._over_http.values())


def _read_host(dialect: Dialect, incoming: Incoming, request: Request) -> tuple[str, ...]:
    """The command line of the agent at a prompt, if it may have a mode that is not guarded."""
    if incoming.event != events.PROMPT_SUBMIT or not can_be_unguarded(dialect.name):
        return ()
    return read_host_arguments(request.client) if request.client > 1 else ()


def _is_alone(dialect: Dialect, request: Request) -> bool | None:
    """Whether the agent refuses what it is to ask about, and has the model read the question.

    None where nothing tells: by HTTP, no marks come.
    """
    if "HTTP" in request.marks:
        return None
    if dialect.name != "claude" or "HEADLESS" not in request.marks:
        return False
    words = read_host_arguments(request.client) if request.client > 1 else ()
    return not has_option(words, frozenset({"permission-prompt-tool"}))


def _get_limit(seconds: float) -> float:
    """How long hooks have: a denial that is recorded and worded comes before any other end."""
    return seconds - 2.0 if seconds > 6.0 else seconds * 0.6


def find_start(incoming: Incoming, request: Request) -> Path:
    """The folder that the agent works in; AmplifierError if nobody says which it is."""
    start = Path(request.cwd, incoming.cwd)
    if not start.is_absolute():
        raise AmplifierError(
            f"{request.agent} does not say in which folder it works ({str(start)!r}), and so "
            "nobody knows which rules hold; start it in a folder that is there"
        )
    return normalize(start)


def _fail(dialect: Dialect, native: str, why: str) -> Response:
    row = dialect.events.get(native)
    if row is not None and row.refusal:
        return Response(0, _encode(row.refusal), _encode(f"amplifier: {why}\n"))
    code = FAILED if row is not None and not row.gate else BLOCKED
    return Response(code, b"", f"amplifier: {why}\n".encode("utf-8", "replace"))


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "replace")
