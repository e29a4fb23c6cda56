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
from amplifier_core.approval.meaning import OptionMeaning, read_option

__all__ = [
    "ApprovalAnswer",
    "ApprovalGate",
    "ApprovalQuestion",
    "ApprovalSystem",
    "ApprovalTimeout",
    "ApprovalTimeoutError",
    "DecidingApprovalSystem",
    "OptionMeaning",
    "Verdict",
    "allows",
    "find_unclear_options",
    "read_option",
    "resolve_options",
]
