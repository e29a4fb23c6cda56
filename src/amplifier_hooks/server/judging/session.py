"""One session of a program elsewhere: its events, each judged once, and its calls."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from amplifier_core import events
from amplifier_core.models import Level
from amplifier_core.operation import KERNEL
from amplifier_core.payloads import EndReason
from amplifier_core.records import ToolFinished
from amplifier_core.utils import canonical_bytes, describe_error
from amplifier_hooks.external.client_messages import read_messages, write_messages
from amplifier_hooks.external.conversation import EventContext
from amplifier_hooks.external.half_calls import HalfCalls
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.run import Run
from amplifier_hooks.external.verdicts import UNCHANGED, Reply, TextVerdict, Verdict
from amplifier_hooks.server.encoding import encode
from amplifier_hooks.server.judging import bodies, refusals
from amplifier_hooks.server.judging.judging import Judging, current_judging

logger = logging.getLogger(__name__)

DEADLINE = "deadline"
"""Who denies what hooks did not judge in time."""

MOST_AT_ONCE = 64
MOST_EVENTS = 100_000
MOST_ANSWERS = 256
MOST_BYTES = 16 * 1024 * 1024
"""Of the answers that are kept for retries."""
MOST_SHOWN = 256
SETTLE_SECONDS = 2.0
"""How long the end waits for results that are being judged: they have happened."""

OUR_EVENTS = {
    "prompt": events.PROMPT_SUBMIT,
    "request": events.PROVIDER_REQUEST,
    "reply": events.PROVIDER_RESPONSE,
    "call": events.TOOL_PRE,
    "result": events.TOOL_POST,
    "answer": events.PROMPT_ANSWER,
}


class ShownMessages:
    """The screen of a program: what is for its person goes out with the next answer, once."""

    def __init__(self) -> None:
        self._waiting: deque[dict[str, str]] = deque(maxlen=MOST_SHOWN)

    def show_message(self, message: str, level: Level, source: str = "hook") -> None:
        """Keep a message until there is an answer."""
        self._waiting.append({"text": message, "level": level, "source": source})

    def take(self) -> list[dict[str, str]]:
        """What was shown since the last time."""
        taken = list(self._waiting)
        self._waiting.clear()
        return taken


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the program is to do."""

    allowed: bool
    given: Mapping[str, Any] = field(default_factory=dict)
    """What to go on with, by the name that the answer has for it."""
    reason: str = ""
    hook: str = ""
    changed: bool = False


@dataclass(slots=True)
class AllowedCall:
    """A call that was allowed, and whose result is not known."""

    body: bodies.Call
    input: dict[str, Any]
    """As it may run."""
    is_reported: bool = False
    """Whether its result is being judged."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How a session was opened."""

    id: str
    owner: str
    program: str
    requests: bool
    lease: float
    deadline: float
    bundle: str
    folder: str


