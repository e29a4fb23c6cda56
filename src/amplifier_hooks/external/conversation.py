"""What hooks add to a conversation that a framework keeps."""

from __future__ import annotations

from typing import Any

from amplifier_core.utils import resolve
from amplifier_core.utils.conversation import add_message


class RunContext:
    """Stands where a conversation would be: what is added waits for the next request.

    `owner` is the context of a coordinator that was made by hand; it gets everything, too.
    """

    def __init__(self, owner: Any = None) -> None:
        self._owner = owner
        self._waiting: list[dict[str, Any]] = []

    async def add_message(self, message: dict[str, Any]) -> None:
        """Keep a message for the next request."""
        if self._owner is not None:
            await add_message(self._owner, message)
        self._waiting.append(message)

    async def get_messages(self) -> list[dict[str, Any]]:
        """What waits; the conversation itself is the framework's."""
        return list(self._waiting)

    async def get_messages_for_request(
        self, token_budget: int | None = None, provider: Any = None
    ) -> list[dict[str, Any]]:
        """What waits."""
        return list(self._waiting)

    async def set_messages(self, messages: list[dict[str, Any]]) -> None:
        """Nobody can replace a conversation that is elsewhere."""

    async def clear(self) -> None:
        """Forget what waits."""
        self._waiting.clear()
        if self._owner is not None:
            await resolve(self._owner.clear())

    def take(self) -> list[dict[str, Any]]:
        """What was added since the last time."""
        waiting, self._waiting = self._waiting, []
        return waiting
