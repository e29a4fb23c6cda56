"""The shape of answers about sessions, trails and figures, for the API's description."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from amplifier_hooks.approvals.models import (
    Overruling,
    SessionEntry,
    SessionRecord,
    TrailHead,
)
from amplifier_hooks.approvals.stores.statistics import HookFigures
from amplifier_hooks.server.wire.approval_answers import DescribedApproval


class SessionPage(BaseModel):
    """Some sessions, and where the next ones begin."""

    sessions: list[SessionEntry]
    next: str


@dataclass(frozen=True, slots=True)
class DescribedSession(SessionEntry):
    """A session; while it waits for a person, with the approvals it waits for."""

    approval_required: tuple[DescribedApproval, ...] = ()


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
