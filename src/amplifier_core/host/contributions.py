"""Contribution channels: data that a consumer pulls from modules it does not know."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from amplifier_core.utils import (
    PATIENCE,
    CancelledItself,
    describe_error,
    is_being_cancelled,
    resolve,
)

logger = logging.getLogger(__name__)


class Contributions:
    """Who contributes to which channel, in the order they registered."""

    def __init__(self) -> None:
        self.channels: dict[str, list[dict[str, Any]]] = {}

    def register(self, channel: str, name: str, callback: Callable[[], Any]) -> None:
        """Add a contributor; its name appears when it fails."""
        if not isinstance(channel, str) or not channel:
            raise ValueError(f"A channel needs a name, got {channel!r}")
        if not callable(callback):
            raise TypeError(f"A contributor must be callable, got {callback!r}")
        self.channels.setdefault(channel, []).append({"name": name, "callback": callback})

    async def collect(self, channel: str) -> list[Any]:
        """What the contributors of a channel contribute now; one that fails or hangs is skipped.

        One that is cancelled by itself ends the collection with what there is so far.
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
                message = "Contributor '%s' of channel '%s' failed: %s"
                logger.warning(message, entry["name"], channel, describe_error(error))
                continue
            if value is not None:
                found.append(value)
        return found
