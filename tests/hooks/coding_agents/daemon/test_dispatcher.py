"""Each request gets its answer in time."""

from __future__ import annotations

import asyncio
import time

import pytest

from amplifier_hooks.coding_agents.daemon.dispatcher import (
    Dispatcher,
    Interrupted,
    Lifetime,
    _get_limit,
)
from amplifier_hooks.coding_agents.daemon.protocol import Request
from tests.support.guest_resident import PlayedJudge


def make_dispatcher(judge: PlayedJudge) -> Dispatcher:
    """A dispatcher that never ends by itself."""
    return Dispatcher(judge, Lifetime(900, lambda: None))


def make_request(payload: bytes = b"{}", seconds: float = 50) -> Request:
    """An event of Claude."""
    return Request("claude", "PreToolUse", payload, seconds)


async def test_a_judge_that_takes_too_long_is_cancelled(judge: PlayedJudge) -> None:
    """The answer comes before the client gives up, and nothing is decided after it."""
    dispatcher = make_dispatcher(judge)
    response = await dispatcher.answer(make_request(b'{"sleep": 90}', 0.1), time.monotonic())
    assert response.code == 2
    assert b"within 0.1 seconds" in response.stderr
    await dispatcher.finish(50)
    assert (dispatcher.count_open(), judge.finished) == (0, 0)


async def test_work_goes_on_when_nobody_waits_for_it(judge: PlayedJudge) -> None:
    """A client that leaves cancels nothing: what must be recorded is."""
    dispatcher = make_dispatcher(judge)
    asking = asyncio.create_task(
        dispatcher.answer(make_request(b'{"sleep": 0.01}'), time.monotonic())
    )
    await asyncio.sleep(0)
    asking.cancel()
    await asyncio.wait({asking})
    await dispatcher.finish(50)
    assert judge.finished == 1


async def test_what_does_not_end_in_time_is_interrupted(judge: PlayedJudge) -> None:
    """Its client is to ask the next process, and so is whoever comes later."""
    dispatcher = make_dispatcher(judge)
    asking = asyncio.create_task(
        dispatcher.answer(make_request(b'{"sleep": 90}'), time.monotonic())
    )
    while not judge.asked:
        await asyncio.sleep(0)
    await dispatcher.finish(0.01)
    with pytest.raises(Interrupted):
        await asking
    with pytest.raises(Interrupted):
        await dispatcher.answer(make_request(), time.monotonic())


async def test_nobody_waits_for_a_person_after_the_client_has_left(
    judge: PlayedJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is quickly done comes to its end; what waits is given up, so that questions close."""
    monkeypatch.setattr("amplifier_hooks.coding_agents.daemon.dispatcher._AFTER_LEAVING", 0.2)
    dispatcher, gone = make_dispatcher(judge), asyncio.Event()
    gone.set()
    quick = await dispatcher.answer(
        make_request(b'{"sleep": 0.01, "code": 3}'), time.monotonic(), gone
    )
    assert quick.code == 3
    waits = await dispatcher.answer(make_request(b'{"sleep": 90}'), time.monotonic(), gone)
    assert waits.code == 2
    assert dispatcher.count_open() <= 1


@pytest.mark.parametrize(("seconds", "limit"), [(590, 589), (3, 2), (2, 1.6), (1, 0.8)])
def test_the_answer_comes_before_the_client_gives_up(seconds: float, limit: float) -> None:
    """A second before, or earlier where a second is much."""
    assert _get_limit(seconds) == pytest.approx(limit)


def make_lifetime(idle: float) -> tuple[Lifetime, list[str]]:
    """One that notes when its doors close."""
    closed: list[str] = []
    return Lifetime(idle, lambda: closed.append("closed")), closed


async def test_it_ends_when_nobody_needs_it() -> None:
    """After its idle time the doors are closed, and then it ends."""
    lifetime, closed = make_lifetime(0.01)
    await asyncio.wait_for(lifetime.wait(lambda: False), 50)
    assert lifetime.ending
    assert closed == ["closed"]


async def test_it_does_not_end_while_something_is_open() -> None:
    """Neither during a request nor while the judge holds it."""
    lifetime, closed = make_lifetime(0.001)
    asked = asyncio.Event()
    held = True

    def is_needed() -> bool:
        asked.set()
        return held

    with lifetime.hold():
        waiting = asyncio.create_task(lifetime.wait(is_needed))
        await asyncio.sleep(0.02)
        assert not asked.is_set()
    await asyncio.wait_for(asked.wait(), 50)
    assert closed == []
    held = False
    await asyncio.wait_for(waiting, 50)
    assert closed == ["closed"]


async def test_a_look_at_it_is_no_use() -> None:
    """What is held without being used does not prolong its life."""
    lifetime, _ = make_lifetime(900)
    before = lifetime._used
    with lifetime.hold(use=False):
        pass
    assert lifetime._used == before
    with lifetime.hold():
        pass
    assert lifetime._used > before


async def test_it_ends_at_once_when_told_to_and_only_once() -> None:
    """The doors are closed before the call returns."""
    lifetime, closed = make_lifetime(900)
    lifetime.end("a test")
    lifetime.end("a test")
    assert closed == ["closed"]
    await asyncio.wait_for(lifetime.wait(lambda: True), 50)


@pytest.mark.parametrize(
    ("payload", "ago", "code", "said"),
    [
        (b'{"code": 3}', 0, 3, b""),
        (
            b'{"raise": "two\\nlines"}',
            0,
            2,
            b"amplifier: this was not judged: RuntimeError: two lines\n",
        ),
        (b'{"code": 256}', 0, 2, b"256"),
        (b'{"sleep": 90}', 49, 2, b"within"),
    ],
    ids=["judged", "failed", "no code that a process has", "its time is over"],
)
async def test_what_is_not_judged_is_code_2_and_one_line(
    judge: PlayedJudge, payload: bytes, ago: float, code: int, said: bytes
) -> None:
    """Nothing on stdout then; the seconds count from when the client began."""
    since = time.monotonic() - ago
    response = await make_dispatcher(judge).answer(make_request(payload), since)
    assert response.code == code
    assert said in response.stderr
    if code == 2:
        assert (response.stdout, response.stderr.count(b"\n")) == (b"", 1)
