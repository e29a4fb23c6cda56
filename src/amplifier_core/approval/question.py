"""Who puts a question to a person: the two forms of an approval system."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from amplifier_core.models import Decision
from amplifier_core.models.question import ApprovalAnswer as ApprovalAnswer
from amplifier_core.models.question import ApprovalQuestion as ApprovalQuestion
from amplifier_core.models.question import HandedOver as HandedOver

AnyAnswer = ApprovalAnswer | HandedOver | str
"""An answer, an option by itself, or that another program asks."""


@runtime_checkable
class ApprovalSystem(Protocol):
    """Puts a question to a person. Raises ApprovalTimeout when nobody decides in time."""

    async def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: Decision
    ) -> str: ...


@runtime_checkable
class DecidingApprovalSystem(Protocol):
    """An approval system that takes the whole question instead of its prompt alone."""

    async def decide(self, question: ApprovalQuestion) -> AnyAnswer: ...


@runtime_checkable
class RecallingApprovalSystem(Protocol):
    """An approval system that may know that exactly this was allowed before: nobody is asked."""

    def recall(self, question: ApprovalQuestion) -> ApprovalAnswer | None: ...


AnyApprovalSystem = ApprovalSystem | DecidingApprovalSystem
