"""One session of the program behind the SDK: its events through the hooks of a run of ours."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from amplifier_core import events
from amplifier_core.answers import Outcome
from amplifier_core.errors import SessionDenied
from amplifier_core.events import is_notification
from amplifier_core.operation import KERNEL
from amplifier_core.payloads import EndReason
from amplifier_hooks.coding_agents.dialects.claude import DIALECT
from amplifier_hooks.coverage import CLAUDE_AGENT_SDK, CLAUDE_AGENT_SDK_BY_OPTIONS, Coverage
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.external.half_calls import HalfCalls
from amplifier_hooks.external.handover import Handed
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.loops import Home, start_own_loop
from amplifier_hooks.external.run import Run, inside
from amplifier_hooks.external.verdicts import TextVerdict, Verdict

Key = tuple[str, str, str]


class Questions:
    """What people have to decide before a session is resumed, and what they have decided.

    The result of a run whose `stop_reason` is "tool_deferred" has its questions in `waiting`. Give
    the answers, and resume the session with the same object, or with another one that was given
    them: payloads and answers are values that JSON can hold.
    """

    def __init__(self) -> None:
        self.waiting: list[dict[str, Any]] = []
        self._answers: dict[Key, Any] = {}

    def give(self, payload: dict[str, Any], answer: Any) -> None:
        """Answer a question with what `amplifier_hooks.frameworks.answer` has made."""
        self._answers[_name(payload)] = answer
        self.waiting = [one for one in self.waiting if _name(one) != _name(payload)]

    def find_answer(self, handed: Handed) -> Any:
        """The answer to a question; if there is none, the question waits for one."""
        payload = handed.to_payload()
        known = self._answers.get(_name(payload))
        if known is None and payload not in self.waiting:
            self.waiting.append(payload)
        return known


def _name(payload: dict[str, Any]) -> Key:
    return (str(payload["tool_call_id"]), str(payload["hook"]), str(payload["prompt"]))


LONGEST = 3600.0
"""Seconds that hooks, and the people whom they ask, have for one event."""

_MARGIN = 5.0
"""Seconds that an answer of ours needs to be there before the program gives up."""

Asks = Literal["inline"] | Questions
"""Where people are asked: while the call waits, or after the run was interrupted for it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How long, under which names, and where people are asked."""

    timeout: float
    plain_servers: tuple[str, ...]
    asks: Questions | None

    @property
    def seconds(self) -> float:
        """How long hooks have, so that their answer is there in time."""
        return self.timeout - min(_MARGIN, self.timeout / 10)

    @property
    def prefixes(self) -> tuple[str, ...]:
        """How the program's names of tools begin that hooks see without that."""
        return tuple(f"mcp__{name}__" for name in self.plain_servers)


def choose(timeout: float, plain_servers: Sequence[str], asks: Asks) -> Settings:
    """The settings; what cannot be meant is refused."""
    if timeout <= 0:
        raise ValueError(f"timeout must be more than 0 seconds, got {timeout}")
    if isinstance(plain_servers, str):
        raise TypeError(f"plain_servers is a list of names, got the text {plain_servers!r}")
    if not isinstance(asks, Questions) and asks != "inline":
        raise ValueError(f"asks is 'inline' or a Questions object, got {asks!r}")
    return Settings(timeout, tuple(plain_servers), asks if isinstance(asks, Questions) else None)


class Helpers:
    """Finds the session of the sub-agent that does something."""

    def __init__(self, governor: Governor) -> None:
        self._governor = governor
        self._opening = asyncio.Lock()
        self._open: dict[str, HalfCalls] = {}
        self._refused: dict[str, str] = {}
        self._expected: dict[str, list[Outcome]] = {}

    async def find(self, incoming: Incoming, parent: HalfCalls) -> HalfCalls:
        """That of the sub-agent of an event; it is opened with the first one."""
        name = str(incoming.payload.get("agent_type") or "")
        async with self._opening:
            if incoming.agent_id not in self._open:
                run = await self._start_run(parent.run, name)
                self._open[incoming.agent_id] = HalfCalls(run, DIALECT.name)
        return self._open[incoming.agent_id]

    async def _start_run(self, parent: Run, name: str) -> Run:
        token = inside.set(parent)
        try:
            return await self._governor.open(CLAUDE_AGENT_SDK, name)
        finally:
            inside.reset(token)

    def find_refusal(self, agent_id: str) -> str | None:
        """Why a sub-agent that the program has started all the same must do nothing."""
        return self._refused.get(agent_id)

    async def ask(self, run: Run, given: dict[str, Any]) -> str | None:
        """Have the hooks judge the start of a sub-agent; returns why it must not, if so."""
        name = str(given.get("agent_name") or "")
        outcome = await self._judge(run, name, str(given.get("task") or ""))
        if not outcome.allowed:
            return outcome.denial
        self._expected.setdefault(name, []).append(outcome)
        return None

    async def _judge(self, run: Run, name: str, task: str) -> Outcome:
        asked: dict[str, Any] = {
            "parent_session_id": run.coordinator.session_id,
            "agent_name": name,
            "task": task,
            "config_override": {},
        }
        outcome = await run.ask(events.AGENT_SPAWN, asked)
        left = outcome.data or {}
        if outcome.allowed and any(left.get(key, asked[key]) != asked[key] for key in asked):
            why = CLAUDE_AGENT_SDK.explain(events.AGENT_SPAWN, "modify")
            why = f"a hook changed the start of a sub-agent, which cannot be done: {why}"
            return await run.home.run(run.coordinator.deny(events.AGENT_SPAWN, KERNEL, why))
        return outcome

    async def start(self, incoming: Incoming, parent: HalfCalls, calls: HalfCalls) -> Verdict:
        """A sub-agent begins: what hooks said at its start is meant for it."""
        name = str(incoming.data["agent_name"])
        waiting = self._expected.get(name)
        outcome = waiting.pop(0) if waiting else await self._judge(parent.run, name, "")
        if not outcome.allowed:
            self._refused[incoming.agent_id] = outcome.denial
            return Verdict(context=(outcome.denial,))
        work = calls.coordinator.inject_answers(events.AGENT_SPAWN, list(outcome.answers))
        await calls.run.home.run(work)
        return Verdict()

    async def stop(self, incoming: Incoming, parent: HalfCalls) -> Verdict:
        """A sub-agent is done; it may be woken up once more, which opens another session."""
        done = self._open.pop(incoming.agent_id, None)
        if done is not None:
            await done.run.end()
        await parent.run.tell(events.AGENT_COMPLETE, incoming.data)
        return Verdict()

    def list_runs(self) -> list[Run]:
        """Those of sub-agents that are at work."""
        return [one.run for one in self._open.values()]

    async def end(self, reason: EndReason) -> None:
        """Nothing of them goes on."""
        for agent_id in list(self._open):
            await self._open.pop(agent_id).run.end(reason)


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
