"""One question that is put to people elsewhere: from the request to the answer, or back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar

from amplifier_core.approval import (
    ApprovalAnswer,
    ApprovalQuestion,
    ApprovalTimeout,
    read_option,
)
from amplifier_core.errors import ApprovalError
from amplifier_hooks.approvals.editing import list_once, word_edit
from amplifier_hooks.approvals.request import make_key
from amplifier_hooks.approvals.stores.errors import StoreError, StoreUnavailable
from amplifier_hooks.approvals.stores.link import AgentLink
from amplifier_hooks.approvals.stores.values.approval import Approval, ApprovalRequest

T = TypeVar("T")

# Seconds of one long poll, between attempts to reach a store that does not answer, and that a
# question ends before the kernel's own deadline, so that it closes with a word instead of a cut.
POLL = 30.0
PAUSES = (0.1, 0.3, 1.0, 2.0)
MARGIN = 1.0
# A link that answers at once though nothing has changed must not keep a processor busy.
LEAST_WAIT = 0.02


class PutQuestion:
    """The life of one question at a link.

    `call` names the call that would run, `number` gives the attempts that are still free, and
    `report` hears of a store that does not answer, and that it does again; `announce`, of the
    approval that now waits for a person.
    """

    def __init__(
        self,
        link: AgentLink,
        question: ApprovalQuestion,
        call: str,
        *,
        write: Callable[[float], Awaitable[ApprovalRequest]],
        number: Callable[[int], int],
        report: Callable[[str | None], Awaitable[None]],
        announce: Callable[[Approval], Awaitable[None]],
    ) -> None:
        self._link = link
        self._question = question
        self._call = call
        self._write = write
        self._number = number
        self._report = report
        self._announce = announce
        self._deadline = time.monotonic() + question.timeout
        self._deadline -= min(MARGIN, question.timeout / 4)
        self._request: ApprovalRequest | None = None
        self._approval: Approval | None = None

    @property
    def _left(self) -> float:
        return self._deadline - time.monotonic()

    async def answer(self) -> ApprovalAnswer:
        """What a person says; ApprovalTimeout or ApprovalError if nobody does."""
        if self._left <= 0:
            raise ApprovalTimeout("there was no time to decide")
        first = await self._write(self._left)
        try:
            approval = await self._ask(first)
            await self._announce(approval)
            while approval.status == "pending":
                approval = await self._wait(approval)
        except StoreUnavailable as error:
            raise ApprovalError(f"nobody elsewhere could be asked: {error}") from error
        except StoreError as error:
            raise ApprovalError(f"the question was not taken: {error}") from error
        return self.read_answer(approval)

    async def withdraw(
        self, *, by: str = "", option: str = "", reason: str = ""
    ) -> Approval | None:
        """Stop asking; how it ended, or None if it was never asked. StoreError if that fails.

        A request whose answer never came may have arrived: the same key finds it.
        """
        if self._request is None:
            return None
        approval = self._approval or await self._link.request(self._request)
        self._approval = await self._link.withdraw(approval.id, by=by, option=option, reason=reason)
        return self._approval

    def read_answer(self, approval: Approval) -> ApprovalAnswer:
        """The answer that a decided approval gives."""
        if approval.status == "expired":
            raise ApprovalTimeout("nobody decided in time")
        if approval.status not in ("approved", "denied"):
            raise ApprovalError(f"the question was closed elsewhere: it is {approval.status!r}")
        edited = None if approval.edited_input is None else dict(approval.edited_input)
        option, comment = approval.option, approval.comment
        if edited is not None:
            option = self._choose_once(option)
            words = word_edit(edited, self._question.tool_name)
            comment = "; ".join(filter(None, (comment, words)))
        by = f"{approval.decided_by} via {approval.decided_via}"
        return ApprovalAnswer(option, by=by, comment=comment or None, edited_input=edited)

    def _choose_once(self, option: str) -> str:
        """An edited input is allowed this once, whatever the label says of later."""
        once = [one for one in list_once(self._question) if read_option(one).allows]
        return option if option in once or not once else once[0]

    async def _ask(self, first: ApprovalRequest) -> Approval:
        """The row of this question: one that waits or was allowed and not used, or a new one."""
        attempt = 0
        while self._left > 0:
            attempt = self._number(attempt + 1)
            key = make_key(self._question, self._call, attempt)
            self._request = replace(first, key=key, timeout=self._left)
            approval = await self._put(self._request)
            if approval.status in ("pending", "approved"):
                self._approval = approval
                return approval
        raise ApprovalTimeout("there was no time to ask")

    async def _put(self, request: ApprovalRequest) -> Approval:
        """Put the question; a link that tries for longer than there is time has not put it."""
        try:
            async with asyncio.timeout(self._left):
                return await self._try(partial(self._link.request, request))
        except TimeoutError:
            raise StoreUnavailable("there was no answer in time") from None

    async def _wait(self, approval: Approval) -> Approval:
        if self._left <= 0:
            closed = await self.withdraw(reason="nobody decided in time")
            if closed is None or closed.status == "cancelled":
                raise ApprovalTimeout("nobody decided in time")
            return closed
        began = time.monotonic()
        seconds = min(POLL, self._left)
        found = await self._try(partial(self._link.wait, approval.id, seconds))
        if found.status == "pending" and time.monotonic() - began < LEAST_WAIT:
            await asyncio.sleep(LEAST_WAIT)
        return found

    async def _try(self, act: Callable[[], Awaitable[T]]) -> T:
        """Do it, again and again while the store does not answer and there is time."""
        tries = 0
        while True:
            try:
                done = await act()
            except StoreUnavailable as error:
                pause = PAUSES[min(tries, len(PAUSES) - 1)]
                if self._left <= pause:
                    raise
                await self._report(str(error))
                await asyncio.sleep(pause)
                tries += 1
            else:
                await self._report(None)
                return done
