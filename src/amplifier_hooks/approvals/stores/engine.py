"""The database under a store: transactions, durable when they return, and news of changes."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from amplifier_hooks.approvals.models import Value

T = TypeVar("T")
V = TypeVar("V", bound=Value)
Row = Mapping[str, Any]
ANY = "*"


@dataclass(frozen=True, slots=True)
class Change:
    """That something may have changed. It is a hint: the row is the truth.

    The topic is `approval`, `rule`, `session` or `records`, and the subject an id. Where a
    database tells only that something happened, both are `*`.
    """

    topic: str
    subject: str


def read_row(kind: type[V], row: Row, **others: Any) -> V:
    """A value from the columns of its names; `others` are the fields that are kept otherwise."""
    return kind.model_validate({**row, **others})


class Transaction(Protocol):
    """Statements that hold together; written for both databases, with `:name` for values.

    `unix_now()` within a statement is the store's clock.
    """

    def run(self, statement: str, **values: Any) -> list[Row]:
        """Run a statement, and return its rows."""
        ...

    def announce(self, topic: str, subject: str) -> None:
        """Tell everybody who listens, here and elsewhere, once this is durable."""
        ...


Check = Callable[[Transaction], object]
"""Raises if something may not be done."""


def do_after(check: Check | None, work: Callable[[Transaction], T]) -> Callable[[Transaction], T]:
    """`work` with a check before it, in the same transaction."""
    if check is None:
        return work

    def do_both(transaction: Transaction) -> T:
        check(transaction)
        return work(transaction)

    return do_both


class Engine(Protocol):
    """One open database."""

    async def write(self, work: Callable[[Transaction], T], *, repeatable: bool = False) -> T:
        """Run `work` in a transaction, perhaps in another thread; durable when this returns.

        `work` may be run again if the database says that it collided with another. `repeatable`
        work may also be run after it was carried out: it finds that, and gives the same result.
        """
        ...

    async def read(self, work: Callable[[Transaction], T], *, one_state: bool = True) -> T:
        """Run `work`, which changes nothing, on what is durable.

        Without `one_state`, each of its statements sees what is durable then.
        """
        ...

    async def check(self) -> None:
        """Raise StoreUnavailable unless the database can be used now; nothing is waited for."""
        ...

    def listen(self) -> AbstractAsyncContextManager[AsyncIterator[Change]]:
        """Hear of changes from here on, those of other processes too. Slow listeners get `*`."""
        ...

    async def close(self) -> None: ...


LIMIT = 1024
"""How many changes wait for a slow listener before they become one `*`."""

SOMETHING = Change(ANY, ANY)


class Listeners:
    """Everybody in this process who wants to hear of changes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: list[_Listener] = []

    def __bool__(self) -> bool:
        """Whether anybody listens."""
        return bool(self._open)

    @asynccontextmanager
    async def listen(self) -> AsyncIterator[AsyncIterator[Change]]:
        """Hear of changes from here on, until the block is left or `close` is called."""
        listener = _Listener(asyncio.get_running_loop())
        with self._lock:
            self._open.append(listener)
        try:
            yield listener
        finally:
            with self._lock, contextlib.suppress(ValueError):
                self._open.remove(listener)

    def publish(self, changes: Sequence[Change]) -> None:
        """Tell everybody; may be called from any thread."""
        with self._lock:
            listeners = tuple(self._open)
        for listener in listeners:
            listener.send(changes)

    def close(self) -> None:
        """End every iteration; who listens sees the end of the changes."""
        with self._lock:
            listeners = self._open
            self._open = []
        for listener in listeners:
            listener.send(None)


class _Listener:
    """One iteration over changes, in the loop where it began."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: deque[Change] = deque()
        self._news = asyncio.Event()
        self._ended = False

    def send(self, changes: Iterable[Change] | None) -> None:
        # A loop that was closed has nobody left to tell.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._take, changes)

    def _take(self, changes: Iterable[Change] | None) -> None:
        if changes is None:
            self._ended = True
        else:
            self._waiting.extend(changes)
        if len(self._waiting) > LIMIT:
            self._waiting.clear()
            self._waiting.append(SOMETHING)
        self._news.set()

    def __aiter__(self) -> _Listener:
        return self

    async def __anext__(self) -> Change:
        while not self._waiting:
            if self._ended:
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()
        return self._waiting.popleft()
