"""Asking a person: the question, what an answer means, the gate, and the way through all gates."""

from amplifier_core.approval.gate import (
    ApprovalAnswer,
    ApprovalGate,
    ApprovalQuestion,
    ApprovalSystem,
    ApprovalTimeout,
    ApprovalTimeoutError,
    DecidingApprovalSystem,
    Verdict,
    allows,
    find_unclear_options,
    resolve_options,
)

__all__ = [
    "ApprovalAnswer",
    "ApprovalGate",
    "ApprovalQuestion",
    "ApprovalSystem",
    "ApprovalTimeout",
    "ApprovalTimeoutError",
    "DecidingApprovalSystem",
    "Verdict",
    "allows",
    "find_unclear_options",
    "resolve_options",
]
