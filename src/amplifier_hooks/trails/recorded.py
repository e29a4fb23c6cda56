"""Values of a trail, one class for each kind of thing that happened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from amplifier_core.records import HookAnswer
from amplifier_hooks.trails.bodies import Body
from amplifier_hooks.trails.quiet import QuietEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where in a trail something stands."""

    sequence: int
    time: str
    """ISO 8601 in UTC, as the writer's clock had it."""
    session: str
    turn: int
    event: str

    @property
    def counted_at(self) -> str:
        """The time under which it is counted."""
        return self.time


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedEvent(Place):
    """An event, as hooks were told of it, and what they answered."""

    data: dict[str, Any]
    """As the first hook was given it."""
    left: dict[str, Any]
    """As the last hook left it."""
    answers: tuple[HookAnswer, ...] = ()
    action: str = "continue"
    """What all answers together came to."""
    reason: str = ""
    again: bool = False
    """Whether the operation was judged once more, after somebody was asked."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """The values that the trail does not have, each with the reason; by path, as in `data`."""
    masked: tuple[str, ...] = ()
    """The texts that have a mark in the place of a secret."""


Stage = Literal[
    "requested", "handed_over", "outcome", "decided", "expired", "cancelled", "remembered"
]
"""`handed_over`: another program asks its own person; `outcome`: what evidence then showed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedApproval(Place):
    """A step of a question that a hook had put to a person."""

    stage: Stage
    hook: str
    id: int | None
    """The registration of the hook."""
    digest: str
    """Of what would run: the same in all steps of one question."""
    prompt: str = ""
    tool: str = ""
    call_id: str = ""
    input: Any = None
    allowed: bool = False
    how: str = ""
    by: str = ""
    decision: str = ""
    comment: str = ""
    detail: str = ""
    """Why nobody decided, in a sentence."""
    edited: bool = False
    options: tuple[str, ...] = ()
    """What a person could choose; of a request."""
    again: bool = False
    """Whether the very same question was put before, and handed over; of a request or handover."""
    to: str = ""
    """The program that asks its own person; of a handover and its outcome."""
    goes_on: bool = False
    """Whether what was asked about went on to that program, or waited for the answer."""
    state: str = ""
    """`allowed`, as it ran, or `not_run`; of an outcome. Without one, it is not known."""
    evidence: str = ""
    """What shows that; of an outcome."""
    settles: str = ""
    """What was known of a handed-over question until this step: `not_known` or `not_run`."""
    handed_at: str = ""
    """When it was handed over; of a step that settles it."""
    is_older: bool = False
    """Whether it is a handover by a version that had no record for it, and so names no call."""
    derived: bool = False
    """Whether no record says it, and another one shows it: `sequence` is that of the other."""

    @property
    def counted_at(self) -> str:
        """What settles a question is counted where the question is."""
        return self.handed_at or self.time


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall(Place):
    """A tool that began to run, or ended."""

    stage: Literal["started", "finished"]
    tool: str
    call_id: str
    digest: str = ""
    gated: bool = False
    """Whether a person had to allow it."""
    outcome: str = ""
    success: bool | None = None
    ms: float | None = None


@dataclass(frozen=True, slots=True)
class RecordedHook:
    """A registration."""

    id: int
    name: str
    event: str
    priority: int
    on_error: str = "continue"
    timeout: float | None = None
    module: str = ""
    """The module that registered it; empty for a session's own, and in older trails."""
    kind: str = ""
    """What that module was mounted as: `hooks`, `tools` and so on."""
    shadow: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Note(Place):
    """Any other record."""

    hook: str
    body: Body


Item = RecordedEvent | RecordedApproval | RecordedCall | RecordedHook | Note | QuietEvent
"""A quiet event is told as such only to who asks for that; see `read_history`."""
