"""The database under a store: transactions, durable when they return, and news of changes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
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


class Engine(Protocol):
    """One open database."""

    async def write(self, work: Callable[[Transaction], T]) -> T:
        """Run `work` in a transaction, perhaps in another thread; durable when this returns.

        `work` may be run again if the database says that it collided with another.
        """
        ...

    async def read(self, work: Callable[[Transaction], T]) -> T:
        """Run `work`, which changes nothing, on what is durable."""
        ...

    async def check(self) -> None:
        """Raise StoreUnavailable unless the database can be used now; nothing is waited for."""
        ...

    def listen(self) -> AbstractAsyncContextManager[AsyncIterator[Change]]:
        """Hear of changes from here on, those of other processes too. Slow listeners get `*`."""
        ...

    async def close(self) -> None: ...
