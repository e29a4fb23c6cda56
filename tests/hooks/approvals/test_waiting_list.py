"""Which approval a hook's question has become."""

from __future__ import annotations

import asyncio

from amplifier_hooks.approvals.models import Approval
from amplifier_hooks.approvals.remote import MOST_WAITING, WaitingList
from tests.support.stores import make_request


def approval(id: str, prompt: str = "Go?") -> Approval:
    return Approval(
        id=id,
        nonce="n",
        status="pending",
        request=make_request(hook="h", prompt=prompt),
        created=0,
        deadline=9,
        updated=0,
        seconds_left=9,
    )


async def test_whoever_asks_before_it_waits_gets_it_once_it_does() -> None:
    """Hooks hear of a question before it is put anywhere."""
    waiting = WaitingList()
    waiting.add(approval("old"))
    finding = asyncio.create_task(waiting.find("h", "Go?", 50))
    await asyncio.sleep(0)
    waiting.add(approval("other", "Else?"))
    await asyncio.sleep(0)
    assert not finding.done()
    waiting.add(approval("new"))
    assert await finding == "new"


async def test_what_never_comes_is_not_waited_for_for_ever() -> None:
    """The last one of the same words is the best guess then."""
    waiting = WaitingList()
    assert await waiting.find("h", "Go?", 0.01) is None
    waiting.add(approval("old"))
    assert await waiting.find("h", "Go?", 0.01) == "old"


async def test_only_so_many_are_kept() -> None:
    """A session may ask for weeks."""
    waiting = WaitingList()
    for number in range(MOST_WAITING + 1):
        waiting.add(approval(str(number), f"{number}?"))
    assert await waiting.find("h", "0?", 0.01) is None
    assert await waiting.find("h", "1?", 0.01) == "1"
