"""The shape of answers, for the API's description."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from amplifier_hooks.approvals.models import (
    DescribedApproval,
    Items,
    Overruling,
    SessionEntry,
    SessionRecord,
    Token,
    TrailHead,
)
from amplifier_hooks.approvals.stores.statistics import HookFigures


class Me(BaseModel):
    """Who is logged in."""

    name: str
    scopes: list[str]
    csrf: str


class TokenList(BaseModel):
    """Tokens, without their text."""

    tokens: list[Token]


class NewToken(BaseModel):
    """A token whose text is shown once."""

    text: str
    token: Token


class NewCode(BaseModel):
    """A one-time code."""

    code: str


class Health(BaseModel):
    """That the server answers."""

    status: str


class Done(BaseModel):
    """That it is done."""

    status: str


class ErrorText(BaseModel):
    """A code for programs, a sentence for people."""

    code: str
    message: str
    request_id: str = ""


class ErrorAnswer(BaseModel):
    """Why it did not work."""

    error: ErrorText


class ConflictAnswer(ErrorAnswer):
    """Somebody was first; how it stands."""

    approval: DescribedApproval | None = None


class RefusalResult(BaseModel):
    """What became of one of several refusals."""

    id: str
    status: str
    error: ErrorText | None = None


class RefusalResults(BaseModel):
    """What became of several refusals."""

    results: list[RefusalResult]


class SessionPage(BaseModel):
    """Some sessions, and where the next ones begin."""

    sessions: list[SessionEntry]
    next: str


class DescribedSession(SessionEntry):
    """A session; while it waits for a person, with the approvals it waits for."""

    approval_required: Items[DescribedApproval] = ()


class RecordPage(BaseModel):
    """Records of a session."""

    records: list[SessionRecord]


class Transcript(BaseModel):
    """The messages of a session."""

    messages: list[dict[str, Any]]


class TrailAnswer(BaseModel):
    """What a session's trail proves; `source` is `folder`, `witness` or `none`."""

    source: str
    verdict: str
    size: int | None
    proven: int | None
    findings: list[dict[str, Any]]
    head: TrailHead | None
    message: str


class StatisticsAnswer(BaseModel):
    """What hooks answered, and how people answered what they asked.

    `cut` says that older figures were left out: all are there since `complete_since`.
    """

    figures: list[HookFigures]
    overrulings: list[Overruling]
    bucket_hours: int
    complete_since: float
    cut: bool


class HeadList(BaseModel):
    """The newest checkpoints of trails."""

    heads: list[TrailHead]


class Witnessed(BaseModel):
    """The newest checkpoint of a trail, and all that were seen."""

    head: TrailHead
    history: list[str]
