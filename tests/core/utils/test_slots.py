"""Slots: no more tool calls at once than allowed, none that waits for ever, none lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_core.utils import is_being_cancelled
from amplifier_core.utils.slots import Slot, Slots, give_up_slot, take_slot

PATIENCE = 30.0


async def call(pool: Slots, work: Callable[[], Awaitable[None]]) -> bool:
    """One call in its slot; returns whether it had to wait."""
    slot = Slot(pool)
    try:
        if waits := not slot.open():
            await slot.take()
        await work()
    finally:
        slot.close()
    return waits


@dataclass
class Crowd:
    """Counts who works at the same time."""

    pool: Slots
    working: int = 0
    most: int = 0
    done: int = 0

    async def work(self, steps: int = 1) -> None:
        self.working += 1
        self.most = max(self.most, self.working)
        for _ in range(steps):
            await asyncio.sleep(0)
        self.working -= 1
        self.done += 1


async def test_no_more_than_there_are_slots() -> None:
    """Others wait their turn, and say that they did."""
    crowd = Crowd(Slots(3))
    waited = await asyncio.gather(*(call(crowd.pool, crowd.work) for _ in range(20)))
    assert (crowd.most, crowd.done, crowd.pool.free) == (3, 20, 3)
    assert waited == [False] * 3 + [True] * 17


async def test_a_slot_is_given_up_while_somebody_is_waited_for() -> None:
    """Another call runs meanwhile; who waited goes on when there is room again."""
    pool, order = Slots(1), list[str]()

    async def ask() -> None:
        give_up_slot()
        while "other" not in order:
            await asyncio.sleep(0)
        await take_slot()
        await take_slot()
        order.append("asked")
        assert pool.free == 0

    async def other() -> None:
        order.append("other")

    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(call(pool, ask), call(pool, other))
    assert (order, pool.free) == (["other", "asked"], 1)


async def test_a_call_that_calls_tools_never_keeps_them_waiting() -> None:
    """As many calls as there are slots, each with calls of its own: none blocks for ever."""
    crowd = Crowd(Slots(2))

    async def delegate() -> None:
        await asyncio.gather(*(call(crowd.pool, crowd.work) for _ in range(5)))

    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*(call(crowd.pool, delegate) for _ in range(8)))
    assert (crowd.most, crowd.done, crowd.pool.free) == (2, 40, 2)


async def test_inner_calls_share_the_pool_of_the_outer_one() -> None:
    """A sub-agent cannot multiply what its parent may do, whatever limit it has itself."""
    crowd, wide = Crowd(Slots(2)), Slots(100)

    async def delegate() -> None:
        await asyncio.gather(*(call(wide, crowd.work) for _ in range(30)))

    await call(crowd.pool, delegate)
    assert (crowd.most, wide.free) == (2, 100)


async def test_what_a_call_left_running_holds_no_slot() -> None:
    """A task that goes on after its call can neither take nor keep a slot of it."""
    pool, over = Slots(1), asyncio.Event()
    left: list[asyncio.Task[None]] = []

    async def linger() -> None:
        await over.wait()
        await take_slot()

    async def leave() -> None:
        left.append(asyncio.ensure_future(linger()))

    await call(pool, leave)
    over.set()
    await left[0]
    assert pool.free == 1


@pytest.mark.parametrize("ends", ["over", "inside"])
async def test_room_that_comes_too_late_is_handed_on(ends: str) -> None:
    """Who waited for a slot and does not need it any more gives it back."""
    pool = Slots(1)
    await pool.wait()
    slot = Slot(pool)
    waiting = asyncio.ensure_future(slot.take())
    await asyncio.sleep(0)
    if ends == "over":
        slot.close()
    else:
        slot._inside = 1
    pool.release()
    await waiting
    assert pool.free == 1


async def test_a_slot_that_is_handed_to_who_is_just_cancelled_is_handed_on() -> None:
    """It is lost neither before nor after it was handed over, and nobody jumps the queue."""
    pool = Slots(1)
    await pool.wait()
    first, second, third = (asyncio.ensure_future(pool.wait()) for _ in range(3))
    await asyncio.sleep(0)
    second.cancel()
    pool.release()
    first.cancel()
    await asyncio.wait([first, second, third])
    assert [one.cancelled() for one in (first, second, third)] == [True, True, False]
    assert pool.free == 0
    pool.release()
    assert pool.free == 1


async def test_two_tasks_of_one_call_need_one_slot() -> None:
    """A call that goes on in two tasks at once does not wait for a slot that it holds itself."""
    pool = Slots(1)

    async def work() -> None:
        give_up_slot()
        await pool.wait()
        waiting = [asyncio.ensure_future(take_slot()) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        pool.release()
        async with asyncio.timeout(PATIENCE):
            await asyncio.wait(waiting)
        assert pool.free == 0

    await call(pool, work)
    assert pool.free == 1


async def test_a_session_in_a_thread_has_slots_of_its_own() -> None:
    """A loop of its own cannot wait for slots of ours, so it does not share them."""
    pool = Slots(1)

    def in_a_thread() -> bool:
        async def main() -> bool:
            return await call(Slots(1), Crowd(pool).work)

        return asyncio.run(main())

    async def work() -> None:
        assert await asyncio.to_thread(in_a_thread) is False
        assert pool.free == 0

    await call(pool, work)


async def test_without_a_call_there_is_nothing_to_give_up() -> None:
    """Prompts and requests are no tool calls: they wait for nobody's slot."""
    give_up_slot()
    await take_slot()
    assert asyncio.all_tasks() == {asyncio.current_task()}


