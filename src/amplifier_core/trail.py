"""The trail of a session: its records, and the sink that keeps them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol, TypedDict, Unpack, runtime_checkable

from amplifier_core.dispatch import Answer, Dispatch
from amplifier_core.errors import ApprovalError
from amplifier_core.models import CONTINUE
from amplifier_core.models import Level as MessageLevel
from amplifier_core.precedence import fold
from amplifier_core.records import Body, DispatchRecorded, HookAnswer
from amplifier_core.registration import HookHandler
from amplifier_core.utils import describe_error, run_with_timeout
from amplifier_core.utils.copying import is_same
from amplifier_core.utils.nested import KnownTexts, rewrite

Level = Literal["decisions", "normal", "full"]
OnFailure = Literal["deny", "warn"]


@runtime_checkable
class AuditSink(Protocol):
    """Takes records. `append` is cheap and orders them; `commit` waits until they are safe."""

    level: Level
    on_failure: OnFailure

    def append(
        self,
        type: str,
        body: Mapping[str, Any],
        *,
        session: str | None = None,
        turn: int | None = None,
        event: str | None = None,
        hook: str | None = None,
        registration: int | None = None,
    ) -> int:
        """The sequence of the record. Raises AuditUnavailable once the log has failed."""
        ...

    async def commit(self, sequence: int | None = None) -> None:
        """Return when that record, or all, are durable; AuditUnavailable if they cannot be."""
        ...

    async def close(self) -> None: ...


class NullSink:
    """Where a session writes that keeps no trail."""

    level: Level = "decisions"
    on_failure: OnFailure = "warn"

    def append(self, type: str, body: Mapping[str, Any], **source: Any) -> int:
        """Forget the record."""
        return 0

    async def commit(self, sequence: int | None = None) -> None:
        """There is nothing to wait for."""

    async def close(self) -> None:
        """There is nothing to close."""


logger = logging.getLogger(__name__)

Scrubber = Callable[[str], str]

# Seconds that a disk may take; a gated operation does not wait for ever on a hung one.
PATIENCE = 30.0

_TOO_LONG_TO_REPEAT = frozenset({"messages", "response", "mount_plan", "timestamp", "session_id"})
_KEEP_RESPONSE = _TOO_LONG_TO_REPEAT - {"response"}
_LEFT_OUT = {"provider:response": _KEEP_RESPONSE, "prompt:answer": _KEEP_RESPONSE}
_TOLD = frozenset({"denied_by", "judged_again"})
"""What the registry itself tells hooks."""


class Source(TypedDict, total=False):
    """Whom a record is about."""

    event: str
    handler: HookHandler
    hook: str


class Trail:
    """Writes the records of one session, scrubbed and without what repeats, and awaits the disk."""

    def __init__(self, sink: AuditSink | None, session_id: str | None) -> None:
        self.sink: AuditSink = NullSink() if sink is None else sink
        self.records = sink is not None
        """Whether anything is kept at all; who would build a body for nothing asks first."""
        self.session_id = session_id
        self.turn = 0
        self.scrubbers: list[Scrubber] = []
        self._asked: list[Scrubber] = []
        self._known: KnownTexts | None = None
        self.failed = False
        self.pending_messages: list[tuple[str, MessageLevel, str]] = []
        """What the person has yet to be told: a text, its level, its source."""

    @property
    def records_each_hook(self) -> bool:
        """Whether each hook's start and end are recorded."""
        return self.sink.level == "full"

    @property
    def records_each_event(self) -> bool:
        """Whether each dispatch is recorded, and not the decisions alone."""
        return self.sink.level != "decisions"

    # Scrubbing

    def scrub(self, value: Any) -> Any:
        """The value with every text in it passed through the scrubbers."""
        if not self.scrubbers:
            return value
        if self.scrubbers != self._asked:
            # Only what always says the same of a text need not be asked again. Its very class has
            # to say so: one that builds on it may learn.
            constant = all(vars(type(one)).get("is_constant") is True for one in self.scrubbers)
            self._asked = [*self.scrubbers]
            self._known = KnownTexts() if constant else None
        return rewrite(value, self._scrub_text, known=self._known)

    def _scrub_text(self, text: str, key: Any) -> str:
        for scrubber in tuple(self.scrubbers):
            keyed = getattr(scrubber, "scrub_keyed", None)  # one that also heeds a text's key
            try:
                # Unlike str(), this raises on what is no text.
                text = str.__str__(scrubber(text) if keyed is None else keyed(text, key))
            except Exception:
                logger.exception("A scrubber failed; the text is withheld")
                return "[withheld: a scrubber failed]"
        return text

    # Writing

    def write(
        self,
        body: Body,
        *,
        event: str | None = None,
        handler: HookHandler | None = None,
        hook: str | None = None,
    ) -> int | None:
        """Append a record; None if there is no trail or it has failed, which is logged once."""
        if not self.records:
            return None
        try:
            members = body.to_dict()
            return self.sink.append(
                body.type,
                self.scrub(members) if self.scrubbers else members,
                session=self.session_id,
                turn=self.turn,
                event=event,
                hook=hook if handler is None else handler.name,
                registration=None if handler is None else handler.id,
            )
        except Exception as error:  # noqa: BLE001 - a broken sink must not break the session
            self._complain(error)
            return None

    async def write_ahead(self, body: Body, **source: Unpack[Source]) -> str | None:
        """Append a record and wait until it is durable; returns why not, if that is fatal."""
        if not self.records:
            return None
        sequence = self.write(body, **source)
        failure = "the audit trail takes no records"
        if sequence is not None:
            try:
                await run_with_timeout(self.sink.commit(sequence), PATIENCE)
            except ApprovalError as refusal:
                return str(refusal)  # not the disk's: it may not run
            except Exception as error:  # noqa: BLE001 - not durable, whatever it was
                self._complain(error)
                failure = str(error)
            else:
                return None
        if self.sink.on_failure == "warn":
            return None
        return failure

    def _complain(self, error: Exception) -> None:
        if self.failed:
            return
        self.failed = True
        warns = self.sink.on_failure == "warn"
        then = "the session goes on unrecorded" if warns else "what needs approval is denied"
        news = f"The audit trail has failed: {describe_error(error)}; {then}"
        logger.error("%s", news)
        self.pending_messages.append((news, "error", "audit"))

    # Dispatches

    def record_dispatch(self, run: Dispatch, again: bool = False) -> None:
        """One record for an event with the answer of each hook that ran, or one a decision."""
        if self.sink.level == "decisions":
            self._record_decisions(run)
            return
        final = fold(run.answers, run.data) if run.answers else CONTINUE
        body = DispatchRecorded(
            action=final.action,
            hooks=tuple(describe_answers(run)),
            data=leave_out_histories(run.event, run.data),
            before=find_before(run.event, run.given, run.data) or None,
            judged_again=again,
            reason=final.reason or "",
        )
        self.write(body, event=run.event)

    def record_without_dispatch(self, event: str, data: Mapping[str, Any]) -> None:
        """One record for an event that no hook listens to."""
        if self.sink.level != "decisions":
            left = leave_out_histories(event, data)
            self.write(DispatchRecorded(action="continue", hooks=(), data=left), event=event)

    def _record_decisions(self, run: Dispatch) -> None:
        for answer in run.all_answers:
            if answer.handler.id not in run.times:
                continue
            if answer.error is not None or answer.result.action != "continue":
                self.write(describe_answer(answer, run), event=run.event, handler=answer.handler)


