"""The question that is put to a person, and the answer that comes back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from amplifier_core.models.hook_result import Decision


@dataclass(frozen=True, slots=True)
class ApprovalQuestion:
    """Everything a person should see before deciding."""

    prompt: str
    options: tuple[str, ...]
    timeout: float
    default: Decision
    hook: str
    event: str = ""
    reason: str | None = None
    tool_name: str | None = None
    tool_input: dict[str, Any] = field(default_factory=dict)
    digest: str = ""
    session_id: str | None = None
    tool_call_id: str = ""
    agent_id: str = ""
    """Of the sub-agent of another program that wants it; empty for the agent itself."""


@dataclass(frozen=True, slots=True)
class ApprovalAnswer:
    """A decision, who made it, and what they want the agent to know or to run instead."""

    option: str
    by: str | None = None
    comment: str | None = None
    edited_input: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class HandedOver:
    """In the place of an answer: another program puts the question to its own person.

    Nothing is decided by that. With `goes_on`, the operation goes on to that program, which asks
    before it runs anything; else it is denied until the answer has come back.
    """

    to: str
    """The program."""

    goes_on: bool = False