@dataclass
class Node:
    """A call that works, asks, and calls others together; it may be cancelled."""

    steps: int
    asks: bool
    cancelled_after: int | None
    inner: list[Node] = field(default_factory=list)


def nodes(children: st.SearchStrategy[list[Node]]) -> st.SearchStrategy[Node]:
    cancelled = st.none() | st.integers(0, 6)
    return st.builds(Node, st.integers(0, 4), st.booleans(), cancelled, children)


TREES = st.recursive(
    nodes(st.just([])), lambda inner: nodes(st.lists(inner, max_size=4)), max_leaves=12
)


async def run_node(node: Node, crowd: Crowd) -> None:
    """One call, with all that it does."""

    async def work() -> None:
        await crowd.work(node.steps)
        if node.asks:
            give_up_slot()
            await asyncio.sleep(0)
            await take_slot()
        await asyncio.gather(*(start_node(one, crowd) for one in node.inner))

    await call(crowd.pool, work)


async def start_node(node: Node, crowd: Crowd) -> None:
    """The call in a task of its own, until it ends or is cancelled."""
    task = asyncio.ensure_future(run_node(node, crowd))
    canceller = asyncio.ensure_future(cancel_later(task, node.cancelled_after))
    try:
        await task
    except asyncio.CancelledError:
        if is_being_cancelled():
            raise
    finally:
        canceller.cancel()


async def cancel_later(task: asyncio.Task[None], steps: int | None) -> None:
    if steps is not None:
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()


@given(st.lists(TREES, min_size=1, max_size=6), st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_any_tree_of_calls_ends_within_the_limit_and_leaves_every_slot_free(
    trees: list[Node], limit: int
) -> None:
    """Whatever asks, calls others or is cancelled: no deadlock, no slot too many, none lost."""

    async def main() -> None:
        crowd = Crowd(Slots(limit))
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*(start_node(one, crowd) for one in trees))
        assert crowd.pool.free == limit

    asyncio.run(main())


@given(st.lists(TREES, min_size=1, max_size=6), st.integers(1, 3))
@settings(max_examples=20, deadline=None)
def test_no_more_calls_work_at_once_than_allowed(trees: list[Node], limit: int) -> None:
    """A call that has no calls of its own works only while it holds a slot."""

    async def run(node: Node, crowd: Crowd) -> None:
        async def work() -> None:
            if node.inner:
                await asyncio.gather(*(run(one, crowd) for one in node.inner))
            else:
                await crowd.work(node.steps)

        await call(crowd.pool, work)

    async def main() -> None:
        crowd = Crowd(Slots(limit))
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*(run(one, crowd) for one in trees))
        assert 0 < crowd.most <= limit

    asyncio.run(main())


@pytest.mark.parametrize("fails", [False, True])
async def test_whoever_waits_for_a_turn_gets_it_in_the_order_of_coming(fails: bool) -> None:
    """One slot is a lock, which is released however the work ends."""
    pool, order = Slots(1), []

    async def work(number: int) -> None:
        async with pool:
            order.append(number)
            await asyncio.sleep(0)
            order.append(number)
            if fails:
                raise ValueError(number)

    await asyncio.gather(*map(work, range(3)), return_exceptions=True)
    assert order == [0, 0, 1, 1, 2, 2]
    assert pool.free == 1
