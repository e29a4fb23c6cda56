"""The wish that a run should stop: first gracefully, then at once."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from typing import Any

from amplifier_core.utils import describe_error, run_with_timeout

logger = logging.getLogger(__name__)

PATIENCE = 10.0
"""Seconds that one callback may take."""


class CancellationToken:
    """Loops look at it between steps; an immediate request also runs the callbacks."""

    def __init__(self) -> None:
        self._state = "none"
        self._callbacks: list[Callable[[], Any]] = []
        self.running_tools: dict[str, str] = {}

    @property
    def state(self) -> str:
        """`none`, `graceful` or `immediate`."""
        return self._state

    @property
    def is_cancelled(self) -> bool:
        return self._state != "none"

    @property
    def is_graceful(self) -> bool:
        return self._state == "graceful"

    @property
    def is_immediate(self) -> bool:
        return self._state == "immediate"

    def request_graceful(self) -> bool:
        """Finish the running step, then stop; False if a stop was wanted already."""
        if self.is_cancelled:
            return False
        self._state = "graceful"
        return True

    def request_immediate(self) -> bool:
        """Stop now; False if that was wanted already."""
        if self.is_immediate:
            return False
        self._state = "immediate"
        return True

    def reset(self) -> None:
        """A new turn begins."""
        self._state = "none"
        self.running_tools.clear()

    def register_tool_start(self, call_id: str, name: str) -> None:
        """A tool is running."""
        self.running_tools[call_id] = name

    def register_tool_complete(self, call_id: str) -> None:
        """It is through."""
        self.running_tools.pop(call_id, None)

    def on_cancel(self, callback: Callable[[], Any]) -> Callable[[], None]:
        """Be called when a stop is wanted; returns what takes that back."""
        self._callbacks.append(callback)
        return lambda: self._callbacks.remove(callback) if callback in self._callbacks else None

    async def trigger_callbacks(self) -> None:
        """Tell everybody who asked to be told."""
        for callback in list(self._callbacks):
            try:
                outcome = callback()
                if inspect.isawaitable(outcome):
                    await run_with_timeout(outcome, PATIENCE)
            except Exception as error:  # noqa: BLE001 - a stop must reach all of them
                logger.warning("A cancellation callback failed: %s", describe_error(error))
