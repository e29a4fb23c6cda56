"""Many who ask at the same time for different things, and are answered by one statement."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Gathering(Generic[K, V]):
    """Reads keys with as few statements as it can: who asks while one is under way shares the next.

    Nothing is remembered: what somebody gets was read after they asked.
    """

    def __init__(self, read: Callable[[Sequence[K]], Awaitable[Mapping[K, V]]], most: int) -> None:
        self._read = read
        self._most = most
        self._loop: asyncio.AbstractEventLoop | None = None
        self._asked: dict[K, asyncio.Future[V | None]] = {}
        self._reading: asyncio.Task[None] | None = None

    async def get(self, key: K) -> V | None:
        """What is found for a key."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:  # what was asked in another one is not answered here
            self._loop, self._asked, self._reading = loop, {}, None
        if key not in self._asked:
            self._asked[key] = loop.create_future()
        future = self._asked[key]
        if self._reading is None or self._reading.done():
            self._reading = loop.create_task(self._read_all(self._asked))
        # Whoever gives up takes nothing from the others.
        return await asyncio.shield(future)

    async def _read_all(self, asked: dict[K, asyncio.Future[V | None]]) -> None:
        while asked:
            portion = {key: asked.pop(key) for key in list(asked)[: self._most]}
            try:
                found = await self._read(list(portion))
            except BaseException as error:  # noqa: BLE001 - it belongs to those who asked
                for future in portion.values():
                    if not future.done():
                        future.set_exception(error)
                        future.exception()  # perhaps nobody waits for it any more
            else:
                for key, future in portion.items():
                    if not future.done():
                        future.set_result(found.get(key))
