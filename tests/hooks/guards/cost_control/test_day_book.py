"""What was spent today, shared by the sessions of a directory."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
from pathlib import Path

import pytest

from amplifier_hooks.guards.cost_control.config import NAME
from amplifier_hooks.guards.cost_control.day_book import DayBook
from tests.hooks.guards.cost_control.agent import agent_with


async def test_the_day_is_shared_by_sessions_and_ends_at_midnight(tmp_path: Path) -> None:
    """Day persisted in a small file under the working directory's .amplifier."""
    first = await agent_with(tmp_path, day={"tokens": 150})
    second = await agent_with(tmp_path, day={"tokens": 150})
    await first.reply(100)
    await second.reply(100)
    assert (await first.request()).reason == "This day has used 200 of 150 tokens"
    file = tmp_path / ".amplifier" / "cost.json"
    entry = json.loads(file.read_text())
    assert entry["tokens"] == 200
    file.write_text(json.dumps({**entry, "date": "2001-01-01"}))
    assert (await first.request()).action == "continue"


def test_the_day_is_that_of_the_clock_it_was_given(tmp_path: Path) -> None:
    """And what was spent on another one is not of today."""
    today = ["2026-01-01"]
    book = DayBook(tmp_path / "cost.json", lambda: today[0])
    book.add(5, 0.5)
    assert (book.read().tokens, json.loads((tmp_path / "cost.json").read_text())["date"]) == (
        5,
        "2026-01-01",
    )
    today[0] = "2026-01-02"
    assert book.read().tokens == 0


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"date": 1}', '{"tokens": "x", "money": 1, "date": "x"}']
)
async def test_a_broken_day_file_closes_the_door(tmp_path: Path, content: str) -> None:
    """Fails closed, with the name of the file in the reason."""
    (tmp_path / ".amplifier").mkdir()
    (tmp_path / ".amplifier" / "cost.json").write_text(content)
    agent = await agent_with(tmp_path, day={"tokens": 10})
    denied = await agent.request()
    assert denied.action == "deny"
    assert "cost.json" in (denied.reason or "")


async def test_a_day_that_cannot_be_saved_still_counts_and_is_said(tmp_path: Path) -> None:
    """A reply is not withheld because a file cannot be written; the limit holds all the same."""
    (tmp_path / ".amplifier").write_text("in the way of the folder")
    agent = await agent_with(tmp_path, day={"tokens": 150}, file=".amplifier/cost.json")
    said = await agent.reply(100)
    assert said.action == "continue"
    assert "cannot be saved" in (said.user_message or "")
    (tmp_path / ".amplifier").unlink()
    await agent.reply(100)
    assert (await agent.request()).reason == "This day has used 200 of 150 tokens"


def _spend(path: str, times: int) -> None:
    book = DayBook(Path(path), lambda: "2030-01-01")
    for _ in range(times):
        book.add(1, 0.5)


def test_sessions_in_several_processes_lose_nothing(tmp_path: Path) -> None:
    """Sums are added under a lock that other processes respect."""
    path = tmp_path / "cost.json"
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_spend, args=(str(path), 50)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(30)
    spent = DayBook(path, lambda: "2030-01-01").read()
    assert (spent.tokens, spent.money) == (150, 75.0)


async def test_counting_the_day_does_not_block_the_loop(tmp_path: Path) -> None:
    """File work goes to a thread: other tasks go on while many replies are counted."""
    agent = await agent_with(tmp_path, day={"tokens": 10**9})
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    ticking = asyncio.create_task(tick())
    await asyncio.gather(*(agent.reply(1) for _ in range(20)))
    ticking.cancel()
    assert ticks > 20
    assert (await agent.request()).action == "continue"
    assert agent.harness.coordinator.session_state[NAME]["tokens"] == 20
