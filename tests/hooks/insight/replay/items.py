"""Items of recordings, made by hand."""

from __future__ import annotations

from typing import Any

from amplifier_core.records import HookAnswer
from amplifier_hooks.trails import (
    Note,
    RecordedApproval,
    RecordedCall,
    RecordedEvent,
)
from tests.support.bodies import make_body

TIME = "2026-11-17T12:00:00Z"


def event(
    name: str, sequence: int = 1, *answers: HookAnswer, session: str = "s", **more: Any
) -> RecordedEvent:
    """An event; `more` are fields of the item, and everything else of its data."""
    names: tuple[str, ...] = ("action", "reason", "again", "left")
    own = {key: more.pop(key) for key in names if key in more}
    given: dict[str, Any] = {
        "data": more,
        "left": more,
        "missing": {},
        "masked": (),
        **own,
    }
    return RecordedEvent(
        sequence=sequence, time=TIME, session=session, turn=1, event=name, answers=answers, **given
    )


def call(stage: Any, sequence: int, call_id: str = "c", session: str = "s", **more: Any) -> Any:
    """The start or the end of a call."""
    return RecordedCall(
        sequence=sequence,
        time=TIME,
        session=session,
        turn=1,
        event="tool:pre",
        stage=stage,
        tool="Echo",
        call_id=call_id,
        **more,
    )


def question(stage: Any, sequence: int, **more: Any) -> RecordedApproval:
    """A step of a question."""
    given: dict[str, Any] = {"hook": "h", "id": 1, "digest": "d", "call_id": "c", **more}
    return RecordedApproval(
        sequence=sequence, time=TIME, session="s", turn=1, event="tool:pre", stage=stage, **given
    )


def note(type: str, sequence: int = 1, hook: str = "", session: str = "s", **body: Any) -> Note:
    """Any other record."""
    return Note(
        sequence=sequence,
        time=TIME,
        session=session,
        turn=0,
        event="tool:post",
        hook=hook,
        body=make_body(type, body),
    )
