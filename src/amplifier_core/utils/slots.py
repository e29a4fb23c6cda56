"""Slots: how many tool calls of a session and its sub-agents run at once."""

from __future__ import annotations

from asyncio import AbstractEventLoop, CancelledError, Future, Lock, get_running_loop
from collections import deque
from contextvars import ContextVar


class Slots:
    """So many at once; who finds none free is served in the order of coming."""

    def __init__(self, limit: int) -> None:
        self.free = limit
        # Empty while a slot is free; may hold some that were cancelled.
        self.waiting: deque[Future[None]] = deque()

    async def wait(self) -> None:
        """Take a slot, as soon as one is free."""
        if self.free:
            self.free -= 1
            return
        turn: Future[None] = get_running_loop().create_future()
        self.waiting.append(turn)
        try:
            await turn
        except CancelledError:
            if not turn.cancelled():  # it was handed over at the same moment
                self.release()
            raise

    def release(self) -> None:
        """Hand a slot to the first who waits."""
        while self.waiting:
            turn = self.waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self.free += 1

    async def __aenter__(self) -> None:
        await self.wait()

    async def __aexit__(self, *_: object) -> None:
        self.release()


class Slot:
    """The place of one tool call among those that run at once.

    It is given up while a person is asked, and while the call itself calls tools: who holds one
    never waits for another. Those inner calls, a sub-agent's too, take theirs from the same slots.
    """

    __slots__ = ("_held", "_inside", "_loop", "_outer", "_over", "_slots", "_taking")

    def __init__(self, slots: Slots) -> None:
        self._held = self._over = False
        self._inside = 0
        self._taking: Lock | None = None
        self._loop: AbstractEventLoop = get_running_loop()
        outer = _current.get()
        # A tool may run a session of its own in a thread, with a loop of its own.
        self._outer = outer if outer is not None and outer._loop is self._loop else None
        self._slots: Slots = slots if self._outer is None else self._outer._slots

    def open(self) -> bool:
        """Begin the call; False if there is no room for it yet, and it has to be taken."""
        _current.set(self)
        if self._outer is not None:
            self._outer._inside += 1
            self._outer.give_up()
        if self._slots.free:
            self._slots.free -= 1
            self._held = True
        return self._held

    async def take(self) -> None:
        """Wait until there is room, unless this call has it or needs none."""
        if not self.lacks_room:
            return
        if self._taking is None:
            self._taking = Lock()
        async with self._taking:  # two tasks of one call need one slot, not two
            if self.lacks_room:
                await self._slots.wait()
                if self.lacks_room:
                    self._held = True
                else:
                    self._slots.release()

    @property
    def lacks_room(self) -> bool:
        """Whether the call has to wait before it goes on."""
        return not (self._held or self._over or self._inside)

    def give_up(self) -> None:
        """Make room for another call."""
        if self._held:
            self._held = False
            self._slots.release()

    def close(self) -> None:
        """End the call, however far it came; what it left running has no slot."""
        if self._held:
            self._held = False
            if self._slots.waiting:
                self._slots.release()
            else:
                self._slots.free += 1
        self._over = True
        if self._outer is not None:
            self._outer._inside -= 1
        _current.set(self._outer)


_current: ContextVar[Slot | None] = ContextVar("amplifier_slot", default=None)
"""The slot of the tool call that the running code is part of."""


def give_up_slot() -> None:
    """Let other calls run while this one waits for a person."""
    if slot := _current.get():
        slot.give_up()


async def take_slot() -> None:
    """Go on with the call that waited."""
    if slot := _current.get():
        await slot.take()