class JudgedSession:
    """Takes the events of one program, several at once; after the end, none.

    `on_lapse` is called when the program has sent nothing for as long as its lease.
    """

    def __init__(
        self, terms: Terms, run: Run, shown: ShownMessages, on_lapse: Callable[[], object]
    ) -> None:
        self.terms = terms
        self.reason = ""
        """Why it ended; empty while it is open."""
        self._run = run
        self._halves = HalfCalls(run, terms.program)
        tools = run.session.tools
        tools.refusals = frozenset()  # here, `not_run` says so
        tools.running.most = MOST_EVENTS
        self._shown = shown
        self._judgings: dict[str, Judging] = {}
        self._answered: deque[Judging] = deque()
        self._kept_bytes = 0
        self._under_way: set[asyncio.Task[None]] = set()
        self._calls: dict[str, AllowedCall] = {}
        self._has_turns = False
        self._on_lapse = on_lapse
        self._holders = 0
        self._last_used = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._ending: asyncio.Task[None] | None = None
        self._use()

    # How it stands

    def describe(self) -> dict[str, Any]:
        """The session as its program reads it; what is shown, only answers that are kept have."""
        terms = self.terms
        return {
            "session": terms.id,
            "program": terms.program,
            "status": "ended" if self.reason else "open",
            "lease": terms.lease,
            "deadline": terms.deadline,
            "bundle": terms.bundle,
            "folder": terms.folder,
            "reason": self.reason,
            "unreported": list(self._calls),
            "shown": [],
        }

    def describe_with_shown(self) -> dict[str, Any]:
        """The same with what its person is to be shown, each message once."""
        return {**self.describe(), "shown": self._shown.take()}

    # The lease

    @contextmanager
    def hold(self) -> Iterator[None]:
        """While a request of the program is answered: it renews the lease."""
        self._holders += 1
        try:
            yield
        finally:
            self._holders -= 1
            self._use()

    def _use(self) -> None:
        loop = asyncio.get_running_loop()
        self._last_used = loop.time()
        if self._timer is None and not self.reason:
            self._timer = loop.call_later(self.terms.lease, self._look_at_lease)

    def _look_at_lease(self) -> None:
        self._timer = None
        if self.reason:
            return
        loop = asyncio.get_running_loop()
        left = self.terms.lease - (loop.time() - self._last_used)
        if self._holders:
            left = self.terms.lease
        if left > 0:
            self._timer = loop.call_later(left, self._look_at_lease)
        else:
            self._on_lapse()

    # Events

    def take(self, body: bodies.AnyEvent) -> tuple[Judging, bool]:
        """Begin to judge an event; or the one of that id, and that it is a retry.

        Refusal if it is another one, if there is no room, or if the session is over.
        """
        self._refuse_after_end()
        digest = digest_body(body)
        known = self._judgings.get(body.id)
        if known is not None:
            if known.digest != digest:
                raise refusals.key_reused(f"The id {body.id[:100]!r}")
            return known, True
        if len(self._under_way) >= MOST_AT_ONCE:
            raise refusals.too_many(f"{MOST_AT_ONCE} events of this session are being judged")
        if len(self._judgings) >= MOST_EVENTS:
            raise refusals.too_many(f"This session had {MOST_EVENTS:,} events; open another one")
        if isinstance(body, bodies.Request) and not self.terms.requests:
            raise refusals.not_declared()
        if isinstance(body, bodies.Result):
            self._note_report(body)
        judging = self._judgings[body.id] = Judging(body.event, digest)
        task = asyncio.create_task(self._see_through(judging, body))
        judging.task = task
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return judging, False

    def find(self, event_id: str) -> Judging:
        """An event that was sent; Refusal if there is none."""
        self._refuse_after_end()
        found = self._judgings.get(event_id)
        if found is None:
            raise refusals.no_event(event_id)
        return found

    def write_answer(self, event_id: str, judging: Judging) -> bytes:
        """What to answer now: the judgement, the same bytes each time, or that it is pending."""
        self._refuse_after_end()
        if judging.answer is not None:
            return judging.answer
        if judging.is_over:
            raise refusals.answer_gone(event_id)
        head = {"id": event_id, "event": judging.kind, "decision": "pending", "reason": ""}
        rest = {"hook": "", "changed": False, "notes": [], "shown": []}
        return encode({**head, **rest, "approvals": judging.describe_questions()}).encode()

    def _refuse_after_end(self) -> None:
        if self.reason:
            raise refusals.session_ended(self.reason)

    def _note_report(self, body: bodies.Result) -> None:
        call = self._calls.get(body.call)
        if call is None or call.is_reported:
            raise refusals.no_call(body.call)
        call.is_reported = True

    async def _see_through(self, judging: Judging, body: bodies.AnyEvent) -> None:
        """Judge an event to its end; whatever goes wrong is a denial."""
        current_judging.set(judging)
        answer: bytes | None = None
        try:
            judgement = await self._judge_in_time(judging, body)
            if not self.reason:
                if judgement.allowed and isinstance(body, bodies.Call):
                    self._calls[body.id] = AllowedCall(body, judgement.given["input"])
                answer = self._write(body, judgement)
        finally:
            if answer is not None:
                self._keep(judging, answer)
            judging.finish(answer)

    async def _judge_in_time(self, judging: Judging, body: bodies.AnyEvent) -> Judgement:
        seconds = self.terms.deadline
        limit = judging.limit(seconds)
        try:
            async with limit:
                return await self._judge(body)
        except TimeoutError as error:
            if not limit.expired():
                return await self._deny(body, KERNEL, _explain(error))
            why = f"the hooks did not answer within {seconds:g} seconds"
            return await self._deny(body, DEADLINE, why)
        except Exception as error:
            logger.exception("An event %s could not be judged", body.event)
            return await self._deny(body, KERNEL, _explain(error))

    async def _deny(self, body: bodies.AnyEvent, hook: str, why: str) -> Judgement:
        """Deny what hooks did not, and say so in the trail."""
        event = OUR_EVENTS[body.event]
        denial = (await self._run.coordinator.deny(event, hook, why)).denial
        if isinstance(body, bodies.Call):
            context = EventContext(call_id=body.id, denied_by=hook)
            told = self._describe_call(body.id, body, body.input)
            await self._run.session.tools.note_denial(told, context, denial)
        if isinstance(body, bodies.Result):
            return Judgement(False, {"output": denial}, denial, hook, changed=True)
        return Judgement(False, {}, denial, hook)

    def _write(self, body: bodies.AnyEvent, judgement: Judgement) -> bytes:
        return encode(
            {
                "id": body.id,
                "event": body.event,
                "decision": "allow" if judgement.allowed else "deny",
                "reason": judgement.reason,
                "hook": judgement.hook,
                "changed": judgement.changed,
                **judgement.given,
                "notes": self._take_notes(),
                "shown": self._shown.take(),
                "approvals": [],
            }
        ).encode()

    def _keep(self, judging: Judging, answer: bytes) -> None:
        """Keep an answer for retries; of many or large ones, the oldest go."""
        self._answered.append(judging)
        self._kept_bytes += len(answer)
        while len(self._answered) > 1 and (
            len(self._answered) > MOST_ANSWERS or self._kept_bytes > MOST_BYTES
        ):
            oldest = self._answered.popleft()
            self._kept_bytes -= len(oldest.answer or b"")
            oldest.answer = None

    def _take_notes(self) -> list[dict[str, Any]]:
        """What hooks want the model to read; with requests, it is in those instead."""
        if self.terms.requests:
            return []
        lasting = [(one, True) for one in self._run.session.context.take()]
        passing = [(one, False) for one in self._run.coordinator.take_ephemeral()]
        return [
            {"text": str(one.get("content") or ""), "role": one.get("role"), "lasting": stays}
            for one, stays in (*lasting, *passing)
        ]

    # What hooks make of an event

    async def _judge(self, body: bodies.AnyEvent) -> Judgement:
        match body:
            case bodies.Prompt():
                return await self._judge_prompt(body)
            case bodies.Request():
                return await self._judge_request(body)
            case bodies.Reply():
                return await self._judge_reply(body)
            case bodies.Call():
                return await self._judge_call(body)
            case bodies.Result():
                return await self._judge_result(body)
            case bodies.Answer():
                return _read_text(await self._run.answer(body.text, streamed=body.streamed))

    async def _judge_prompt(self, body: bodies.Prompt) -> Judgement:
        self._has_turns = True
        return _read_text(await self._run.submit(body.text, body.metadata))

    async def _judge_request(self, body: bodies.Request) -> Judgement:
        verdict = await self._run.request(
            read_messages(body.messages),
            provider=body.provider or self.terms.program,
            model=body.model,
            tools=body.tools,
        )
        if not verdict.allowed:
            return Judgement(False, {}, verdict.reason, verdict.hook)
        messages = write_messages(body.messages, verdict.placed)
        return Judgement(True, {"messages": messages}, changed=verdict.changed)

    async def _judge_reply(self, body: bodies.Reply) -> Judgement:
        calls = [one.model_dump() for one in body.calls]
        reply = Reply(
            text=body.text,
            calls=calls,
            model=body.model,
            usage=body.usage,
            finish_reason=body.finish_reason,
            duration_ms=int(body.duration_ms),
        )
        verdict = await self._run.review(reply, provider=body.provider or self.terms.program)
        if not verdict.allowed:
            return Judgement(False, {}, verdict.reason, verdict.hook)
        given = {
            "text": body.text if verdict.text is None else verdict.text,
            "calls": calls if verdict.calls is None else verdict.calls,
        }
        return Judgement(True, given, changed=verdict.changed)

    async def _judge_call(self, body: bodies.Call) -> Judgement:
        if not self._has_turns:  # of a program that shows no prompts, nobody knows its turns
            self._run.coordinator.reset_turn()
        context = EventContext()
        told = self._describe_call(body.id, body, body.input)
        verdict = await self._halves.before(told, event=context)
        if verdict.decision not in (None, "allow"):
            return Judgement(False, {}, verdict.reason or "", _find_denier(verdict, context))
        for said in verdict.context:  # of the people who allowed it
            note = {"role": "system", "content": said, "metadata": {"source": "session"}}
            await self._run.session.context.add_message(note)
        changed = verdict.tool_input is not None
        given = verdict.tool_input if verdict.tool_input is not None else body.input
        return Judgement(True, {"input": given}, changed=changed)

    async def _judge_result(self, body: bodies.Result) -> Judgement:
        call = self._calls[body.call]
        ran = call.input if body.input is None else body.input
        told = self._describe_call(body.call, call.body, ran, duration_ms=body.duration_ms)
        try:
            if body.not_run is not None:
                self._halves.give_up(told)
                await self._run.session.tools.note_not_run(body.call, body.not_run)
                return Judgement(True, {"output": body.not_run})
            if body.error is not None:
                told.data["error"] = body.error.model_dump()
                await self._halves.fail(told)
                return Judgement(True, {"output": body.error.message})
            return await self._judge_output(body, told)
        finally:
            if not self._is_running(body.call):
                self._calls.pop(body.call, None)

    async def _judge_output(self, body: bodies.Result, told: Incoming) -> Judgement:
        result = {"success": body.success, "output": body.output, "error": None}
        told.data["tool_result"] = result
        context = EventContext()
        verdict = await self._halves.after(told, event=context)
        if verdict.withhold:
            given = {"output": verdict.output}
            return Judgement(
                False, given, verdict.reason or "", _find_denier(verdict, context), changed=True
            )
        if verdict.output is UNCHANGED:
            return Judgement(True, {"output": body.output})
        return Judgement(True, {"output": verdict.output}, changed=True)

    def _describe_call(
        self, call_id: str, call: bodies.Call, given: dict[str, Any], **more: Any
    ) -> Incoming:
        data = {"tool_name": call.tool, "tool_input": given, **more}
        return Incoming(
            event=events.TOOL_PRE,
            data=data,
            native="call",
            session_id=self.terms.id,
            cwd=call.cwd,
            call_id=call_id,
        )

    def _is_running(self, call_id: str) -> bool:
        """Whether the trail knows of no end of the call."""
        return self._run.session.tools.running.find(call_id, "", {}) is not None

    # The end

    def send_away(self) -> None:
        """Answer whoever waits: the server is about to end."""
        for judging in self._judgings.values():
            if not judging.is_over:
                judging.send_away()

    async def end(self, reason: EndReason) -> None:
        """End it, once: questions are withdrawn, and calls that were not reported are unknown."""
        if self._ending is None:
            self.reason = reason
            self._ending = asyncio.create_task(self._end(reason))
        await asyncio.shield(self._ending)

    async def _end(self, reason: EndReason) -> None:
        if self._timer is not None:
            self._timer.cancel()
        await self._stop_judging()
        for call_id, call in self._calls.items():
            unknown = ToolFinished(tool=call.body.tool, id=call_id, outcome="unknown")
            self._run.coordinator.trail.write(unknown)
        self._judgings.clear()
        self._answered.clear()
        await self._run.finish(reason)

    async def _stop_judging(self) -> None:
        judged = list(self._judgings.values())
        settling = [
            one.task
            for one in judged
            if one.task is not None
            and not one.task.done()
            and one.kind == "result"
            and not one.describe_questions()
        ]
        if settling:
            await asyncio.wait(settling, timeout=SETTLE_SECONDS)
        left = list(self._under_way)
        for task in left:
            task.cancel()
        if left:  # one that does not let itself be stopped allows nothing any more
            await asyncio.wait(left, timeout=SETTLE_SECONDS)


def digest_body(body: bodies.AnyEvent | bodies.NewSession) -> bytes:
    """What tells a retry from another request; for how long it waits is no part of it."""
    plain = body.model_dump(exclude={"wait"}, exclude_unset=True)
    return sha256(canonical_bytes(plain)).digest()


def _read_text(verdict: TextVerdict) -> Judgement:
    if not verdict.allowed:
        return Judgement(False, {}, verdict.text, verdict.hook or KERNEL)
    return Judgement(True, {"text": verdict.text}, changed=verdict.changed)


def _find_denier(verdict: Verdict, context: EventContext) -> str:
    """Who denied a call or its result; the kernel, if what hooks left could not be used."""
    outcome = context.outcome
    if context.denied_by:
        return context.denied_by
    if outcome is not None and not outcome.allowed:
        return outcome.hook or KERNEL
    return KERNEL


def _explain(error: Exception) -> str:
    return f"it could not be judged: {describe_error(error)}"
