"""What the coordinator writes down: levels, scrubbing, and what a failing disk means."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol, runtime_checkable

from amplifier_core.hooks import Answer, Dispatch, HookHandler
from amplifier_core.models import CONTINUE, HookResult
from amplifier_core.utils import describe_error, run_with_timeout

logger = logging.getLogger(__name__)

Scrubber = Callable[[str], str]
Level = Literal["decisions", "normal", "full"]
OnFailure = Literal["deny", "warn"]

PATIENCE = 30.0
"""Seconds that a disk may take; a gated operation does not wait for ever on a hung one."""

_TOO_LONG_TO_REPEAT = frozenset({"messages", "response", "mount_plan", "timestamp", "session_id"})


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


class Trail:
    """One session's pen: knows who writes, what to leave out, and when it must be on disk."""

    def __init__(self, sink: AuditSink | None, session_id: str | None) -> None:
        self.sink = sink
        self.session_id = session_id
        self.turn = 0
        self.scrubbers: list[Scrubber] = []
        self._told = False
        self._news: str | None = None

    @property
    def full(self) -> bool:
        """Whether each hook's start and end are recorded."""
        return self.sink is not None and self.sink.level == "full"

    @property
    def normal(self) -> bool:
        """Whether each dispatch is recorded."""
        return self.sink is not None and self.sink.level != "decisions"

    def scrubbed(self, value: Any) -> Any:
        """The value with every text in it passed through the scrubbers."""
        if not self.scrubbers:
            return value
        try:
            return self._scrubbed(value, {})
        except RecursionError:
            return "[withheld: nested too deep]"

    def _scrubbed(self, value: Any, made: dict[int, Any]) -> Any:
        if isinstance(value, str):
            return self._scrub(value)
        if not isinstance(value, Mapping | list | tuple):
            return value
        if id(value) in made:
            return made[id(value)]
        if isinstance(value, Mapping):
            fields: dict[Any, Any] = {}
            made[id(value)] = fields
            for key, entry in value.items():
                fields[self._scrubbed(key, made)] = self._scrubbed(entry, made)
            return fields
        entries: list[Any] = []
        made[id(value)] = entries
        entries.extend(self._scrubbed(entry, made) for entry in value)
        return entries

    def _scrub(self, text: str) -> str:
        for scrubber in tuple(self.scrubbers):
            try:
                text = scrubber(text)
            except Exception:
                logger.exception("A scrubber failed; the text is withheld")
                return "[withheld: a scrubber failed]"
            if not isinstance(text, str):
                logger.error("A scrubber returned %s; the text is withheld", type(text).__name__)
                return "[withheld: a scrubber failed]"
        return text

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
        if self.sink is None:
            return None
        try:
            return self.sink.append(
                type,
                self.scrubbed(body),
                session=self.session_id,
                turn=self.turn,
                event=event,
                hook=hook if handler is None else handler.name,
                registration=None if handler is None else handler.id,
            )
        except Exception as error:  # noqa: BLE001 - a broken sink must not break the session
            self._complain(error)
            return None

    async def write_ahead(self, type: str, body: Mapping[str, Any], **source: Any) -> str | None:
        """Append a record and wait until it is durable; returns why not, if that is fatal."""
        if self.sink is None:
            return None
        sequence = self.write(type, body, **source)
        failure = "the audit trail takes no records"
        if sequence is not None:
            try:
                await run_with_timeout(self.sink.commit(sequence), PATIENCE)
            except Exception as error:  # noqa: BLE001 - not durable, whatever it was
                self._complain(error)
                failure = str(error)
            else:
                return None
        return None if self.sink.on_failure == "warn" else failure

    def _complain(self, error: Exception) -> None:
        if not self._told:
            self._told = True
            warns = self.sink is not None and self.sink.on_failure == "warn"
            then = "the session goes on unrecorded" if warns else "what needs approval is denied"
            self._news = f"The audit trail has failed: {describe_error(error)}; {then}"
            logger.error("%s", self._news)

    def news(self) -> str | None:
        """What the person has yet to be told of a failed trail; handed out once."""
        news, self._news = self._news, None
        return news

    @property
    def failed(self) -> bool:
        """Whether a record could not be written."""
        return self._told

    def dispatched(self, run: Dispatch, durations: Mapping[int, float], final: HookResult) -> None:
        """One record for an event with each hook's answer, and one for each decision."""
        if self.normal:
            body: dict[str, Any] = {
                "action": final.action,
                "hooks": [_told(answer, durations) for answer in run.answers],
                "data": _readable(run.data),
            }
            if final.reason:
                body["reason"] = final.reason
            self.write("dispatch", body, event=run.event)
        elif run.spoken:
            self._decisions(run, durations)

    def unheard(self, event: str, data: Mapping[str, Any]) -> None:
        """One record for an event that no hook listens to."""
        if self.sink is not None and self.normal:
            body = {"action": "continue", "hooks": [], "data": _readable(data)}
            self.write("dispatch", body, event=event)

    def _decisions(self, run: Dispatch, durations: Mapping[int, float]) -> None:
        for answer in run.spoken:
            if answer.error is not None or answer.result.action != "continue":
                body = _told(answer, durations)
                self.write("action_resolved", body, event=run.event, handler=answer.handler)


def _told(answer: Answer, durations: Mapping[int, float]) -> dict[str, Any]:
    told: dict[str, Any] = {
        "hook": answer.hook,
        "id": answer.handler.id,
        "action": answer.result.action,
        "ms": round(durations.get(answer.handler.id, 0.0) * 1000, 3),
    }
    if answer.result is CONTINUE and answer.error is None:
        return told
    if answer.result.reason:
        told["reason"] = answer.result.reason
    if answer.error is not None:
        told["error"] = describe_error(answer.error)
        told["timed_out"] = answer.timed_out
    return told


def _readable(data: Mapping[str, Any]) -> dict[str, Any]:
    """The event's own fields; histories are in the session, not again in every record."""
    return {key: value for key, value in data.items() if key not in _TOO_LONG_TO_REPEAT}
