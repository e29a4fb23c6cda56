"""One session of the program behind the SDK: its events through the hooks of a run of ours."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from amplifier_apps.adapters.claude_agent_sdk.helpers import Helpers
from amplifier_apps.adapters.coverage.claude_agent_sdk import COVERAGE
from amplifier_apps.adapters.governing.governor import Governor
from amplifier_apps.adapters.governing.half_calls import HalfCalls
from amplifier_apps.adapters.governing.run import Run
from amplifier_core import events
from amplifier_core.events import is_notification
from amplifier_core.events.payloads import EndReason
from amplifier_foundation.dialects.claude import DIALECT
from amplifier_foundation.dialects.incoming import Incoming
from amplifier_foundation.dialects.verdict import Verdict

DELEGATE = "Delegate"
DEADLINE = "deadline"
"""Who denies what was not judged in time."""

_TAKES_TEXT = frozenset(
    {"UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "SubagentStart"}
)
"""Where the answer to the program can carry a text for the model without anything else."""

Moment = Callable[[Incoming], Awaitable[Verdict]]


class Session:
    """Takes what the program tells; its sub-agents have sessions of their own."""

    def __init__(self, governor: Governor) -> None:
        self._governor = governor
        self._opening = asyncio.Lock()
        self._own: HalfCalls | None = None
        self._helpers = Helpers(governor)

    async def handle(self, incoming: Incoming) -> Verdict:
        """Take one event through the hooks; SessionDenied if they refuse the session."""
        own = await self._open()
        calls = await self._helpers.find(incoming, own) if incoming.agent_id else own
        verdict = await self._find_moment(incoming, own, calls)(incoming)
        if incoming.native in _TAKES_TEXT:
            verdict = replace(verdict, context=(*verdict.context, *calls.take_texts()))
        return verdict

    async def deny_late(self, incoming: Incoming, seconds: float) -> Verdict:
        """What was not judged in time does not happen, and the trail says so."""
        why = f"the hooks did not answer within {seconds:.1f} seconds"
        if self._own is None:
            return Verdict(decision="deny", reason=why)
        outcome = await self._own.coordinator.deny(incoming.event, DEADLINE, why)
        return Verdict(decision="deny", reason=outcome.denial)

    async def end(self, reason: EndReason = "complete") -> None:
        """The connection to the program is over."""
        await self._helpers.end(reason)
        if self._own is not None:
            await self._own.run.end(reason)

    def find_loop(self) -> asyncio.AbstractEventLoop | None:
        """Where the session is to be ended; None if there is nothing to end."""
        return None if self._own is None else self._own.run.home.loop

    async def _open(self) -> HalfCalls:
        async with self._opening:
            if self._own is None:
                self._own = HalfCalls(await self._governor.open(COVERAGE), DIALECT)
        return self._own

    def _find_moment(self, incoming: Incoming, own: HalfCalls, calls: HalfCalls) -> Moment:
        native = incoming.native
        if native == "UserPromptSubmit":
            return lambda one: _take_prompt(calls.run, one)
        if native == "PreToolUse":
            return lambda one: self._start_call(calls, one)
        if native == "PostToolUse":
            return calls.after
        if native == "PostToolUseFailure":
            return calls.fail
        if native == "SubagentStart":
            return lambda one: self._helpers.start(one, own, calls)
        if native == "SubagentStop":
            return lambda one: self._helpers.stop(one, own)
        if native == "Stop":
            return lambda one: _stop(calls.run, one)
        return lambda one: _pass_on(calls.run, one)

    async def _start_call(self, calls: HalfCalls, incoming: Incoming) -> Verdict:
        if (why := self._helpers.find_refusal(incoming.agent_id)) is not None:
            return Verdict(decision="deny", reason=why)
        verdict = await calls.before(incoming)
        if verdict.decision == "deny" or incoming.data["tool_name"] != DELEGATE:
            return verdict
        task = verdict.tool_input or incoming.data["tool_input"]
        why = await self._helpers.ask(calls.run, dict(task))
        return verdict if why is None else Verdict(decision="deny", reason=why)


async def _take_prompt(run: Run, incoming: Incoming) -> Verdict:
    """A turn begins."""
    taken = await run.submit(incoming.data["prompt"])
    return Verdict() if taken.allowed else Verdict(decision="deny", reason=taken.text)


async def _stop(run: Run, incoming: Incoming) -> Verdict:
    """A turn is over: its caller has read everything, so that nothing can be undone."""
    said: Any = incoming.data["final_message"]["content"]
    await run.answer(said, streamed=True)
    return Verdict()


async def _pass_on(run: Run, incoming: Incoming) -> Verdict:
    """Any other event: hooks hear of it, and may refuse it where it can be refused."""
    if is_notification(incoming.event) or incoming.event == events.USER_NOTIFICATION:
        await run.tell(incoming.event, incoming.data)
        return Verdict()
    outcome = await run.ask(incoming.event, incoming.data)
    return Verdict() if outcome.allowed else Verdict(decision="deny", reason=outcome.denial)
