"""Bodies of requests; unknown fields and values of other types are refused."""

from __future__ import annotations

from hashlib import sha256
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from amplifier_hooks.approvals.models import (
    ApprovalRequest,
    Choice,
    Items,
    Option,
    Requirement,
    SessionEntry,
    SessionRecord,
    StandingWish,
)


def check_text(text: str) -> str:
    """Refuse what no column of text holds: NUL, and halves of surrogate pairs."""
    if "\0" in text:
        raise ValueError("has a NUL character")
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
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


class StandingBody(Body, StandingWish):
    """That the answer is kept as a rule."""

    scope: Annotated[Id, Field(description="The id of one of the approval's scopes.")]
    seconds: Annotated[float, Field(gt=0, le=_YEAR)] = 30 * 24 * 3600.0
    uses: Annotated[int | None, Field(ge=1, le=1_000_000)] = None


class DecisionBody(Body, Choice):
    """A decision; who made it is never part of it."""

    option: Annotated[int, Field(ge=0, le=1000, description="The id of an offered option.")]
    nonce: Id
    key: Annotated[Id, Field(description="Made up once a decision; again: the same answer.")]
    comment: Comment = ""
    standing: StandingBody | None = None


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
_LongText = Annotated[str, Field(max_length=1024 * 1024), STORABLE]
_Path = Annotated[str, Field(max_length=4096), STORABLE]


class OptionBody(Body, Option):
    """A possible answer."""

    id: Annotated[int, Field(ge=0, le=1000)]
    label: Annotated[str, Field(min_length=1, max_length=200), STORABLE]


class RequirementBody(Body, Requirement):
    """Who may allow it."""

    persons: Annotated[int, Field(ge=1, le=100)] = 1
    scope: Name = ""


class ApprovalRequestBody(Body, ApprovalRequest):
    """A question for people; who asks is what the token says."""

    key: Annotated[str, Field(min_length=1, max_length=1000), STORABLE]
    session_id: Id
    prompt: Annotated[str, Field(max_length=64 * 1024), STORABLE]
    options: Annotated[Items[OptionBody], Field(min_length=1, max_length=16)]
    timeout: Annotated[float, Field(gt=0, le=_LONGEST)]
    digest: Name
    hook: Name
    event: Name = ""
    reason: _LongText = ""
    tool_name: Name = ""
    tool_call_id: Name = ""
    preview: _LongText = ""
    notes: Annotated[Items[_LongText], Field(max_length=16)] = Field(default_factory=tuple)
    requester: Annotated[Name, Field(description="Ignored: the token says who asks.")] = ""
    machine: Name = ""
    working_dir: _Path = ""
    requirement: RequirementBody = RequirementBody()

    def asked_by(self, requester: str) -> ApprovalRequest:
        """For the store; keys of different agents never meet."""
        key = f"{requester}:{sha256(self.key.encode()).hexdigest()}"
        return self.model_copy(update={"key": key, "requester": requester})


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
_Time = Annotated[float, Field(ge=0, le=1e11)]
_Count = Annotated[int, Field(ge=0, le=2**53)]


class SessionBody(Body, SessionEntry):
    """A session for the index; whose it is, the token says."""

    id: Id
    machine: Name = ""
    user: Annotated[Name, Field(description="Ignored: the token says whose it is.")] = ""
    name: _LongText = ""
    bundle: _Path = ""
    working_dir: _Path = ""
    created: _Time = 0.0
    updated: _Time = 0.0
    turns: _Count = 0
    reply: _LongText = ""
    error: _LongText = ""
    parent_id: Name = ""
    transcript: Annotated[list[dict[str, Any]] | None, Field(max_length=100_000)] = None

    def reported_by(self, user: str) -> SessionEntry:
        """For the store; only a server itself hosts sessions."""
        return self.model_copy(update={"user": user, "hosted": False})


class RecordBody(Body, SessionRecord):
    """One record of a trail."""

    number: Annotated[int, Field(ge=1, le=2**53)]
    time: _Time
    type: Name
    event: Name = ""
    hook: Name = ""
    turn: _Count = 0


class RecordsBody(Body):
    """Records of a session's trail."""

    records: Annotated[list[RecordBody], Field(max_length=MAX_RECORDS)]


class WitnessBody(Body):
    """A checkpoint, and the proof that it continues the one before."""

    note: Annotated[str, Field(min_length=1, max_length=64 * 1024), STORABLE]
    proof: Annotated[list[Annotated[str, Field(max_length=64)]], Field(max_length=128)] = Field(
        default_factory=list
    )
