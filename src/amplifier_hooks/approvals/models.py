"""An approval: a question that was put to people, its life, and its end.

pending ─► approved ─► executing ─► executed | failed | unknown
        ├► denied
        ├► expired      nobody decided in time
        └► cancelled    the agent stopped asking, or somebody answered elsewhere

Whatever stands on the right never changes again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal, TypeVar

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


@dataclass(frozen=True, slots=True)
class StandingRule:
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


@dataclass(frozen=True, slots=True)
class OfferedScope:
    """A scope that a person can choose, and what choosing it would allow, in words."""

    id: str
    words: str


SessionStatus = Literal["running", "waiting", "idle", "ended", "failed", "lost"]
"""`waiting`: for a person. `lost`: its process has not been heard of for longer than its lease."""

SELF_TEST_PREFIX = "amplifier-check-"
SELF_TEST_HOOK = "amplifier-check"
"""What `amplifier guard check` calls its own sessions, behind the agent's name, and its hook."""


@dataclass(frozen=True, slots=True)
class SessionEntry:
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


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """One record of a session's trail, as it was published; numbered from 1 within its session."""

    number: int
    time: float
    type: str
    event: str = ""
    hook: str = ""
    turn: int = 0
    body: Mapping[str, Any] = field(default_factory=dict)


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
ADMIN = "admin"
SCOPES = frozenset({READ, DECIDE, AGENT, "run", ADMIN})
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


T = TypeVar("T")

DEEPEST = 100
"""How deeply what is kept may be nested."""

_FIELDS: dict[Any, tuple[str, ...]] = {}
_TOO_DEEP = f"it is nested more than {DEEPEST} levels deep"
_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"')
_BETWEEN_BRACKETS = re.compile(r"[^\[\]{}]+")


def list_fields(kind: Any) -> tuple[str, ...]:
    """The names of a dataclass's fields."""
    known = _FIELDS.get(kind)
    if known is None:
        known = _FIELDS[kind] = tuple(field.name for field in fields(kind))
    return known


def to_plain(value: Any) -> Any:
    """Dataclasses and mappings as dictionaries, sequences and sets as lists."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: to_plain(getattr(value, name)) for name in list_fields(type(value))}
    if isinstance(value, Mapping):
        return {key: to_plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(one) for one in value]
    if isinstance(value, set | frozenset):
        return sorted(to_plain(one) for one in value)
    return value


class TooDeep(ValueError):
    """What is nested so deeply that those who read it later may fail."""


def to_json(value: Any) -> str:
    """As ASCII text, which every database keeps as it is; ValueError if it cannot be JSON.

    TooDeep, because whoever lists what waits would fail with a single value of that kind in it.
    """
    try:
        text = _encode(value)
    except RecursionError as error:
        raise TooDeep(_TOO_DEEP) from error
    except TypeError as error:
        raise ValueError(str(error)) from error
    if text.count("{") + text.count("[") > DEEPEST and _measure_depth(text) > DEEPEST:
        raise TooDeep(_TOO_DEEP)
    return text


def _measure_depth(text: str) -> int:
    depth = deepest = 0
    for bracket in _BETWEEN_BRACKETS.sub("", _STRINGS.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _open(value: Any) -> Any:
    """One level of what the encoder does not know."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: getattr(value, name) for name in list_fields(type(value))}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} is no part of JSON")


_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False, default=_open).encode


def read_request(data: Mapping[str, Any]) -> ApprovalRequest:
    """A request from its plain form."""
    read: dict[str, Any] = dict(data)
    read["options"] = tuple(read_plain(Option, one) for one in data.get("options", ()))
    read["notes"] = tuple(data.get("notes", ()))
    read["requirement"] = read_plain(Requirement, data.get("requirement", {}))
    return read_plain(ApprovalRequest, read)


def read_approval(data: Mapping[str, Any]) -> Approval:
    """An approval from its plain form."""
    read: dict[str, Any] = dict(data)
    read["request"] = read_request(data["request"])
    read["votes"] = tuple(read_plain(Vote, one) for one in data.get("votes", ()))
    return read_plain(Approval, read)


def read_plain(kind: type[T], data: Mapping[str, Any]) -> T:
    """A flat value from its plain form; what a newer version added is passed over."""
    names = list_fields(kind)
    return kind(**{name: data[name] for name in names if name in data})
