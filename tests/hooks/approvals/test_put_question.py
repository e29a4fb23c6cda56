"""One question on its way to people elsewhere, and back."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.errors import ApprovalError
from amplifier_hooks.approvals.errors import StoreUnavailable
from amplifier_hooks.approvals.models import Approval, ApprovalRequest
from amplifier_hooks.approvals.remote import RemoteApproval
from amplifier_hooks.approvals.stores.store import Store
from tests.hooks.approvals.questions import ask
from tests.support.links import CutLink, answer, find_waiting, list_states, make_asker

QUESTION = replace(ask(command="ls"), session_id="s", tool_call_id="c")


async def test_what_was_never_asked_needs_no_withdrawal(store: Store, tmp_path: Path) -> None:
    """Nothing is put at the store for it."""
    put = RemoteApproval(store.as_link(), make_asker(tmp_path)).put(QUESTION)
    assert await put.withdraw() is None
    assert await list_states(store) == []


async def test_a_request_whose_answer_was_lost_is_found_and_withdrawn(
    store: Store, tmp_path: Path
) -> None:
    """It may have arrived, and somebody could still allow it."""
    arrived = asyncio.Event()

    class LosesAnswers(CutLink):
        async def request(self, request: ApprovalRequest) -> Approval:
            found = await self._link.request(request)
            if not arrived.is_set():
                arrived.set()
                await asyncio.Event().wait()
            return found

    put = RemoteApproval(LosesAnswers(store), make_asker(tmp_path)).put(QUESTION)
    asking = asyncio.create_task(put.answer())
    await arrived.wait()
    asking.cancel()
    closed = await put.withdraw(by="me", option="Deny")
    assert closed is not None
    assert (closed.status, closed.decided_by, closed.option) == ("cancelled", "me", "Deny")


async def test_a_withdrawal_that_does_not_arrive_is_an_error(store: Store, tmp_path: Path) -> None:
    """Whoever withdraws must know."""
    link = CutLink(store)
    put = RemoteApproval(link, make_asker(tmp_path)).put(QUESTION)
    asking = asyncio.create_task(put.answer())
    await find_waiting(store)
    link.is_cut = True
    with pytest.raises(StoreUnavailable):
        await put.withdraw()
    asking.cancel()


async def test_a_question_that_was_closed_by_another_is_an_error(
    store: Store, tmp_path: Path
) -> None:
    """Nobody said yes, and nobody said no."""
    put = RemoteApproval(store.as_link(), make_asker(tmp_path)).put(QUESTION)
    asking = asyncio.create_task(put.answer())
    await store.approvals.withdraw((await find_waiting(store)).id, reason="gone")
    with pytest.raises(ApprovalError, match="the question was closed elsewhere: it is 'cancelled'"):
        await asking


async def test_a_link_that_answers_at_once_does_not_keep_the_loop_busy(
    store: Store, tmp_path: Path
) -> None:
    """A server may not know long polls."""

    class Hasty(CutLink):
        async def wait(self, approval_id: str, seconds: float) -> Any:
            self.calls.append("wait")
            return await store.approvals.get(approval_id)

    link = Hasty(store)
    put = RemoteApproval(link, make_asker(tmp_path)).put(QUESTION)
    asking = asyncio.create_task(put.answer())
    await find_waiting(store)
    await asyncio.sleep(0.2)
    await answer(store)
    assert (await asking).option == "Allow once"
    assert link.calls.count("wait") < 100


async def test_a_link_that_never_answers_is_given_up_before_the_time_is_over(
    store: Store, tmp_path: Path
) -> None:
    """The agent reads that nobody could be asked, and not that nobody decided."""

    class NeverAnswers(CutLink):
        async def request(self, request: ApprovalRequest) -> Approval:
            return await asyncio.Event().wait()  # type: ignore[return-value]

    question = replace(QUESTION, timeout=0.4)
    put = RemoteApproval(NeverAnswers(store), make_asker(tmp_path)).put(question)
    with pytest.raises(ApprovalError, match="nobody elsewhere could be asked"):
        await put.answer()
