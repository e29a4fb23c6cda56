"""Slots: how many tool calls of a session and its sub-agents run at once."""

from __future__ import annotations

from asyncio import Lock, Semaphore, get_running_loop
from contextvars import ContextVar


class Slot:
    """The place of one tool call among those that run at once.

    It is given up while a person is asked, and while the call itself calls tools: who holds one
    never waits for another. Those inner calls, a sub-agent's too, take theirs from the same pool.
    """

    __slots__ = ("_held", "_inside", "_loop", "_outer", "_over", "_pool", "_taking")

    def __init__(self, pool: Semaphore) -> None:
        self._held = self._over = False
        self._inside = 0
        self._taking = Lock()
        self._loop = get_running_loop()
        outer = _current.get()
        # A tool may run a session of its own in a thread, with a loop of its own.
        self._outer = outer if outer is not None and outer._loop is self._loop else None
        self._pool: Semaphore = pool if self._outer is None else self._outer._pool

    async def open(self) -> bool:
        """Begin the call as soon as there is room; returns whether it had to wait."""
        _current.set(self)
        if self._outer is not None:
            self._outer._inside += 1
            self._outer.give_up()
        waits = self._pool.locked()
        await self.take()
        return waits

    async def take(self) -> None:
        """Wait until there is room, unless this call has it or needs none."""
        if not self._lacks_room():
            return
        async with self._taking:  # two tasks of one call need one slot, not two
            if self._lacks_room():
                await self._pool.acquire()
                if self._lacks_room():
                    self._held = True
                else:
                    self._pool.release()

    def _lacks_room(self) -> bool:
        return not (self._held or self._over or self._inside)

    def give_up(self) -> None:
        """Make room for another call."""
        if self._held:
            self._held = False
            self._pool.release()

    def close(self) -> None:
        """End the call, however far it came; what it left running has no slot."""
        self.give_up()
        self._over = True
        if self._outer is not None:
            self._outer._inside -= 1
        _current.set(self._outer)


_current: ContextVar[Slot | None] = ContextVar("amplifier_slot", default=None)
"""The slot of the tool call that the running code is part of."""


def give_up_slot() -> None:
    """Somebody is waited for: let other calls run meanwhile."""
    if slot := _current.get():
        slot.give_up()


async def take_slot() -> None:
    """Go on with the call that waited."""
    if slot := _current.get():
        await slot.take()
