"""A connection of the SDK to its program: each callback is judged, and answered in its protocol."""

from __future__ import annotations

import asyncio
import atexit
import json
import threading
from collections.abc import Mapping
from concurrent.futures import Future, wait
from dataclasses import replace
from typing import Any, cast

from claude_agent_sdk.types import HookCallback, HookContext, HookInput, HookJSONOutput

from amplifier_core.errors import SessionDenied
from amplifier_core.payloads import EndReason
from amplifier_core.utils import describe_error
from amplifier_hooks.coding_agents.dialects.claude import DIALECT
from amplifier_hooks.coding_agents.dialects.dialect import Reply
from amplifier_hooks.coding_agents.dialects.reading import read_payload
from amplifier_hooks.coding_agents.dialects.writing import write_reply
from amplifier_hooks.coverage import CLAUDE_AGENT_SDK_BY_OPTIONS, Coverage
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.loops import start_own_loop
from amplifier_hooks.external.verdicts import Verdict
from amplifier_hooks.frameworks.claude_agent_sdk.session import Session, Settings

_PATIENCE = 10.0


class Connection:
    """Answers the callbacks of one connection."""

    def __init__(
        self,
        governor: Governor,
        settings: Settings,
        coverage: Coverage = CLAUDE_AGENT_SDK_BY_OPTIONS,
    ) -> None:
        self.sessions: dict[str, Session] = {}
        self._governor = governor
        self._settings = settings
        self._coverage = coverage
        self._early: Session | None = None

    def open_early(self) -> Session:
        """The session that the program will begin; which id it has is not known yet."""
        if self._early is None and not self.sessions:
            self._early = self._make_session()
        return self._early or next(reversed(self.sessions.values()))

    def find_session(self, session_id: str) -> Session:
        """The session of an event."""
        if session_id not in self.sessions:
            self.sessions[session_id] = self._early or self._make_session()
            self._early = None
        return self.sessions[session_id]

    def _make_session(self) -> Session:
        return Session(self._governor, self._coverage, self._settings.asks)

    async def end(self, reason: EndReason) -> None:
        """End every session, for a program that tells when the connection is over."""
        if self._early is not None:
            await self._early.end(reason)
        for session in list(self.sessions.values()):
            await session.end(reason)

    def listen(self, native: str) -> HookCallback:
        """The callback of one event of the program."""

        async def call(payload: HookInput, _: str | None, __: HookContext) -> HookJSONOutput:
            given = cast(Mapping[str, Any], payload)
            try:
                return cast(HookJSONOutput, await self._answer(native, given))
            except Exception as error:  # noqa: BLE001 - whatever it was, nobody has judged this
                return cast(HookJSONOutput, refuse(native, given, describe_error(error)))

        return call

    async def _answer(self, native: str, payload: Mapping[str, Any]) -> dict[str, Any]:
        incoming = self._name(read_payload(DIALECT, native, json.dumps(payload)))
        verdict = await self._judge(incoming)
        if verdict.decision == "defer":
            return defer(native, verdict)
        return read_answer(native, write_reply(DIALECT, incoming, verdict))

    async def _judge(self, incoming: Incoming) -> Verdict:
        session = self.find_session(incoming.session_id)
        try:
            async with asyncio.timeout(self._settings.seconds) as limit:
                return await session.handle(incoming)
        except TimeoutError:
            if not limit.expired():
                raise
            return await session.deny_late(incoming, self._settings.seconds)
        except SessionDenied as error:
            return Verdict(decision="deny", reason=str(error))

    def _name(self, incoming: Incoming) -> Incoming:
        """Name the tools of some servers as they name them themselves."""
        name = str(incoming.data.get("tool_name") or "")
        for prefix in self._settings.prefixes:
            if name.startswith(prefix):
                data = {**incoming.data, "tool_name": name.removeprefix(prefix)}
                return replace(incoming, data=data)
        return incoming


def defer(native: str, verdict: Verdict) -> dict[str, Any]:
    """The run ends here, and the call is judged again when the session is resumed."""
    decided = {"permissionDecision": "defer", "permissionDecisionReason": verdict.reason}
    return {"hookSpecificOutput": {"hookEventName": native, **decided}}


def read_answer(native: str, reply: Reply) -> dict[str, Any]:
    """What was written for standard output and exit codes, as the object of a callback."""
    if reply.code:
        return refuse(native, {}, reply.stderr)
    answer: dict[str, Any] = json.loads(reply.stdout) if reply.stdout else {}
    return answer


def refuse(native: str, payload: Mapping[str, Any], why: str) -> dict[str, Any]:
    """The answer to what nobody has judged: it does not happen, or is withheld."""
    reason = f"amplifier: this was not judged, so it is not allowed: {why}"
    if native == "PreToolUse":
        decided = {"permissionDecision": "deny", "permissionDecisionReason": reason}
        return {"hookSpecificOutput": {"hookEventName": native, **decided}}
    if native in ("UserPromptSubmit", "PreCompact"):
        return {"decision": "block", "reason": reason}
    if native == "PostToolUse":
        incoming = Incoming("tool:post", {}, native, "", payload=payload)
        return read_answer(native, write_reply(DIALECT, incoming, Verdict(output=reason)))
    return {}


_ending: set[Future[None]] = set()


def end_soon(sessions: dict[str, Session]) -> None:
    """End the sessions of a connection that is over; called by whichever thread noticed.

    The program may stop its loop at this very moment, so this is done on the loop of the process.
    """
    for session in sessions.values():
        if session.leave_loop():
            ending = asyncio.run_coroutine_threadsafe(session.end(), start_own_loop())
            _ending.add(ending)
            ending.add_done_callback(_ending.discard)


def wait_for_ends() -> None:
    """A program that exits waits for what it has begun to end."""
    wait(tuple(_ending), timeout=_PATIENCE)


# Before the governors end what is open, and with the pools of threads still there: see there.
getattr(threading, "_register_atexit", atexit.register)(wait_for_ends)
