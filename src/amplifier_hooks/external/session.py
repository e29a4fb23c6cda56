"""One session of ours behind a loop that is not ours: of a coding agent, a framework, a gateway.

The loop opens it, takes each turn through it (the prompt, requests to a model and their replies,
tool calls, the answer), and ends it. A tool call goes through as a whole, if its tool can be called
from here (`call`), or in two halves around a tool that the other program runs (`before_tool`, then
`after_tool` or `after_failure`). Both are the kernel's one path of a tool call.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Self

from amplifier_core import events
from amplifier_core.answers import Outcome, describe_denial
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.errors import SessionStateError
from amplifier_core.models import ToolResult
from amplifier_core.operation import KERNEL
from amplifier_core.payloads import EndReason
from amplifier_hooks.agent.session.assembled import AssembledSession
from amplifier_hooks.agent.session.open_calls import ALL, RUNNING_ELSEWHERE
from amplifier_hooks.coverage import Coverage
from amplifier_hooks.external.calling import Handler, Seat, Wanted, call_through_hooks
from amplifier_hooks.external.conversation import (
    EventContext,
    ExternalContext,
    current_event,
)
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.messages import Plain
from amplifier_hooks.external.model_side import ModelSide, refuse_change
from amplifier_hooks.external.tool_calls import ToolCalls
from amplifier_hooks.external.verdicts import (
    Called,
    Reply,
    ReplyVerdict,
    RequestVerdict,
    TextVerdict,
    Verdict,
)

Close = Callable[[EndReason], Awaitable[None]]

ENDED = "the run has ended"
OVER = describe_denial(KERNEL, ENDED)
NOTHING_RUNS = f"{ENDED}, so nothing is run"


class ExternalSession:
    """What another program wants to do passes through here; after the end, nothing does.

    `coverage` says what the program can be given at which event: a change that it cannot take is
    a denial. Without it, whoever writes the program's answers sees to that.
    """

    def __init__(
        self,
        coordinator: SessionCoordinator,
        context: ExternalContext,
        close: Close,
        *,
        program: str,
        coverage: Coverage | None = None,
        session: AssembledSession | None = None,
    ) -> None:
        self.coordinator = coordinator
        self.context = context
        self.coverage = coverage
        self.session = session
        """Of a bundle, if one was opened for this."""
        self.tools = ToolCalls(coordinator, program)
        self.has_ended = False
        self.last_used = time.monotonic()
        self._close = close
        self._models = ModelSide(coordinator, context, coverage)
        self._prompt = ""

    @classmethod
    async def attach(
        cls, session: AssembledSession, program: str, coverage: Coverage | None = None
    ) -> Self:
        """Put a session that has been opened behind another program, whose conversation it is.

        What hooks said at the start goes to the program, and so does everything after it.
        """
        context = ExternalContext()
        said = await session.read_messages()
        await session.coordinator.mount("context", context)
        for message in said:
            await context.add_message(message)
        return cls(
            session.coordinator,
            context,
            session.cleanup,
            program=program,
            coverage=coverage,
            session=session,
        )

    # A turn

    async def submit(self, prompt: Mapping[str, Any], *, begins_turn: bool = True) -> TextVerdict:
        """Take a prompt through the hooks; with a new turn, budgets are whole again."""
        self.use()
        if begins_turn:
            self.coordinator.reset_turn()
        self._prompt = str(prompt["prompt"])
        verdict = await self._judge_text(events.PROMPT_SUBMIT, dict(prompt), "prompt")
        if verdict.allowed:
            self._prompt = verdict.text
        return verdict

    async def request(
        self,
        messages: Sequence[Plain],
        *,
        provider: str,
        model: str | None = None,
        tools: Sequence[str] = (),
        keeps: bool = False,
    ) -> RequestVerdict:
        """Take a request to a model through the hooks; see `Run.request`."""
        self.use()
        if self.has_ended:
            return RequestVerdict(False, OVER, hook=KERNEL)
        return await self._models.request(list(messages), provider, model, list(tools), keeps)

    async def review(self, reply: Reply, *, provider: str) -> ReplyVerdict:
        """Take a reply of a model through the hooks."""
        self.use()
        if self.has_ended:
            return ReplyVerdict(False, OVER, hook=KERNEL)
        return await self._models.review(reply, provider)

    async def answer(self, text: str, *, streamed: bool = False) -> TextVerdict:
        """Take the answer through the hooks before it goes out; `streamed`: somebody read it."""
        self.use()
        data = {"prompt": self._prompt, "response": text, "streamed": streamed}
        verdict = await self._judge_text(events.PROMPT_ANSWER, data, "response")
        await self.tell(events.PROMPT_COMPLETE, {"prompt": self._prompt, "response": verdict.text})
        return verdict

    async def _judge_text(self, event: str, data: dict[str, Any], key: str) -> TextVerdict:
        given = data[key]
        outcome = await self.judge(event, data)
        if not outcome.allowed:
            return TextVerdict(False, outcome.denial, hook=outcome.hook)
        wanted = (outcome.data or {}).get(key, given)
        if not isinstance(wanted, str):
            kind = type(wanted).__name__
            denied = await self.coordinator.deny(event, KERNEL, f"a hook left no text: {kind}")
            return TextVerdict(False, denied.denial, hook=KERNEL)
        if wanted == given:
            return TextVerdict(True, given)
        refused = await refuse_change(self.coordinator, self.coverage, event)
        if refused is not None:
            return TextVerdict(False, refused, hook=KERNEL)
        return TextVerdict(True, wanted, changed=True)

    # Tool calls

    async def call(self, wanted: Wanted, seat: Seat, handler: Handler | None = None) -> Called:
        """Take a call through hooks and gates to the program's own handler and back.

        `handler` is called instead of the program's own, which it calls.
        """
        self.use()
        if self.has_ended:
            return Called(ToolResult.refused(OVER))
        try:
            return await call_through_hooks(
                self.coordinator, wanted, seat, handler, lambda: not self.has_ended
            )
        finally:
            self.use()

    async def before_tool(self, call: Incoming, event: EventContext | None = None) -> Verdict:
        """Judge a call that the program is about to run; what is allowed is recorded as started."""
        self.use()
        if self.has_ended:
            return Verdict(decision="deny", reason=NOTHING_RUNS)
        return await self.tools.before(call, event or EventContext())

    async def after_tool(self, call: Incoming, event: EventContext | None = None) -> Verdict:
        """Record how a call ended, and judge what came of it."""
        self.use()
        return await self.tools.after(call, event or EventContext())

    async def after_failure(self, call: Incoming, event: EventContext | None = None) -> Verdict:
        """Record that a call failed, and tell of it."""
        self.use()
        return await self.tools.after_failure(call, event or EventContext())

    # Everything else

    async def judge(self, event: str, data: Mapping[str, Any]) -> Outcome:
        """Take any event to its outcome; which fields it has, the program's table says."""
        if self.has_ended:
            return Outcome(False, hook=KERNEL, reason=ENDED)
        coordinator: Any = self.coordinator
        outcome: Outcome = await coordinator.judge(event, dict(data))
        under_way = current_event.get()
        if under_way is not None:
            under_way.note(event, outcome)
        return outcome

    async def tell(self, event: str, data: Mapping[str, Any]) -> None:
        """Tell hooks of something that has happened."""
        coordinator: Any = self.coordinator
        if not self.has_ended and coordinator.is_observed(event):
            await coordinator.notify(event, data)

    def take_texts(self, said: Sequence[str] = ()) -> list[str]:
        """What hooks have injected since the last time, for good or for one request.

        `said` is what belongs to the event under way; it has its place among the others.
        """
        lasting = self.context.take()
        passing = self.coordinator.take_ephemeral()
        return [*_read_texts(lasting), *said, *_read_texts(passing)]

    # For another process that goes on with it

    def save(self) -> dict[str, Any]:
        """What it knows of calls, denials and questions, as values that JSON can hold."""
        return {**self.tools.save(), "injected": self.coordinator.injection_budget}

    def load(self, saved: Mapping[str, Any]) -> None:
        """What an earlier process knew."""
        self.tools.load(saved)
        injected = saved.get("injected")
        if isinstance(injected, int):
            self.coordinator.injection_budget = injected

    async def read_state(self) -> dict[str, Any]:
        """Everything that goes on with the session needs, if it is one of a bundle."""
        if self.session is None:
            raise SessionStateError("A session that was made by hand is not saved")
        # That this process ends says nothing of the calls that the other program runs.
        self.coordinator.session_state[RUNNING_ELSEWHERE] = ALL
        return await self.session.state()

    # The end

    def use(self) -> None:
        """Note that the program is at work."""
        self.last_used = time.monotonic()

    async def end(self, reason: EndReason = "complete") -> None:
        """The program's session is over; what hooks say of that reaches nobody."""
        self.has_ended = True
        token = current_event.set(EventContext())
        try:
            await self._close(reason)
        finally:
            current_event.reset(token)

    async def suspend(self) -> None:
        """Another process will go on with it: nothing ends but this."""
        self.has_ended = True
        if self.session is not None:
            await self.session.suspend()


def _read_texts(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    return [str(one.get("content") or "") for one in messages]
