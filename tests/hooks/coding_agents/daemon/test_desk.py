"""Each request gets its answer in time."""

from __future__ import annotations

import asyncio
import time

import pytest

from amplifier_hooks.coding_agents.daemon.desk import Desk, Interrupted, _get_limit
from amplifier_hooks.coding_agents.daemon.lifetime import Lifetime
from amplifier_hooks.coding_agents.daemon.request import Request, Response
from tests.support.guest_resident import PlayedJudge


def make_desk(judge: PlayedJudge) -> Desk:
    """A desk that never ends by itself."""
    return Desk(judge, Lifetime(900, lambda: None))


def make_request(payload: bytes = b"{}", seconds: float = 50) -> Request:
    """An event of Claude."""
    return Request("claude", "PreToolUse", payload, seconds)


async def test_the_judge_answers(judge: PlayedJudge) -> None:
    """What it says is the response."""
    response = await make_desk(judge).answer(make_request(b'{"code": 3}'), time.monotonic())
    assert response.code == 3


async def test_a_judge_that_fails_has_not_judged(judge: PlayedJudge) -> None:
    """Code 2, nothing on stdout, and one line that names the error."""
    wanted = make_request(b'{"raise": "two\\nlines"}')
    response = await make_desk(judge).answer(wanted, time.monotonic())
    sentence = b"amplifier: this was not judged: RuntimeError: two lines\n"
    assert response == Response(2, b"", sentence)


async def test_a_code_that_no_process_has_is_a_failure(judge: PlayedJudge) -> None:
    """The client could not end with it."""
    response = await make_desk(judge).answer(make_request(b'{"code": 256}'), time.monotonic())
    assert (response.code, b"256" in response.stderr) == (2, True)


async def test_a_judge_that_takes_too_long_is_cancelled(judge: PlayedJudge) -> None:
    """The answer comes before the client gives up, and nothing is decided after it."""
    desk = make_desk(judge)
    response = await desk.answer(make_request(b'{"sleep": 90}', 0.1), time.monotonic())
    assert response.code == 2
    assert b"within 0.1 seconds" in response.stderr
    await desk.finish(50)
    assert (desk.count_open(), judge.finished) == (0, 0)


async def test_time_that_is_over_is_over(judge: PlayedJudge) -> None:
    """The seconds count from when the client began."""
    since = time.monotonic() - 49
    response = await make_desk(judge).answer(make_request(b'{"sleep": 90}'), since)
    assert response.code == 2


async def test_work_goes_on_when_nobody_waits_for_it(judge: PlayedJudge) -> None:
    """A client that leaves cancels nothing: what must be recorded is."""
    desk = make_desk(judge)
    asking = asyncio.create_task(desk.answer(make_request(b'{"sleep": 0.01}'), time.monotonic()))
    await asyncio.sleep(0)
    asking.cancel()
    await asyncio.wait({asking})
    await desk.finish(50)
    assert judge.finished == 1


async def test_what_does_not_end_in_time_is_interrupted(judge: PlayedJudge) -> None:
    """Its client is to ask the next process, and so is whoever comes later."""
    desk = make_desk(judge)
    asking = asyncio.create_task(desk.answer(make_request(b'{"sleep": 90}'), time.monotonic()))
    while not judge.asked:
        await asyncio.sleep(0)
    await desk.finish(0.01)
    with pytest.raises(Interrupted):
        await asking
    with pytest.raises(Interrupted):
        await desk.answer(make_request(), time.monotonic())


async def test_nobody_waits_for_a_person_after_the_client_has_left(
    judge: PlayedJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is quickly done comes to its end; what waits is given up, so that questions close."""
    monkeypatch.setattr("amplifier_hooks.coding_agents.daemon.desk._AFTER_LEAVING", 0.2)
    desk, gone = make_desk(judge), asyncio.Event()
    gone.set()
    quick = await desk.answer(make_request(b'{"sleep": 0.01, "code": 3}'), time.monotonic(), gone)
    assert quick.code == 3
    waits = await desk.answer(make_request(b'{"sleep": 90}'), time.monotonic(), gone)
    assert waits.code == 2
    assert desk.count_open() <= 1


@pytest.mark.parametrize(("seconds", "limit"), [(590, 589), (3, 2), (2, 1.6), (1, 0.8)])
def test_the_answer_comes_before_the_client_gives_up(seconds: float, limit: float) -> None:
    """A second before, or earlier where a second is much."""
    assert _get_limit(seconds) == pytest.approx(limit)
