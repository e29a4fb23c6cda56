"""Many who ask at the same time, and are answered by one statement."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from amplifier_hooks.approvals.stores.gathering import Gathering


class Source:
    """Answers with the number of the reading, when it is let."""

    def __init__(self, most: int = 100) -> None:
        self.read: list[list[str]] = []
        self.go_on = asyncio.Event()
        self.error: Exception | None = None
        self.gathering = Gathering(self._read, most)

    async def _read(self, keys: Sequence[str]) -> dict[str, int]:
        self.read.append(list(keys))
        number = len(self.read)
        await self.go_on.wait()
        if self.error is not None:
            raise self.error
        return {key: number for key in keys if key != "gone"}

    def ask(self, *keys: str) -> list[asyncio.Task[int | None]]:
        """One who asks for each."""
        return [asyncio.create_task(self.gathering.get(key)) for key in keys]


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_who_asks_meanwhile_shares_the_next_reading() -> None:
    """Also for what is being read: that was begun before they asked."""
    source = Source()
    first = source.ask("a", "b")
    await settle()
    later = source.ask("a", "c", "gone", "c")
    await settle()
    source.go_on.set()
    assert await asyncio.gather(*first) == [1, 1]
    assert await asyncio.gather(*later) == [2, 2, None, 2]
    assert source.read == [["a", "b"], ["a", "c", "gone"]]
    assert await source.gathering.get("a") == 3


async def test_no_statement_names_more_than_it_may() -> None:
    """The rest is read next."""
    source = Source(most=2)
    source.go_on.set()
    assert await asyncio.gather(*source.ask("a", "b", "c", "d", "e")) == [1, 1, 2, 2, 3]


async def test_a_failure_is_of_those_who_asked() -> None:
    """And of nobody who asks after them."""
    source = Source()
    source.error = KeyError("x")
    asking = source.ask("a", "b")
    await settle()
    source.go_on.set()
    for one in asking:
        with pytest.raises(KeyError):
            await one
    source.error = None
    assert await source.gathering.get("a") == 2


async def test_who_gives_up_takes_nothing_from_others() -> None:
    """Two who ask for the same share one future."""
    source = Source()
    gone, stays = source.ask("a", "a")
    await settle()
    gone.cancel()
    await settle()
    source.go_on.set()
    assert await stays == 1
    assert gone.cancelled()


def test_another_loop_begins_anew() -> None:
    """What was asked in a loop that ended is answered to nobody."""

    async def make() -> Source:
        source = Source()
        source.ask("a")
        await settle()
        return source

    source = asyncio.run(make())

    async def ask() -> int | None:
        source.go_on = asyncio.Event()
        source.go_on.set()
        return await source.gathering.get("a")

    assert asyncio.run(ask()) == 2
