"""Asking people elsewhere: through a store on this machine, a database, or a server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any

from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion, allows
from amplifier_core.errors import ApprovalError
from amplifier_core.events import TOOL_PRE
from amplifier_core.models import Decision
from amplifier_hooks.approvals.call_names import CallNames
from amplifier_hooks.approvals.put_question import PutQuestion
from amplifier_hooks.approvals.request import Asker, Scrub, make_key, write_request
from amplifier_hooks.approvals.standing import find_standing_answer
from amplifier_hooks.approvals.stores.errors import StoreError, StoreUnavailable
from amplifier_hooks.approvals.stores.link import AgentLink
from amplifier_hooks.approvals.stores.values.approval import Approval, ApprovalRequest
from amplifier_hooks.text.short_ids import shorten_id

Tell = Callable[[str], Awaitable[Any]]

# Seconds for a withdrawal nobody waits for; after them the row expires by itself.
WITHDRAWING = 10.0
AGAIN = 0.5
GRACE = 3.0
# Seconds for a look at the rules; a person is asked after them.
RULE_SECONDS = 3.0


async def tell_nobody(text: str) -> None:
    """Where there is no screen."""


class RemoteApproval:
    """Puts questions where people elsewhere find them, and waits for their decision.

    `scrub` masks what must not leave the session, `tell` reaches the person in front of it.
    """

    def __init__(
        self,
        link: AgentLink,
        asker: Asker,
        *,
        scrub: Scrub = lambda value: value,
        tell: Tell = tell_nobody,
    ) -> None:
        self.scrub = scrub
        self.tell = tell
        self.on_waiting: Callable[[Approval], None] = lambda approval: None
        self.leaves_open = False
        """Whether questions stay open when nobody waits for them here: they are resumed."""
        self.link = link
        self.asker = asker
        self.names = CallNames()
        self._attempts: dict[str, int] = {}
        self._withdrawing: set[asyncio.Task[None]] = set()
        self._troubled = False

    async def decide(self, question: ApprovalQuestion) -> ApprovalAnswer:
        """What a standing rule says, or a person; ApprovalError if nobody could be asked."""
        asked = self.put(question, alone=True)
        rule = await self.find_standing(question)
        if rule is not None:
            return rule
        try:
            return self.note(question, await asked.answer())
        except asyncio.CancelledError:
            self.withdraw_later(asked, "the agent stopped asking")
            self.forget(question)
            raise
        except ApprovalError:
            self.forget(question)
            raise

    async def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: Decision
    ) -> str:
        """The short form: a prompt and its options."""
        question = ApprovalQuestion(prompt, tuple(options), timeout, default, hook="")
        return (await self.decide(question)).option

    async def find_standing(self, question: ApprovalQuestion) -> ApprovalAnswer | None:
        """What a standing rule says; None also where nobody can be asked about rules just now."""
        request = await self._write(question, "", question.timeout)
        try:
            async with asyncio.timeout(min(RULE_SECONDS, question.timeout / 4)):
                return await find_standing_answer(self.link, question, request)
        except (StoreUnavailable, TimeoutError) as error:
            # A link may try again for as long as the question waits, and say nothing meanwhile.
            await self._report(str(error) or "there is no answer yet")
        except StoreError:
            pass  # the same is said when the question is put
        return None

    def put(self, question: ApprovalQuestion, *, alone: bool = False) -> PutQuestion:
        """A question on its way; its time begins to run. `alone`: it is on no screen here."""
        call, session = "", question.session_id or ""
        if question.event == TOOL_PRE and question.tool_call_id:
            call = self.names.name(session, question.tool_call_id, question.digest)
        return PutQuestion(
            self.link,
            question,
            call,
            write=partial(self._write, question, call),
            number=partial(self._count, make_key(question, call, 0) if call else ""),
            report=self._report,
            announce=partial(self._announce, alone),
        )

    def note(self, question: ApprovalQuestion, answer: ApprovalAnswer) -> ApprovalAnswer:
        """The answer, after what follows from it for the call is known here."""
        if not allows(answer.option):
            self.forget(question)
        elif answer.edited_input is not None:
            self.names.note_edit(question.session_id or "", question.tool_call_id)
        return answer

    def forget(self, question: ApprovalQuestion) -> None:
        """The call does not run, so that its id may come again for another one."""
        self.names.end(question.session_id or "", question.tool_call_id)

    def withdraw_later(self, asked: PutQuestion, reason: str) -> None:
        """Close a question that nobody waits for any more, without being waited for either."""
        if self.leaves_open:
            return
        task = asyncio.ensure_future(_withdraw(asked, reason))
        self._withdrawing.add(task)
        task.add_done_callback(self._withdrawing.discard)

    async def close(self) -> None:
        """Give withdrawals under way a moment; what stays open ends with its deadline."""
        left = tuple(self._withdrawing)
        if left:
            _, late = await asyncio.wait(left, timeout=GRACE)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _write(
        self, question: ApprovalQuestion, call: str, seconds: float
    ) -> ApprovalRequest:
        work = partial(write_request, question, self.asker, self.scrub)
        return await asyncio.to_thread(work, call=call, seconds=seconds)

    def _count(self, about: str, least: int) -> int:
        """The number of this attempt, higher than any of this process for the same question."""
        if not about:
            return least
        self._attempts[about] = max(least, self._attempts.get(about, 0) + 1)
        return self._attempts[about]

    async def _announce(self, alone: bool, approval: Approval) -> None:
        """Say that an approval waits, and where, if no screen here shows it."""
        if approval.status != "pending":
            return
        self.on_waiting(approval)
        if alone:
            short = shorten_id(approval.id)
            await self.tell(f"Waiting for an answer elsewhere: amplifier approvals show {short}")

    async def _report(self, trouble: str | None) -> None:
        """Say once that nobody elsewhere can be asked, and once that they can again."""
        if (trouble is not None) == self._troubled:
            return
        self._troubled = trouble is not None
        if trouble is not None:
            await self.tell(f"Nobody elsewhere can be asked at the moment: {trouble}")
        else:
            await self.tell("People elsewhere can be asked again.")


async def _withdraw(asked: PutQuestion, reason: str) -> None:
    """Withdraw, again and again for a while; after that its deadline closes it."""
    with suppress(StoreError, TimeoutError):
        async with asyncio.timeout(WITHDRAWING):
            while True:
                try:
                    await asked.withdraw(reason=reason)
                except StoreUnavailable:
                    await asyncio.sleep(AGAIN)
                else:
                    return
