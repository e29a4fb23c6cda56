"""What clients may send; unknown fields and values of other types are refused."""

from __future__ import annotations

from hashlib import sha256
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from amplifier_hooks.approvals.models import (
    ApprovalRequest,
    Choice,
    Option,
    Requirement,
    SessionEntry,
    SessionRecord,
    SessionStatus,
    StandingWish,
)


def check_text(text: str) -> str:
    """Refuse what no column of text holds: NUL, and halves of surrogate pairs."""
    if "\0" in text:
        raise ValueError("has a NUL character")
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise ValueError("has half of a surrogate pair")
    return text


STORABLE = AfterValidator(check_text)
# The store keeps names of this length.
Name = Annotated[str, Field(max_length=400), STORABLE]
Id = Annotated[str, Field(min_length=1, max_length=400), STORABLE]
Comment = Annotated[str, Field(max_length=4000), STORABLE]


MAX_REFUSALS = 500
_YEAR = 366 * 24 * 3600.0


class Body(BaseModel):
    """The base of all bodies."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, allow_inf_nan=False, hide_input_in_errors=True
    )


class LoginBody(Body):
    """A one-time code."""

    code: Annotated[Id, Field(description="The code that `amplifier serve` printed.")]


class StandingBody(Body):
    """That the answer is kept as a rule."""

    scope: Annotated[Id, Field(description="The id of one of the approval's scopes.")]
    seconds: Annotated[float, Field(gt=0, le=_YEAR)] = 30 * 24 * 3600.0
    uses: Annotated[int | None, Field(ge=1, le=1_000_000)] = None

    def to_wish(self) -> StandingWish:
        """For the store."""
        return StandingWish(self.scope, self.seconds, self.uses)


class DecisionBody(Body):
    """A decision; who made it is never part of it."""

    option: Annotated[int, Field(ge=0, le=1000, description="The id of an offered option.")]
    nonce: Id
    key: Annotated[Id, Field(description="Made up once a decision; again: the same answer.")]
    comment: Comment = ""
    edited_input: dict[str, Any] | None = None
    standing: StandingBody | None = None

    def to_choice(self) -> Choice:
        """For the store."""
        wish = None if self.standing is None else self.standing.to_wish()
        return Choice(self.option, self.nonce, self.key, self.comment, self.edited_input, wish)


class RefusedApproval(Body):
    """One of several approvals to refuse."""

    id: Id
    nonce: Id


class RefusalsBody(Body):
    """Several approvals that are refused at once."""

    approvals: Annotated[list[RefusedApproval], Field(min_length=1, max_length=MAX_REFUSALS)]
    key: Id
    comment: Comment = ""


class TokenBody(Body):
    """A token to make."""

    name: Id
    scopes: Annotated[list[Id], Field(min_length=1, max_length=32)]
    seconds: Annotated[float | None, Field(gt=0, le=10 * _YEAR)] = None


class CodeBody(Body):
    """A one-time code to make."""

    name: Id
    scopes: Annotated[list[Id], Field(min_length=1, max_length=32)] = ["read", "decide"]
    seconds: Annotated[float, Field(ge=1, le=24 * 3600.0)] = 600.0


_LONGEST = 30 * 24 * 3600.0
_LONG = Field(max_length=1024 * 1024)


class OptionBody(Body):
    """A possible answer."""

    id: Annotated[int, Field(ge=0, le=1000)]
    label: Annotated[str, Field(min_length=1, max_length=200), STORABLE]
    allows: bool
    remembered: bool = False


class RequirementBody(Body):
    """Who may allow it."""

    persons: Annotated[int, Field(ge=1, le=100)] = 1
    requester_may_approve: bool = True
    scope: Name = ""


class ApprovalRequestBody(Body):
    """A question for people; who asks is what the token says."""

    key: Annotated[str, Field(min_length=1, max_length=1000), STORABLE]
    session_id: Id
    prompt: Annotated[str, Field(max_length=64 * 1024), STORABLE]
    options: Annotated[list[OptionBody], Field(min_length=1, max_length=16)]
    timeout: Annotated[float, Field(gt=0, le=_LONGEST)]
    digest: Name
    hook: Name
    event: Name = ""
    reason: Annotated[str, _LONG, STORABLE] = ""
    tool_name: Name = ""
    tool_call_id: Name = ""
    tool_input: dict[str, Any] = Field(default_factory=dict)
    preview: Annotated[str, _LONG, STORABLE] = ""
    notes: Annotated[list[Annotated[str, _LONG, STORABLE]], Field(max_length=16)] = Field(
        default_factory=list
    )
    default: Literal["allow", "deny"] = "deny"
    editable: bool = False
    requester: Annotated[Name, Field(description="Ignored: the token says who asks.")] = ""
    machine: Name = ""
    working_dir: Annotated[str, Field(max_length=4096), STORABLE] = ""
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


Lease = Annotated[float, Field(gt=0, le=24 * 3600.0)]
Approvals = Annotated[list[Id], Field(min_length=1, max_length=1000)]


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


MAX_RECORDS = 1000
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
