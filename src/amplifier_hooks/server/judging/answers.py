"""The shape of answers to programs, for the API's description."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel


class Shown(BaseModel):
    """A message for the program's person."""

    text: str
    level: Literal["info", "warning", "error"]
    source: str


class SessionAnswer(BaseModel):
    """How a session stands."""

    session: str
    program: str
    status: Literal["open", "ended"]
    lease: float
    deadline: float
    bundle: str
    folder: str
    reason: str
    unreported: list[str]
    shown: list[Shown]


class Note(BaseModel):
    """What hooks want the model to read."""

    text: str
    role: str
    lasting: bool


class AskedQuestion(BaseModel):
    """What a person is asked."""

    id: str
    prompt: str
    options: list[str]
    hook: str
    seconds_left: float


class EventAnswer(BaseModel):
    """What the program is to do, and what to go on with, if it is allowed."""

    id: str
    event: Literal["prompt", "request", "reply", "call", "result", "answer"]
    decision: Literal["allow", "deny", "pending"]
    reason: str
    hook: str
    changed: bool
    input: dict[str, Any] | None = None
    text: str | None = None
    messages: list[dict[str, Any]] | None = None
    calls: list[dict[str, Any]] | None = None
    output: Any = None
    notes: list[Note]
    shown: list[Shown]
    approvals: list[AskedQuestion]
