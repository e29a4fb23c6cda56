"""An approval: a question that was put to people, its life, and its end.

pending ─► approved ─► executing ─► executed | failed | unknown
        ├► denied
        ├► expired      nobody decided in time
        └► cancelled    the agent stopped asking, or somebody answered elsewhere

Whatever stands on the right never changes again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Status = Literal[
    "pending",
    "approved",
    "denied",
    "expired",
    "cancelled",
    "executing",
    "executed",
    "failed",
    "unknown",
]
Via = Literal["terminal", "cli", "web", "api"]
"""How a decision came in."""


@dataclass(frozen=True, slots=True)
class Option:
    """One possible answer; what it means is fixed when the question is put."""

    id: int
    label: str
    allows: bool
    remembered: bool = False


@dataclass(frozen=True, slots=True)
class Requirement:
    """Who may allow it, beyond the right to decide at all."""

    persons: int = 1
    """How many different people must allow it; one is enough to refuse."""
    requester_may_approve: bool = True
    scope: str = ""
    """A scope that who allows it must have, such as `release`; none if empty."""


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """What an agent asks. The same `key` again finds the approval that is there."""

    key: str
    session_id: str
    prompt: str
    options: tuple[Option, ...]
    timeout: float
    digest: str
    hook: str
    event: str = ""
    reason: str = ""
    tool_name: str = ""
    tool_call_id: str = ""
    tool_input: Mapping[str, Any] = field(default_factory=dict)
    preview: str = ""
    """A unified diff of what an edit would change, made where the file is."""
    notes: tuple[str, ...] = ()
    default: Literal["allow", "deny"] = "deny"
    editable: bool = False
    requester: str = ""
    machine: str = ""
    working_dir: str = ""
    requirement: Requirement = Requirement()


@dataclass(frozen=True, slots=True)
class Vote:
    """One person's word on an approval that several must allow."""

    by: str
    via: Via
    at: float
    option: str


@dataclass(frozen=True, slots=True)
class Approval:
    """An approval as the store has it; times are seconds since 1970 by the store's clock."""

    id: str
    nonce: str
    """Must be named by a decision, so that it is about what the person has seen."""
    status: Status
    request: ApprovalRequest
    created: float
    deadline: float
    updated: float
    seconds_left: float
    """By the store's clock when it was read; the only clock that counts."""
    votes: tuple[Vote, ...] = ()
    option: str = ""
    """The label that was chosen."""
    decided_by: str = ""
    decided_via: str = ""
    decided_at: float | None = None
    comment: str = ""
    edited_input: Mapping[str, Any] | None = None
    rule_id: str = ""
    """The standing rule that this decision made."""
    fence: int = 0
    lease_until: float | None = None
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class Decider:
    """Who decides, as the channel knows them; never as a message says."""

    name: str
    via: Via
    scopes: frozenset[str] = frozenset({"decide"})


@dataclass(frozen=True, slots=True)
class Choice:
    """A decision on its way to the store."""

    option: int
    nonce: str
    key: str
    """Made up by the client, once for each decision: the same one again gets the same answer."""
    comment: str = ""
    edited_input: Mapping[str, Any] | None = None
    standing: StandingWish | None = None


@dataclass(frozen=True, slots=True)
class StandingWish:
    """That the answer is kept as a rule beyond this session."""

    scope: str
    """The id of one of the scopes that `describe_scopes` offers for the approval."""
    seconds: float = 30 * 24 * 3600.0
    uses: int | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to run an approved call, once."""

    fence: int
    approvals: tuple[str, ...]
    lease_until: float


@dataclass(frozen=True, slots=True)
class ApprovalFilter:
    """Which approvals to list; an empty field leaves it open."""

    status: tuple[Status, ...] = ()
    session_id: str = ""
    machine: str = ""
    hook: str = ""
    tool: str = ""
    newest_first: bool = False
    limit: int = 100
    after: str = ""
    """The `next` of the page before."""
