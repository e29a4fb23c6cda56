"""What agents may send."""

from __future__ import annotations

from hashlib import sha256
from typing import Annotated, Any, Literal

from pydantic import Field

from amplifier_apps.web.wire.bodies import Body
from amplifier_apps.web.wire.text import Comment, Id, Name, Text
from amplifier_foundation.stores.values.approval import ApprovalRequest, Option, Requirement
from amplifier_foundation.stores.values.session import SessionEntry, SessionRecord, SessionStatus

MAX_RECORDS = 1000
_DAYS_30 = 30 * 24 * 3600.0
Long = Annotated[Text, Field(max_length=1024 * 1024)]
Path = Annotated[Text, Field(max_length=4096)]
Lease = Annotated[float, Field(gt=0, le=24 * 3600.0)]
Approvals = Annotated[list[Id], Field(min_length=1, max_length=1000)]
Time = Annotated[float, Field(ge=0, le=1e11)]
Count = Annotated[int, Field(ge=0, le=2**53)]


class OptionBody(Body):
    """A possible answer."""

    id: Annotated[int, Field(ge=0, le=1000)]
    label: Annotated[Text, Field(min_length=1, max_length=200)]
    allows: bool
    remembered: bool = False


class RequirementBody(Body):
    """Who may allow it."""

    persons: Annotated[int, Field(ge=1, le=100)] = 1
    requester_may_approve: bool = True
    scope: Name = ""


class ApprovalRequestBody(Body):
    """A question for people; who asks is what the token says."""

    key: Annotated[Text, Field(min_length=1, max_length=1000)]
    session_id: Id
    prompt: Annotated[Text, Field(max_length=64 * 1024)]
    options: Annotated[list[OptionBody], Field(min_length=1, max_length=16)]
    timeout: Annotated[float, Field(gt=0, le=_DAYS_30)]
    digest: Name
    hook: Name
    event: Name = ""
    reason: Long = ""
    tool_name: Name = ""
    tool_call_id: Name = ""
    tool_input: dict[str, Any] = Field(default_factory=dict)
    preview: Long = ""
    notes: Annotated[list[Comment], Field(max_length=100)] = Field(default_factory=list)
    default: Literal["allow", "deny"] = "deny"
    editable: bool = False
    requester: Annotated[Name, Field(description="Ignored: the token says who asks.")] = ""
    machine: Name = ""
    working_dir: Path = ""
    requirement: RequirementBody = RequirementBody()

    def to_request(self, requester: str) -> ApprovalRequest:
        """For the store; keys of different agents never meet."""
        given = self.model_dump(exclude={"options", "notes", "requirement", "requester", "key"})
        return ApprovalRequest(
            **given,
            key=f"{requester}:{sha256(self.key.encode()).hexdigest()}",
            requester=requester,
            options=tuple(Option(**one.model_dump()) for one in self.options),
            notes=tuple(self.notes),
            requirement=Requirement(**self.requirement.model_dump()),
        )


class WithdrawalBody(Body):
    """That the agent no longer asks."""

    by: Name = ""
    option: Name = ""
    reason: Comment = ""


class ClaimBody(Body):
    """A call that is about to run."""

    session_id: Id
    tool_call_id: Id
    digest: Name
    lease: Lease


class RenewalBody(Body):
    """A call that still runs."""

    approvals: Approvals
    lease: Lease


class ResultBody(Body):
    """A call that ended."""

    approvals: Approvals
    outcome: Literal["executed", "failed"]


class SessionBody(Body):
    """A session for the index; whose it is, the token says."""

    id: Id
    machine: Name = ""
    user: Annotated[Name, Field(description="Ignored: the token says whose it is.")] = ""
    name: Name = ""
    bundle: Path = ""
    working_dir: Path = ""
    status: SessionStatus = "running"
    created: Time = 0.0
    updated: Time = 0.0
    turns: Count = 0
    reply: Long = ""
    error: Long = ""
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
    time: Time
    type: Name
    event: Name = ""
    hook: Name = ""
    turn: Count = 0
    body: dict[str, Any] = Field(default_factory=dict)


class RecordsBody(Body):
    """Records of a session's trail."""

    records: Annotated[list[RecordBody], Field(max_length=MAX_RECORDS)]

    def to_records(self) -> list[SessionRecord]:
        """For the store."""
        return [SessionRecord(**one.model_dump()) for one in self.records]


class WitnessBody(Body):
    """A checkpoint, and the proof that it continues the one before."""

    note: Annotated[Text, Field(min_length=1, max_length=64 * 1024)]
    proof: Annotated[list[Annotated[str, Field(max_length=64)]], Field(max_length=128)] = Field(
        default_factory=list
    )
