"""One event on its way to a judgement: its time, the people who are asked meanwhile, its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from amplifier_core.approval import AnyAnswer, ApprovalQuestion
from amplifier_hooks.approvals.models import Approval
from amplifier_hooks.external.handover import RunApproval

PLACING_SECONDS = 2.0
"""How long an answer waits for a question to get its id: who polls next knows it then."""


@dataclass(slots=True, eq=False)
class Question:
    """What a person is asked now."""

    asked: ApprovalQuestion
    until: float
    id: str = ""
    """Of the approval at the store, once it is there."""

    def describe(self, now: float) -> dict[str, Any]:
        """As the program reads it."""
        return {
            "id": self.id,
            "prompt": self.asked.prompt,
            "options": list(self.asked.options),
            "hook": self.asked.hook,
            "seconds_left": round(max(0.0, self.until - now), 1),
        }


class Judging:
    """An event that is being judged, or was.

    Hooks have so many seconds for it; time in which a person is asked does not count.
    """

    def __init__(self, kind: str, digest: bytes) -> None:
        self.kind = kind
        self.digest = digest
        """Of the body that was sent."""
        self.answer: bytes | None = None
        self.is_over = False
        """Whether it was judged, or will not be because the session ended."""
        self.task: asyncio.Task[None] | None = None
        self._questions: list[Question] = []
        self._is_left = False
        self._asked_since = 0.0
        self._limit: asyncio.Timeout | None = None
        self._left = 0.0
        self._news: asyncio.Event | None = None

    def limit(self, seconds: float) -> asyncio.Timeout:
        """The time that hooks have, for `async with`."""
        self._limit = asyncio.timeout(seconds)
        return self._limit

    @contextmanager
    def ask(self, asked: ApprovalQuestion) -> Iterator[None]:
        """While a person is asked: the time of the hooks stands still."""
        now = asyncio.get_running_loop().time()
        question = Question(asked, now + asked.timeout)
        if not self._questions:
            self._pause(now)
        self._questions.append(question)
        token = _current_question.set((self, question))
        self.tell()
        try:
            yield
        finally:
            _current_question.reset(token)
            self._questions.remove(question)
            if not self._questions:
                self._go_on()
            self.tell()

    def _pause(self, now: float) -> None:
        self._asked_since = now
        limit = self._limit
        when = None if limit is None else limit.when()
        if limit is not None and when is not None and not limit.expired():
            self._left = when - now
            limit.reschedule(None)

    def _go_on(self) -> None:
        limit = self._limit
        if limit is not None and limit.when() is None:
            with suppress(RuntimeError):  # the judgement itself was given up
                limit.reschedule(asyncio.get_running_loop().time() + self._left)

    def finish(self, answer: bytes | None) -> None:
        """It was judged; without an answer, it never will be."""
        self.answer = answer
        self.is_over = True
        self.tell()

    def tell(self) -> None:
        """Wake whoever waits for it."""
        if self._news is not None:
            self._news.set()
            self._news = None

    def send_away(self) -> None:
        """Answer whoever waits how it stands: the server is about to end."""
        self._is_left = True
        self.tell()

    def describe_questions(self) -> list[dict[str, Any]]:
        """What people are asked now."""
        now = asyncio.get_running_loop().time()
        return [one.describe(now) for one in self._questions]

    async def wait(self, seconds: float) -> None:
        """Until it is judged, or so many seconds have passed."""
        until = asyncio.get_running_loop().time() + seconds
        while not (self.is_over or self._is_left):
            left = until - asyncio.get_running_loop().time()
            if left <= 0:
                return
            await self._wait_for_news(left)

    async def wait_for_hooks(self, patience: float) -> None:
        """Until it is judged, or a person has been asked for so many seconds."""
        began = asyncio.get_running_loop().time()
        while not (self.is_over or self._is_left):
            left: float | None = None
            if self._questions:
                now = asyncio.get_running_loop().time()
                since = max(began, self._asked_since)
                placed = all(one.id for one in self._questions)
                left = since + (patience if placed else max(patience, PLACING_SECONDS)) - now
                if left <= 0:
                    return
            await self._wait_for_news(left)

    async def _wait_for_news(self, seconds: float | None) -> None:
        news = self._news = self._news or asyncio.Event()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await news.wait()


current_judging: ContextVar[Judging | None] = ContextVar("amplifier_judging", default=None)
_current_question: ContextVar[tuple[Judging, Question] | None] = ContextVar(
    "amplifier_judged_question", default=None
)


class PeopleAsked:
    """The approval system of a session: whoever polls for the judgement sees what is asked."""

    def __init__(self, people: RunApproval) -> None:
        self._people = people

    async def decide(self, question: ApprovalQuestion) -> AnyAnswer:
        """Pass the question on."""
        judging = current_judging.get()
        if judging is None:
            return await self._decide(question)
        with judging.ask(question):
            return await self._decide(question)

    async def _decide(self, question: ApprovalQuestion) -> AnyAnswer:
        answer: AnyAnswer = await self._people.decide(question)
        return answer


def note_waiting(approval: Approval) -> None:
    """A question has got its id at the store."""
    current = _current_question.get()
    if current is not None:
        judging, question = current
        question.id = approval.id
        judging.tell()
