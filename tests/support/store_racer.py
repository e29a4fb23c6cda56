"""A process that races others for the approvals of a store: `python -m tests.support.store_racer`.

Arguments: the store, and a name. It decides whatever is pending, claims and finishes what is
approved, until nothing is left to do, and prints how often it was first.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter

from amplifier_hooks.approvals.errors import Conflict
from amplifier_hooks.approvals.models import (
    Approval,
    ApprovalFilter,
    Choice,
    Decider,
)
from amplifier_hooks.approvals.stores.store import Store, open_store


async def race(store: Store, name: str) -> Counter[str]:
    """Take part until every approval has ended."""
    won: Counter[str] = Counter()
    while True:
        open_ones, _ = await store.approvals.list(
            ApprovalFilter(status=("pending", "approved", "executing"), limit=1000)
        )
        if not open_ones:
            return won
        await asyncio.gather(*(_push(store, name, one, won) for one in open_ones))


async def _push(store: Store, name: str, approval: Approval, won: Counter[str]) -> None:
    request = approval.request
    try:
        if approval.status == "pending":
            choice = Choice(option=0, nonce=approval.nonce, key=f"by {name}")
            await store.approvals.decide(approval.id, choice, Decider(name, "cli"))
            won["decided"] += 1
        claim = await store.claims.claim(
            request.session_id, request.tool_call_id, request.digest, 60.0
        )
        if claim is not None:
            won["claimed"] += 1
            await store.claims.finish(claim, "executed")
            won["finished"] += 1
    except Conflict:
        won["lost"] += 1


async def main(url: str, name: str) -> None:
    """Race, and print what was won."""
    async with await open_store(url) as store:
        print(json.dumps(await race(store, name)))  # noqa: T201 - its result


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
