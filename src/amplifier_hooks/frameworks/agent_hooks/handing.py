"""Questions of our hooks in another host: noted, and handed on as a denial that may be lifted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion, HandedOver, read_option

_asked: ContextVar[list[ApprovalQuestion] | None] = ContextVar(
    "amplifier_agent_hooks_asked", default=None
)

HOST = "the host"
"""It does not act before its own resolver has said yes."""


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

    async def decide(self, question: ApprovalQuestion) -> ApprovalAnswer | HandedOver:
        """Note the question; outside of an interception it is a no."""
        questions, yes = _asked.get(), _find_yes(question.options)
        if questions is None or yes is None:
            return ApprovalAnswer("Deny", by="rule:the host asks nobody here")
        questions.append(question)
        return HandedOver(HOST, goes_on=True)


def _find_yes(options: tuple[str, ...]) -> str | None:
    """An option that allows this once, and nothing beyond it."""
    read = [(one, read_option(one)) for one in options]
    return next((one for one, found in read if found.allows and not found.remembered), None)
