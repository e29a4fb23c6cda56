"""Refusing everything that a hook asks about."""

from __future__ import annotations

from collections.abc import Callable

from amplifier_core.approval import AnyApprovalSystem, ApprovalQuestion
from amplifier_hooks.approvals.policy import PolicyApproval, Ruling


class RefusingApproval(PolicyApproval):
    """Asks nobody; every question is answered with no."""

    def refer(self, find: Callable[[AnyApprovalSystem | None], AnyApprovalSystem | None]) -> None:
        """Nobody is asked, wherever they are."""

    def judge(self, question: ApprovalQuestion) -> Ruling:
        """No."""
        return Ruling(
            "deny", "deny", "nobody is asked here, and everything that needs it is denied"
        )
