"""Questions, decisions and sessions: one value for each, on every way.

The same value is made by the agent, travels as JSON, is kept in the store, and is read back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

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
"""The life of an approval; what stands on the right never changes again.

pending ─► approved ─► executing ─► executed | failed | unknown
        ├► denied
        ├► expired      nobody decided in time
        └► cancelled    the agent stopped asking, or somebody answered elsewhere
"""
Via = Literal["terminal", "cli", "web", "api"]
"""How a decision came in."""

T = TypeVar("T")
Items = Annotated[tuple[T, ...], Field(strict=False)]  # JSON has only lists
JsonObject = Annotated[dict[str, Any], Field(strict=False)]


class Value(BaseModel):
    """What is kept in a store and travels between agent, server and people.

    Immutable, and of exactly these types; what a newer version added is passed over.
    """

    model_config = ConfigDict(frozen=True, strict=True)


def describe_invalid(error: ValidationError) -> str:
    """What is wrong with a value, without repeating it."""
    found = error.errors(include_input=False, include_url=False)[0]
    place = ".".join(map(str, found["loc"]))
    return f"{place}: {found['msg']}" if place else found["msg"]


class Option(Value):
    """One possible answer; what it means is fixed when the question is put."""

    id: int
    label: str
    allows: bool
    remembered: bool = False


class Requirement(Value):
    """Who may allow it, beyond the right to decide at all."""

    persons: int = 1
    """How many different people must allow it; one is enough to refuse."""
    requester_may_approve: bool = True
    scope: str = ""
    """A scope that who allows it must have, such as `release`; none if empty."""


class ApprovalRequest(Value):
    """What an agent asks. The same `key` again finds the approval that is there."""

    key: str
    session_id: str
    prompt: str
    options: Items[Option]
    timeout: float
    digest: str
    hook: str
    event: str = ""
    reason: str = ""
    tool_name: str = ""
    tool_call_id: str = ""
    tool_input: JsonObject = Field(default_factory=dict)
    preview: str = ""
    """A unified diff of what an edit would change, made where the file is."""
    notes: Items[str] = ()
    default: Literal["allow", "deny"] = "deny"
    editable: bool = False
    requester: str = ""
    machine: str = ""
    working_dir: str = ""
    requirement: Requirement = Requirement()


class Vote(Value):
    """One person's word on an approval that several must allow."""

    by: str
    via: Via
    at: float
    option: str


class Approval(Value):
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
    votes: Items[Vote] = ()
    option: str = ""
    """The label that was chosen."""
    decided_by: str = ""
    decided_via: str = ""
    decided_at: float | None = None
    comment: str = ""
    edited_input: JsonObject | None = None
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


class StandingWish(Value):
    """That the answer is kept as a rule beyond this session."""

    scope: str
    """The id of one of the scopes that `describe_scopes` offers for the approval."""
    seconds: float = 30 * 24 * 3600.0
    uses: int | None = None


class Choice(Value):
    """A decision on its way to the store."""

    option: int
    nonce: str
    key: str
    """Made up by the client, once for each decision: the same one again gets the same answer."""
    comment: str = ""
    edited_input: JsonObject | None = None
    standing: StandingWish | None = None


class Claim(Value):
    """The right to run an approved call, once."""

    fence: int
    approvals: Items[str]
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


class StandingRule(Value):
    """What is allowed without asking again, by whose word, until when."""

    id: str
    author: str
    created: float
    expires: float
    hook: str
    event: str
    tool_name: str
    prompt: str
    scope: str
    """`exact`: this input only. `below:FOLDER`: edits of files below that folder."""
    digest: str
    working_dir: str
    machine: str
    approval_id: str
    uses: int = 0
    uses_left: int | None = None
    last_used: float | None = None
    revoked_by: str = ""
    revoked_at: float | None = None
    description: str = ""
    """What it allows, in the words that the person read."""
    requester: str = ""
    """Whose requests it is for; another agent cannot use it up."""
    question: str = ""
    """The question that it answers, see `name_question`. Rules of earlier versions have none: they
    were meant for every question of their hook, and answer only the very prompt they were made for.
    """


class OfferedScope(Value):
    """A scope that a person can choose, and what choosing it would allow, in words."""

    id: str
    words: str


class DescribedApproval(Approval):
    """An approval; while it is pending, with the scopes that a person may choose."""

    scopes: Items[OfferedScope] = ()


class ApprovalPage(Value):
    """Some approvals, and where the next ones begin."""

    approvals: list[DescribedApproval]
    next: str


class ClaimAnswer(Value):
    """The right to run a call, or null if nobody was asked about it."""

    claim: Claim | None


class RuleAnswer(Value):
    """The rule that allows it, or null."""

    rule: StandingRule | None


class RuleList(Value):
    """Standing rules."""

    rules: list[StandingRule]


SessionStatus = Literal["running", "waiting", "idle", "ended", "failed", "lost"]
"""`waiting`: for a person. `lost`: its process has not been heard of for longer than its lease."""


class SessionEntry(Value):
    """One session in the index."""

    id: str
    machine: str = ""
    user: str = ""
    name: str = ""
    bundle: str = ""
    working_dir: str = ""
    status: SessionStatus = "running"
    created: float = 0.0
    updated: float = 0.0
    turns: int = 0
    reply: str = ""
    error: str = ""
    parent_id: str = ""
    hosted: bool = False
    """Whether a server runs it, for a client of its API."""


class SessionRecord(Value):
    """One record of a session's trail, as it was published; numbered from 1 within its session."""

    number: int
    time: float
    type: str
    event: str = ""
    hook: str = ""
    turn: int = 0
    body: JsonObject = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Overruling:
    """How people answered what a hook asked."""

    hook: str
    asked: int
    allowed: int
    denied: int
    expired: int


@dataclass(frozen=True, slots=True)
class TrailHead:
    """The newest checkpoint of a trail that a witness has seen, and how far it was proven."""

    log: str
    name: str
    size: int
    note: str
    seen: float
    machine: str = ""


READ = "read"
DECIDE = "decide"
AGENT = "agent"
"""May ask, and report its sessions; can never decide."""
JUDGE = "judge"
"""May have its events judged; can never decide."""
ADMIN = "admin"
SCOPES = frozenset({READ, DECIDE, AGENT, JUDGE, "run", ADMIN})
ASKING = frozenset({AGENT, JUDGE})
"""Scopes of programs: who asks, and who does what was asked about, never decides."""
"""`run` starts sessions on the server, `admin` makes tokens and codes.

`decide:hook=GLOB` and `decide:tool=GLOB` limit who decides; any other word is a name that an
approval's requirement may ask for.
"""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a request comes from, as its credential says."""

    name: str
    scopes: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True)
class Token:
    """A bearer token; only its digest is kept."""

    id: str
    name: str
    scopes: frozenset[str]
    created: float
    expires: float | None = None
    revoked: float | None = None
    last_used: float | None = None


@dataclass(frozen=True, slots=True)
class Login:
    """A browser that exchanged a one-time code."""

    identity: Identity
    csrf: str
    """What our page must send with the cookie; known only when the code is exchanged."""
    expires: float
