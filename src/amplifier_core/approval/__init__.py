"""Asking a person: the question, what an option means, the gate, the way through all gates."""

from amplifier_core.approval.gate import ApprovalGate
from amplifier_core.approval.meaning import allows, read_option
from amplifier_core.approval.question import (
    AnyApprovalSystem,
    ApprovalAnswer,
    ApprovalQuestion,
    ApprovalSystem,
    DecidingApprovalSystem,
)
from amplifier_core.errors import ApprovalTimeout, ApprovalTimeoutError

__all__ = [
    "AnyApprovalSystem",
    "ApprovalAnswer",
    "ApprovalGate",
    "ApprovalQuestion",
    "ApprovalSystem",
    "ApprovalTimeout",
    "ApprovalTimeoutError",
    "DecidingApprovalSystem",
    "allows",
    "read_option",
]
