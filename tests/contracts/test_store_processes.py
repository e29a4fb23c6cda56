"""Several processes on one database: each approval is decided, claimed and run once."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from pathlib import Path

from amplifier_hooks.approvals.stores.store import open_store
from tests.support.stores import make_request

ROOT = Path(__file__).parents[2]
APPROVALS = 30


async def start_racer(url: str, name: str) -> asyncio.subprocess.Process:
    command = [sys.executable, "-m", "tests.support.store_racer", url, name]
    return await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=asyncio.subprocess.PIPE)


async def test_processes_that_race_win_each_approval_once(store_url: str) -> None:
    """Three of them decide, claim and finish whatever they see."""
    async with await open_store(store_url) as store:
        waiting = []
        for number in range(APPROVALS):
            asked = await store.approvals.request(make_request(tool_call_id=f"c{number}"))
            waiting.append(asyncio.create_task(store.approvals.wait(asked.id, 120)))
        racers = [await start_racer(store_url, name) for name in ("ann", "bob", "cho")]
        outputs = await asyncio.gather(*(one.communicate() for one in racers))
        won: Counter[str] = Counter()
        for output, _ in outputs:
            won.update(json.loads(output))
        assert {name: won[name] for name in ("decided", "claimed", "finished")} == {
            "decided": APPROVALS,
            "claimed": APPROVALS,
            "finished": APPROVALS,
        }
        decided = [await one for one in waiting]
        assert {one.decided_by for one in decided} <= {"ann", "bob", "cho"}
        fences = {(await store.approvals.get(one.id)).fence for one in decided}
        assert len(fences) == APPROVALS
