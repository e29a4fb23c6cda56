"""Questions that a model may answer before a person is asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from amplifier_core.approval import (
    AnyAnswer,
    AnyApprovalSystem,
    ApprovalAnswer,
    ApprovalQuestion,
    DecidingApprovalSystem,
)
from amplifier_core.models import Decision
from amplifier_hooks.approvals.policy import find_once
from amplifier_hooks.guards.model_judge import ModelJudge

AUTHOR = "model judge"

Show = Callable[[str], Awaitable[None]]


class JudgedApproval:
    """Asks the model judge first; what it does not allow goes on to the person.

    The trail has a yes of the model with `by="rule:model judge: REASON"`.
    """

    def __init__(
        self, person: AnyApprovalSystem, find_judge: Callable[[], ModelJudge | None], show: Show
    ) -> None:
        self._person: Any = person
        self._find_judge = find_judge
        self._show = show

    async def decide(self, question: ApprovalQuestion) -> AnyAnswer:
        """The model's yes, or the person's answer."""
        option = find_once(question.options)
        judge = self._find_judge()
        opinion = None
        if judge is not None and option is not None:
            opinion = await judge.consider(question)
        if opinion is not None and opinion.allows and option is not None:
            return ApprovalAnswer(option, by=f"rule:{AUTHOR}: {opinion.reason}")
        if opinion is not None:
            await self._show(f"The model judge leaves this question to a person: {opinion.reason}")
        if isinstance(self._person, DecidingApprovalSystem):
            return await self._person.decide(question)
        return await self.request_approval(
            question.prompt, list(question.options), question.timeout, question.default
        )

    async def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: Decision
    ) -> str:
        """The short form tells nothing of the call, so only a person can answer it."""
        answer: str = await self._person.request_approval(prompt, options, timeout, default)
        return answer
