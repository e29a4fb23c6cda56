"""An approval system that answers for the person who passed --yes or --no."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion, read_option

Answer = Literal["yes", "no"]


class FixedApproval:
    """Gives every question the same answer."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    async def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: str
    ) -> str:
        """The first option that means what the flag says."""
        return self._choose(options)

    async def decide(self, question: ApprovalQuestion) -> ApprovalAnswer:
        """The same, with the flag as the one who decided."""
        return ApprovalAnswer(self._choose(question.options), by=f"--{self._answer}")

    def _choose(self, options: Sequence[str]) -> str:
        wanted = self._answer == "yes"
        return next((one for one in options if read_option(one).allows == wanted), "Deny")
