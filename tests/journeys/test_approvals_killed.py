"""An approval outlives every process: kill -9 at eight points of its life."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from amplifier_hooks.approvals.errors import Conflict
from amplifier_hooks.approvals.models import (
    Approval,
    ApprovalFilter,
    Choice,
    Decider,
)
from amplifier_hooks.approvals.stores.store import Store, open_store
from tests.support.approval_worker import (
    LONG,
    POINTS,
    Life,
    Processes,
    run_on_store,
    wait_for_end,
)
from tests.support.waiting import wait_until

PERSON = Decider("ann", "cli")
ONCE = ["begun", "done"]
# Where the process dies: what has happened then, how it ends once resumed, what has happened then.
ENDS = {
    "before the request": ([], "executed", ONCE),
    "after the request": ([], "executed", ONCE),
    "while waiting": ([], "executed", ONCE),
    "after the decision": ([], "executed", ONCE),
    "after the claim": ([], "unknown", []),
    "during the run": (["begun"], "unknown", ["begun"]),
    "after the run": (ONCE, "unknown", ONCE),
    "after the report": (ONCE, "executed", ONCE),
}


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store that no process has opened yet."""
    if request.param == "sqlite":
        return str(tmp_path / "store.db")
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
def processes() -> Iterator[Processes]:
    with Processes() as started:
        yield started


async def find(store: Store, key: str) -> Approval | None:
    found, _ = await store.approvals.list(ApprovalFilter(session_id=f"session-{key}"))
    assert len(found) <= 1, "the same question was put twice"
    return found[0] if found else None


async def allow(store: Store, key: str) -> None:
    """Decide as soon as it is asked."""

    async def is_asked() -> bool:
        return await find(store, key) is not None

    await wait_until(is_asked)
    approval = await find(store, key)
    assert approval is not None
    await store.approvals.decide(
        approval.id, Choice(option=0, nonce=approval.nonce, key=f"click-{key}"), PERSON
    )


async def kill_and_resume(
    store: Store, url: str, processes: Processes, folder: Path, point: str, key: str
) -> tuple[list[str], str, list[str]]:
    """One process dies at the point, a second goes on: what had happened, the end, what has."""
    effect = folder / f"effect-{key}"
    lease = LONG if point == "after the report" else 0.2
    is_awaited = POINTS.index(point) >= POINTS.index("after the decision")
    decisions = [asyncio.create_task(allow(store, key))] if is_awaited else []
    code = await processes.finish(run_on_store, url, Life(key, effect, lease, point))
    assert code == -signal.SIGKILL
    before = read_lines(effect)
    if not is_awaited:  # it comes when nobody waits for it, or not even asked yet
        decisions = [asyncio.create_task(allow(store, key))]
    assert await processes.finish(run_on_store, url, Life(key, effect)) == 0
    await asyncio.gather(*decisions)

    async def is_over() -> bool:
        await store.approvals.mark_lost()
        found = await find(store, key)
        return found is not None and found.status != "executing"

    await wait_until(is_over)
    ended = await find(store, key)
    assert ended is not None
    return before, ended.status, read_lines(effect)


def read_lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


async def test_a_process_killed_at_any_of_eight_points_is_resumed_and_runs_nothing_twice(
    url: str, processes: Processes, tmp_path: Path
) -> None:
    """Whoever resumes finds the decision; what may have happened is never done again."""
    assert set(ENDS) == set(POINTS)
    async with await open_store(url) as store:
        ends = await asyncio.gather(
            *(
                kill_and_resume(store, url, processes, tmp_path, point, f"k{number}")
                for number, point in enumerate(POINTS)
            )
        )
    assert dict(zip(POINTS, ends, strict=True)) == ENDS


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_many_processes_killed_at_once_are_all_resumed(
    url: str, processes: Processes, tmp_path: Path
) -> None:
    """The same, twenty times over."""
    async with await open_store(url) as store:
        for turn in range(20):
            ends = await asyncio.gather(
                *(
                    kill_and_resume(store, url, processes, tmp_path, point, f"k{turn}-{number}")
                    for number, point in enumerate(POINTS)
                )
            )
            assert dict(zip(POINTS, ends, strict=True)) == ENDS


async def test_a_process_that_was_stopped_past_its_lease_cannot_report_any_more(
    url: str, processes: Processes, tmp_path: Path
) -> None:
    """Its call was given up as unknown, which a person may have read; that does not change."""
    effect = tmp_path / "effect"
    async with await open_store(url) as store:
        decision = asyncio.create_task(allow(store, "k"))
        life = Life("k", effect, 0.2, "during the run", signal.SIGSTOP)
        process = processes.start(run_on_store, url, life)
        await decision

        async def is_lost() -> bool:
            return bool(await store.approvals.mark_lost())

        await wait_until(is_lost)
        os.kill(process.pid, signal.SIGCONT)
        await wait_for_end(process)
        approval = await find(store, "k")
        assert approval is not None
        assert (approval.status, approval.outcome) == ("unknown", "unknown")
        assert process.exitcode == 1  # it was told so
        assert read_lines(effect) == ONCE
        with pytest.raises(Conflict):
            await store.claims.claim("session-k", "call-1", "d1", LONG)
