"""What a session writes down: levels, scrubbing, and what a failing disk means."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, TypedDict, Unpack

from amplifier_core.dispatch import JUDGED_AGAIN, Dispatch
from amplifier_core.errors import ApprovalError
from amplifier_core.models import CONTINUE
from amplifier_core.models import Level as MessageLevel
from amplifier_core.models.audit_sink import AuditSink as AuditSink
from amplifier_core.models.audit_sink import Level as Level
from amplifier_core.models.audit_sink import NullSink as NullSink
from amplifier_core.models.audit_sink import OnFailure as OnFailure
from amplifier_core.models.record_bodies import (
    describe_answer,
    describe_answers,
    find_before,
    leave_out_histories,
)
from amplifier_core.precedence import fold
from amplifier_core.registration import HookHandler
from amplifier_core.utils import describe_error, run_with_timeout
from amplifier_core.utils.nested import KnownTexts, rewrite

logger = logging.getLogger(__name__)

Scrubber = Callable[[str], str]

# Seconds that a disk may take; a gated operation does not wait for ever on a hung one.
PATIENCE = 30.0


class Source(TypedDict, total=False):
    """Whom a record is about."""

    event: str
    handler: HookHandler
    hook: str


class Trail:
    """One session's pen: knows who writes, what to leave out, and when it must be on disk."""

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
        self.news: list[tuple[str, MessageLevel, str]] = []
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
            self._asked, self._known = [*self.scrubbers], KnownTexts() if constant else None
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
        type: str,
        body: Mapping[str, Any],
        *,
        event: str | None = None,
        handler: HookHandler | None = None,
        hook: str | None = None,
    ) -> int | None:
        """Append a record; None if there is no trail or it has failed, which is logged once."""
        if not self.records:
            return None
        try:
            return self.sink.append(
                type,
                self.scrub(body) if self.scrubbers else body,
                session=self.session_id,
                turn=self.turn,
                event=event,
                hook=hook if handler is None else handler.name,
                registration=None if handler is None else handler.id,
            )
        except Exception as error:  # noqa: BLE001 - a broken sink must not break the session
            self._complain(error)
            return None

    async def write_ahead(
        self, type: str, body: Mapping[str, Any], **source: Unpack[Source]
    ) -> str | None:
        """Append a record and wait until it is durable; returns why not, if that is fatal."""
        if not self.records:
            return None
        sequence = self.write(type, body, **source)
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
        return None if self.sink.on_failure == "warn" else failure

    def _complain(self, error: Exception) -> None:
        if self.failed:
            return
        self.failed = True
        warns = self.sink.on_failure == "warn"
        then = "the session goes on unrecorded" if warns else "what needs approval is denied"
        news = f"The audit trail has failed: {describe_error(error)}; {then}"
        logger.error("%s", news)
        self.news.append((news, "error", "audit"))

    # Dispatches

    def record_dispatch(self, run: Dispatch, again: bool = False) -> None:
        """One record for an event with the answer of each hook that ran, or one a decision."""
        if self.sink.level == "decisions":
            self._record_decisions(run)
            return
        final = fold(run.spoken, run.data) if run.spoken else CONTINUE
        body: dict[str, Any] = {
            "action": final.action,
            "hooks": describe_answers(run),
            "data": leave_out_histories(run.event, run.data),
        }
        if before := find_before(run.event, run.given, run.data):
            body["before"] = before
        if again:
            body[JUDGED_AGAIN] = True
        if final.reason:
            body["reason"] = final.reason
        self.write("dispatch", body, event=run.event)

    def record_unheard(self, event: str, data: Mapping[str, Any]) -> None:
        """One record for an event that no hook listens to."""
        if self.sink.level != "decisions":
            body = {"action": "continue", "hooks": [], "data": leave_out_histories(event, data)}
            self.write("dispatch", body, event=event)

    def _record_decisions(self, run: Dispatch) -> None:
        for answer in run.answers if run.spoken or run.unheeded else ():
            if answer.handler.id not in run.times:
                continue
            if answer.error is not None or answer.result.action != "continue":
                body = describe_answer(answer, run)
                self.write("action_resolved", body, event=run.event, handler=answer.handler)
