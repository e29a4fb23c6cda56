"""Contribution channels: data that a consumer pulls from modules it does not know."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from amplifier_core.models import Level
from amplifier_core.utils import (
    PATIENCE,
    CancelledItself,
    describe_error,
    is_being_cancelled,
    resolve,
)

logger = logging.getLogger(__name__)

Show = Callable[[str, Level, str], Awaitable[None]]


class Contributions:
    """Who contributes to which channel, in the order they registered."""

    def __init__(self) -> None:
        self.channels: dict[str, list[dict[str, Any]]] = {}
        self._told: set[str] = set()

    def register(self, channel: str, name: str, callback: Callable[[], Any]) -> None:
        """Add a contributor; its name appears when it fails."""
        if not isinstance(channel, str) or not channel:
            raise ValueError(f"A channel needs a name, got {channel!r}")
        if not callable(callback):
            raise TypeError(f"A contributor must be callable, got {callback!r}")
        self.channels.setdefault(channel, []).append({"name": name, "callback": callback})

    async def collect(self, channel: str, show: Show) -> list[Any]:
        """What the contributors of a channel contribute now; one that fails or hangs is skipped.

        One that is cancelled by itself ends the collection with what there is so far. Each
        failure is logged, and shown the first time.
        """
        found = []
        for entry in list(self.channels.get(channel, ())):
            try:
                value = await resolve(entry["callback"](), PATIENCE)
            except (asyncio.CancelledError, CancelledItself):
                if is_being_cancelled():
                    raise
                break
            except Exception as error:  # noqa: BLE001 - one contributor must not silence the others
                cause = describe_error(error)
                failure = f"Contributor '{entry['name']}' of channel '{channel}' failed: {cause}"
                logger.warning("%s", failure)
                if failure not in self._told:
                    self._told.add(failure)
                    await show(failure, "error", "session")
                continue
            if value is not None:
                found.append(value)
        return found
