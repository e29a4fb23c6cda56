"""Asking in several places at once: whoever answers first decides, and the rest closes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace

from amplifier_core.approval import (
    AnyApprovalSystem,
    ApprovalAnswer,
    ApprovalQuestion,
    ApprovalTimeout,
    DecidingApprovalSystem,
    HandedOver,
    allows,
    allows_unoffered,
)
from amplifier_core.errors import ApprovalError
from amplifier_core.models import Decision
from amplifier_hooks.approvals.errors import StoreError
from amplifier_hooks.approvals.models import Approval
from amplifier_hooks.approvals.remote import PutQuestion, RemoteApproval, Tell, tell_nobody

WHERE = {
    "web": "in the browser",
    "cli": "with `amplifier approvals`",
    "api": "through the API",
    "terminal": "at another terminal",
}
UNRECORDED = (
    "the answer at the terminal could not be recorded where others are asked, so it is not used"
)

Given = ApprovalAnswer | HandedOver
Task = asyncio.Task[ApprovalAnswer] | asyncio.Task[Given]


class SeveralApprovals:
    """Asks at the terminal, if there is one, and elsewhere.

    A decision that was recorded elsewhere a moment before one at the terminal counts.
    """

    def __init__(
        self,
        here: AnyApprovalSystem | None,
        elsewhere: Sequence[RemoteApproval],
        tell: Tell = tell_nobody,
    ) -> None:
        self.tell = tell
        self._here = here
        self._elsewhere = tuple(elsewhere)

    async def decide(self, question: ApprovalQuestion) -> Given:
        """What a rule says, or the first answer; ApprovalError if nobody can be asked anywhere."""
        began = time.monotonic()
        for remote in self._elsewhere:
            rule = await remote.find_standing(question)
            if rule is not None:
                return rule
        left = max(0.0, question.timeout - (time.monotonic() - began))
        race = _Race(replace(question, timeout=left), self._here, self._elsewhere)
        try:
            answer, elsewhere = await race.run()
        except BaseException:
            race.forget_call()
            raise
        finally:
            await race.stop()
        if isinstance(answer, HandedOver):
            race.forget_call()  # nobody elsewhere has allowed it
            return answer
        for remote in self._elsewhere:
            remote.note(question, answer)
        if elsewhere is not None and self._here is not None:
            await self.tell(_say_who(elsewhere))
        return answer

    async def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: Decision
    ) -> str:
        """The short form: a prompt and its options."""
        question = ApprovalQuestion(prompt, tuple(options), timeout, default, hook="")
        answer = await self.decide(question)
        return "" if isinstance(answer, HandedOver) else answer.option

    async def close(self) -> None:
        """Let withdrawals under way come to their end."""
        for remote in self._elsewhere:
            await remote.close()


class _Race:
    """One question in all its places."""

    def __init__(
        self,
        question: ApprovalQuestion,
        here: AnyApprovalSystem | None,
        elsewhere: Sequence[RemoteApproval],
    ) -> None:
        self._question = question
        self._put = {remote: remote.put(question) for remote in elsewhere}
        self._open = dict(self._put)
        self._tasks: dict[Task, PutQuestion | None] = {
            asyncio.ensure_future(put.answer()): put for put in self._put.values()
        }
        if here is not None:
            self._tasks[asyncio.ensure_future(_ask_here(here, question))] = None

    async def run(self) -> tuple[Given, ApprovalAnswer | None]:
        """The answer that counts; and the same again if it was given elsewhere."""
        failures: list[BaseException] = []
        waiting = set(self._tasks)
        while waiting:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            # What was decided elsewhere is recorded there already, so it comes first.
            for task in sorted(done, key=lambda one: self._tasks[one] is None):
                failure = _find_failure(task)
                if failure is None:
                    return await self._close_others(task, task.result())
                failures.append(failure)
        raise _choose(failures)

    async def _close_others(
        self, winner: Task, answer: Given
    ) -> tuple[Given, ApprovalAnswer | None]:
        await self._cancel()
        won = self._tasks[winner]
        decided = [] if won is None or isinstance(answer, HandedOver) else [answer]
        for remote, put in self._put.items():
            if put is not won:
                closed = await self._close(put, answer)
                if closed is None:
                    continue  # it stays open, and is tried again beside the agent
                decided += closed
            del self._open[remote]
        if not decided:
            return answer, None
        first = min(decided, key=lambda one: allows(one.option))  # a refusal is stronger
        return first, first

    async def _close(self, put: PutQuestion, answer: Given) -> list[ApprovalAnswer] | None:
        """Close the question in one place; the answer of who was faster there, if anybody was.

        None if it could not be closed, which a refusal can live with.
        """
        handed = ""
        by = ""
        option = ""
        if isinstance(answer, HandedOver):
            handed = f"handed over to {answer.to}, which asks its person"
        else:
            by = answer.by or "somebody"
            option = answer.option
        try:
            closed = await put.withdraw(by=by, option=option, reason=handed)
        except StoreError as error:
            if allows(option):
                raise ApprovalError(f"{UNRECORDED}: {error}") from error
            return None
        if closed is None or _is_ours(closed, by, option):
            return []
        return [put.read_answer(closed)]

    async def stop(self) -> None:
        """End what still runs, and close what is still open."""
        await self._cancel()
        for remote, put in self._open.items():
            remote.withdraw_later(put, "the agent stopped asking")
        self._open.clear()

    def forget_call(self) -> None:
        """The call does not run."""
        for remote in self._put:
            remote.forget(self._question)

    async def _cancel(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _ask_here(here: AnyApprovalSystem, question: ApprovalQuestion) -> Given:
    """The answer at the terminal; ApprovalError if it is none that counts."""
    if isinstance(here, DecidingApprovalSystem):
        answer = await here.decide(question)
    else:
        options = list(question.options)
        answer = await here.request_approval(
            question.prompt, options, question.timeout, question.default
        )
    if isinstance(answer, HandedOver):
        return answer
    if isinstance(answer, str):
        answer = ApprovalAnswer(answer)
    offered = answer.option in question.options
    if not offered and not allows_unoffered(answer.option, question.options):
        raise ApprovalError(answer.option)
    return answer


def _find_failure(task: Task) -> BaseException | None:
    if task.cancelled():
        return ApprovalError("the question was cancelled")
    return task.exception()


def _is_ours(closed: Approval, by: str, option: str) -> bool:
    return closed.status == "cancelled" and (closed.decided_by, closed.option) == (by, option)


def _choose(failures: Sequence[BaseException]) -> BaseException:
    """Why nobody answered: that time was over says more than that there is no terminal."""
    timeouts: list[BaseException] = [one for one in failures if isinstance(one, ApprovalTimeout)]
    return (timeouts or list(failures) or [ApprovalError("there is nobody to ask")])[0]


def _say_who(answer: ApprovalAnswer) -> str:
    by, _, via = (answer.by or "somebody").rpartition(" via ")
    return f"Answered by {by or via} {WHERE.get(via, 'elsewhere')}: {answer.option}"