def leave_out_histories(event: str, data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The event's own fields; the conversation is in the session, not again in every record.

    What a model said and what was handed over are kept once each: with them a session can be
    judged again without its model.
    """
    too_long = _LEFT_OUT.get(event, _TOO_LONG_TO_REPEAT)
    if too_long.isdisjoint(data):
        return data
    return {key: value for key, value in data.items() if key not in too_long}


def find_before(event: str, given: Mapping[str, Any], left: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that hooks changed, as they were; None for one that they added."""
    if given is left:
        return {}
    before = leave_out_histories(event, given)
    after = leave_out_histories(event, left)
    return {
        key: before.get(key)
        for key in dict.fromkeys([*before, *after])
        if key not in _TOLD and not is_same(before.get(key), after.get(key))
    }


def describe_answers(run: Dispatch) -> list[HookAnswer]:
    """What each hook answered that was called, in order."""
    return [describe_answer(one, run) for one in run.all_answers if one.handler.id in run.times]


def describe_answer(answer: Answer, run: Dispatch) -> HookAnswer:
    """What one hook answered in a run, how long it took, and whether it had an effect."""
    result = answer.result
    error = answer.error
    handler = answer.handler
    described = HookAnswer(
        hook=answer.hook,
        id=handler.id,
        action=result.action,
        ms=int(run.times[handler.id] * 1_000_000 + 0.5) / 1000,
        unheeded=answer in run.ignored_answers,
        reason=result.reason or "",
    )
    for one in run.shadow_answers:
        if one.handler is handler:
            described.shadowed = one.result.action
    if error is not None:
        described.error = describe_error(error)
        described.timed_out = answer.timed_out
    return described
