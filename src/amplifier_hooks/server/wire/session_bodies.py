"""What an agent reports of a session, and of its trail."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from amplifier_hooks.approvals.models import (
    SessionEntry,
    SessionRecord,
    SessionStatus,
)
from amplifier_hooks.server.wire.bodies import Body
from amplifier_hooks.server.wire.text import STORABLE, Id, Name

MAX_RECORDS = 1000
_LONG = Field(max_length=1024 * 1024)
_Path = Annotated[str, Field(max_length=4096), STORABLE]
_Time = Annotated[float, Field(ge=0, le=1e11)]
_Count = Annotated[int, Field(ge=0, le=2**53)]


class SessionBody(Body):
    """A session for the index; whose it is, the token says."""

    id: Id
    machine: Name = ""
    user: Annotated[Name, Field(description="Ignored: the token says whose it is.")] = ""
    name: Annotated[str, _LONG, STORABLE] = ""
    bundle: _Path = ""
    working_dir: _Path = ""
    status: SessionStatus = "running"
    created: _Time = 0.0
    updated: _Time = 0.0
    turns: _Count = 0
    reply: Annotated[str, _LONG, STORABLE] = ""
    error: Annotated[str, _LONG, STORABLE] = ""
    parent_id: Name = ""
    hosted: bool = False
    transcript: Annotated[list[dict[str, Any]] | None, Field(max_length=100_000)] = None

    def to_entry(self, user: str) -> SessionEntry:
        """For the store; only a server itself hosts sessions."""
        given = self.model_dump(exclude={"transcript", "user", "hosted"})
        return SessionEntry(**given, user=user, hosted=False)


class RecordBody(Body):
    """One record of a trail."""

    number: Annotated[int, Field(ge=1, le=2**53)]
    time: _Time
    type: Name
    event: Name = ""
    hook: Name = ""
    turn: _Count = 0
    body: dict[str, Any] = Field(default_factory=dict)


class RecordsBody(Body):
    """Records of a session's trail."""

    records: Annotated[list[RecordBody], Field(max_length=MAX_RECORDS)]

    def to_records(self) -> list[SessionRecord]:
        """For the store."""
        return [SessionRecord(**one.model_dump()) for one in self.records]


class WitnessBody(Body):
    """A checkpoint, and the proof that it continues the one before."""

    note: Annotated[str, Field(min_length=1, max_length=64 * 1024), STORABLE]
    proof: Annotated[list[Annotated[str, Field(max_length=64)]], Field(max_length=128)] = Field(
        default_factory=list
    )
