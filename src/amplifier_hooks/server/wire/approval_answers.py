"""The shape of answers about approvals and rules, for the API's description."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel

from amplifier_hooks.approvals.models import Approval, Claim, OfferedScope, StandingRule


class ErrorText(BaseModel):
    """A code for programs, a sentence for people."""

    code: str
    message: str
    request_id: str = ""


class ErrorAnswer(BaseModel):
    """Why it did not work."""

    error: ErrorText


@dataclass(frozen=True, slots=True)
class DescribedApproval(Approval):
    """An approval; while it is pending, with the scopes that a person may choose."""

    scopes: tuple[OfferedScope, ...] = ()


class ConflictAnswer(ErrorAnswer):
    """Somebody was first; how it stands."""

    approval: DescribedApproval | None = None


class ApprovalPage(BaseModel):
    """Some approvals, and where the next ones begin."""

    approvals: list[DescribedApproval]
    next: str


class RefusalResult(BaseModel):
    """What became of one of several refusals."""

    id: str
    status: str
    error: ErrorText | None = None


class RefusalResults(BaseModel):
    """What became of several refusals."""

    results: list[RefusalResult]


class RuleList(BaseModel):
    """Standing rules."""

    rules: list[StandingRule]


class ClaimAnswer(BaseModel):
    """The right to run a call, or null if nobody was asked about it."""

    claim: Claim | None


class RuleAnswer(BaseModel):
    """The rule that allows it, or null."""

    rule: StandingRule | None
