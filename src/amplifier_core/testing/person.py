"""The person at the other end: somebody who answers, and a screen to look at."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion, ApprovalTimeout
from amplifier_core.models import Decision

Answer = ApprovalAnswer | str | BaseException | Callable[[ApprovalQuestion], object]


class ScriptedApproval:
    """A person with prepared answers: options, exceptions, or functions of the question.

    Such a function may be async. When the answers run out the last one is repeated; without any,
    time runs out.
    """

    def __init__(self, *answers: Answer) -> None:
        self._answers: list[Any] = list(answers)
        self.questions: list[ApprovalQuestion] = []

    @property
    def prompts(self) -> list[str]:
        """What it was asked, in order."""
        return [question.prompt for question in self.questions]

    async def decide(self, question: ApprovalQuestion) -> ApprovalAnswer | str:
        """Answer the next question."""
        self.questions.append(question)
        if not self._answers:
            raise ApprovalTimeout("nobody is there")
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        answer = answer(question) if callable(answer) else answer
        answer = await answer if inspect.isawaitable(answer) else answer
        if isinstance(answer, BaseException):
            raise answer
        given: ApprovalAnswer | str = answer
        return given

    async def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: Decision
    ) -> str:
        """The plain protocol, answered from the same script."""
        question = ApprovalQuestion(prompt, tuple(options), timeout, default, hook="")
        answer = await self.decide(question)
        return answer.option if isinstance(answer, ApprovalAnswer) else answer


class RecordingDisplay:
    """A screen that remembers what it showed."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, str, str]] = []

    def show_message(self, message: str, level: str, source: str = "hook") -> None:
        """Show a message."""
        self.messages.append((message, level, source))
