"""How far a replay has come, and what differs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from amplifier_core.records import HookAnswer
from amplifier_hooks.insight.replay.playback import Playback, current_call
from amplifier_hooks.insight.replay.recording import End, Run
from tests.hooks.insight.replay.items import call, event, note
from tests.hooks.insight.replay.test_recording import make


def follow(*items: Any, end: End = "ended", keep_going: bool = False) -> Playback:
    """A replay of these items that has just begun."""
    playback = Playback(make(*items), keep_going=keep_going)
    playback.begin(Run(tuple(playback.recording.sessions["s"]), end))
    return playback


def test_what_does_not_happen_again_is_noticed_at_the_end() -> None:
    """Unless the process died: nobody knows what it would have done."""
    items = [event("session:start", 1), event("policy:violation", 2)]
    for end, kinds in (("ended", ["only then"]), ("broken off", [])):
        playback = follow(*items, end=end)  # type: ignore[arg-type]
        playback.compare_next(event("session:start"))
        playback.finish_run()
        assert [one.kind for one in playback.differences] == kinds


@pytest.mark.parametrize(
    ("items", "now", "options", "kinds", "stopped"),
    [
        # Behind the last record of a process that died nothing is compared.
        (
            [event("session:start", 1)],
            [event("session:start"), event("session:end")],
            {"end": "broken off"},
            [],
            True,
        ),
        # What is left before a quiet moment did not happen: that is shown, and not the moment.
        (
            [event("policy:violation", 1), event("provider:request", 2)],
            [event("provider:request")],
            {},
            ["only then"],
            True,
        ),
        # Whoever goes on is shown what was passed over, and what changed.
        (
            [event("policy:violation", 1), event("provider:request", 2, n=1)],
            [event("provider:request", n=2)],
            {"keep_going": True},
            ["only then", "changed"],
            False,
        ),
    ],
    ids=["died", "quiet moment", "goes on"],
)
def test_a_replay_stops_at_the_first_difference(
    items: list[Any], now: list[Any], options: dict[str, Any], kinds: list[str], stopped: bool
) -> None:
    """Unless it is to go on."""
    playback = follow(*items, **options)
    for one in now:
        playback.compare_next(one)
    assert [one.kind for one in playback.differences] == kinds
    assert playback.stopped == stopped


@pytest.mark.parametrize(("action", "differs"), [("continue", False), ("deny", True)])
def test_a_masked_value_may_explain_an_answer_but_no_other_course(
    action: str, differs: bool
) -> None:
    """What comes of it alike is noted as not compared fully."""
    changed = HookAnswer("h", 1, "modify" if not differs else "deny")
    then = event("tool:post", 1, changed, left={"text": "[REDACTED:key]"}, text="x", action=action)
    playback = follow(then)
    playback.compare_next(event("tool:post", left={"text": "[REDACTED:key]"}, text="x"))
    assert bool(playback.differences) is differs
    assert playback.totals.doubtful == ([] if differs else ["record 1, tool:post: text is masked"])


def test_a_sub_agent_is_found_by_the_call_that_started_it() -> None:
    """Of two at once, by its task; new ids are translated into recorded ones."""
    playback = follow(
        event("tool:pre", 1, tool_call_id="a", tool_input={"task": "read a"}),
        event("tool:pre", 2, tool_call_id="b", tool_input={"task": "read b"}),
        call("started", 3, "a"),
        call("started", 4, "b"),
        note("session_started", 5, session="one", parent="s"),
        event("prompt:submit", 6, session="one", prompt="read a"),
        note("session_started", 7, session="two", parent="s"),
        event("prompt:submit", 8, session="two", prompt="read b"),
    )
    assert playback.find_session("stranger") == ""
    current_call.set(call("started", 4, "b"))
    assert playback.find_session("new-b") == "two"
    current_call.set(call("started", 3, "a"))
    assert playback.find_session("new-a") == "one"
    assert playback.translate({"ids": ["new-a", "new-b"], "n": 1}) == {
        "ids": ["one", "two"],
        "n": 1,
    }


def test_the_clock_shows_the_recorded_time() -> None:
    """Of what comes next."""
    assert follow(event("session:start", 1)).get_time() == 1_794_916_800.0


async def test_a_stop_comes_while_the_same_thing_is_waited_for() -> None:
    """And what never ended hangs until somebody ends it."""
    playback = follow(call("started", 1), event("cancel:requested", 2, immediate=True))
    playback.compare_next(call("started", 0))
    wishes: list[bool] = []

    async def cancel(immediate: bool) -> None:
        wishes.append(immediate)

    playback.cancel = cancel
    await playback.wait(3, 4)
    assert wishes == []
    task = asyncio.create_task(playback.wait(1, None))
    while not playback.hangs:
        await asyncio.sleep(0)
    assert wishes == [True]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not playback.hangs


async def test_calls_side_by_side_end_in_the_order_of_then() -> None:
    """Hooks that remember what they were told first would say something else."""
    first, second = event("tool:post", 1, call="b"), event("tool:post", 2, call="a")
    playback = follow(first, second, event("tool:post", 3, call="c"))
    order: list[str] = []

    async def end(name: str, sequence: int) -> None:
        await playback.let_happen("s", sequence)
        order.append(name)
        playback.compare_next(event("tool:post", call=name))

    await asyncio.gather(end("a", 2), end("b", 1))
    assert order == ["b", "a"]
    await playback.let_happen("s", 4)  # what does not happen is not waited for without end


async def test_what_a_time_limit_ended_is_left_to_the_time_limit() -> None:
    """Nobody breaks it off."""
    late = event("error:orchestration", 5, error={"type": "TimeoutError"})
    playback = follow(call("started", 1), late)
    task = asyncio.create_task(playback.wait(1, None))
    await asyncio.sleep(0)
    assert not playback.hangs
    task.cancel()
