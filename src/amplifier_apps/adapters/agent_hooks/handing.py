"""Questions of our hooks in another host: noted, and handed on as a denial that may be lifted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion, read_option

_asked: ContextVar[list[ApprovalQuestion] | None] = ContextVar(
    "amplifier_agent_hooks_asked", default=None
)

BY = "rule:handed over to the host"
"""Who decided for now: the host does not act before its own resolver has said yes."""


@contextmanager
def note_questions() -> Iterator[list[ApprovalQuestion]]:
    """What hooks ask inside this block."""
    questions: list[ApprovalQuestion] = []
    token = _asked.set(questions)
    try:
        yield questions
    finally:
        _asked.reset(token)


class HandingOver:
    """An approval system that lets every gate be asked, for one denial that stands for them all."""

    async def decide(self, question: ApprovalQuestion) -> ApprovalAnswer:
        """Note the question; outside of an interception it is a no."""
        questions, yes = _asked.get(), _find_yes(question.options)
        if questions is None or yes is None:
            return ApprovalAnswer("Deny", by=BY)
        questions.append(question)
        return ApprovalAnswer(yes, by=BY)


def _find_yes(options: tuple[str, ...]) -> str | None:
    """An option that allows this once, and nothing beyond it."""
    read = [(one, read_option(one)) for one in options]
    return next((one for one, found in read if found.allows and not found.remembered), None)
