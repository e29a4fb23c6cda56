"""One session of the program behind the SDK: its events through the hooks of a run of ours."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from amplifier_core import events
from amplifier_core.errors import SessionDenied
from amplifier_core.events import is_notification
from amplifier_core.events.payloads import EndReason
from amplifier_hooks.coding_agents.dialects.claude import DIALECT
from amplifier_hooks.coverage import CLAUDE_AGENT_SDK_BY_OPTIONS, Coverage
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.external.half_calls import HalfCalls
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.loops import Home, start_own_loop
from amplifier_hooks.external.run import Run
from amplifier_hooks.external.verdicts import TextVerdict, Verdict
from amplifier_hooks.frameworks.claude_agent_sdk.helpers import Helpers
from amplifier_hooks.frameworks.claude_agent_sdk.questions import Questions

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

    def __init__(
        self, governor: Governor, coverage: Coverage, asks: Questions | None = None
    ) -> None:
        self._find_answer = None if asks is None else asks.find_answer
        self._governor = governor
        self._coverage = coverage
        self._opening = asyncio.Lock()
        self._own: HalfCalls | None = None
        self._refusal = ""
        self._judged: list[tuple[str, TextVerdict]] = []
        self._helpers = Helpers(governor)

    async def submit(self, prompt: str) -> str:
        """Judge a prompt before it is sent; returns what to send: the program is told to refuse
        what hooks have refused."""
        try:
            own = await self._open()
        except SessionDenied:
            return prompt
        verdict = await own.run.submit(prompt)
        sent = verdict.text if verdict.allowed else prompt
        self._judged.append((sent, verdict))
        return sent

    async def answer(self, text: str, *, streamed: bool) -> TextVerdict:
        """Judge the answer of a turn before the caller gets it."""
        own = await self._open()
        return await own.run.answer(text, streamed=streamed)

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

    def leave_loop(self) -> bool:
        """Go on without the program's loop; whether there is anything left to end."""
        if self._own is None or self._own.run.is_shared:
            return False
        home = Home(start_own_loop())
        for run in (self._own.run, *self._helpers.list_runs()):
            run.home = home
        return True

    async def _open(self) -> HalfCalls:
        async with self._opening:
            if self._refusal:
                raise SessionDenied(self._refusal)
            if self._own is None:
                try:
                    self._own = HalfCalls(await self._governor.open(self._coverage), DIALECT.name)
                except SessionDenied as error:
                    self._refusal = str(error)
                    raise
        return self._own

    def _find_moment(self, incoming: Incoming, own: HalfCalls, calls: HalfCalls) -> Moment:
        native = incoming.native
        if native == "UserPromptSubmit":
            return lambda one: self._take_prompt(calls.run, one)
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
            return lambda one: self._stop(calls.run, one)
        return lambda one: _pass_on(calls.run, one)

    async def _start_call(self, calls: HalfCalls, incoming: Incoming) -> Verdict:
        if (why := self._helpers.find_refusal(incoming.agent_id)) is not None:
            return Verdict(decision="deny", reason=why)
        verdict = await calls.before(incoming, self._find_answer)
        if verdict.decision in ("deny", "defer") or incoming.data["tool_name"] != DELEGATE:
            return verdict
        task = verdict.tool_input or incoming.data["tool_input"]
        why = await self._helpers.ask(calls.run, dict(task))
        if why is None:
            return verdict
        calls.give_up(incoming)
        return Verdict(decision="deny", reason=why)

    async def _take_prompt(self, run: Run, incoming: Incoming) -> Verdict:
        """A turn begins, with a prompt that was judged before it was sent, or is now."""
        prompt = incoming.data["prompt"]
        known = next((one for one in self._judged if one[0] == prompt), None)
        if known is not None:
            self._judged.remove(known)
            verdict = known[1]
        else:
            verdict = await run.submit(prompt)
            if verdict.allowed and verdict.changed:
                why = CLAUDE_AGENT_SDK_BY_OPTIONS.explain(events.PROMPT_SUBMIT, "modify")
                return Verdict(decision="deny", reason=f"a hook changed the prompt: {why}")
        return Verdict() if verdict.allowed else Verdict(decision="deny", reason=verdict.text)

    async def _stop(self, run: Run, incoming: Incoming) -> Verdict:
        """A turn is over; by options alone, its caller has read everything by now."""
        if self._coverage is CLAUDE_AGENT_SDK_BY_OPTIONS:
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
