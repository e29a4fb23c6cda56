"""The wish that a run should stop: first gracefully, then at once."""

from __future__ import annotations

import logging
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from amplifier_core.utils import describe_error, run_each

logger = logging.getLogger(__name__)


class CancellationState(StrEnum):
    """How urgently a stop is wanted."""

    NONE = "none"
    GRACEFUL = "graceful"
    IMMEDIATE = "immediate"


class CancellationToken:
    """Loops look at it between steps; code that has to act at once registers a callback."""

    def __init__(self) -> None:
        self._state = CancellationState.NONE
        self._callbacks: list[Callable[[], Any]] = []
        self._running: dict[str, str] = {}
        self._children: list[CancellationToken] = []

    @property
    def state(self) -> str:
        """`none`, `graceful` or `immediate`."""
        return self._state.value

    @property
    def is_cancelled(self) -> bool:
        return self._state is not CancellationState.NONE

    @property
    def is_graceful(self) -> bool:
        return self._state is CancellationState.GRACEFUL

    @property
    def is_immediate(self) -> bool:
        return self._state is CancellationState.IMMEDIATE

    # Wanting a stop

    def request_graceful(self) -> bool:
        """Finish the running step, then stop; False if a stop was wanted already."""
        if self.is_cancelled:
            return False
        self._state = CancellationState.GRACEFUL
        for child in list(self._children):
            child.request_graceful()
        return True

    request_cancellation = request_graceful

    def request_immediate(self) -> bool:
        """Stop now; False if that was wanted already."""
        if self.is_immediate:
            return False
        # Set before the children are told, so that a circle of tokens comes to an end.
        self._state = CancellationState.IMMEDIATE
        for child in list(self._children):
            child.request_immediate()
        return True

    def reset(self) -> None:
        """A new turn begins. Children have turns of their own and are left alone."""
        self._state = CancellationState.NONE
        self._running.clear()

    # Whom it reaches

    def register_child(self, child: CancellationToken) -> None:
        """Pass every request on to another token, from the state of now on."""
        if not any(child is one for one in self._children):
            self._children.append(child)
        if self.is_immediate:
            child.request_immediate()
        elif self.is_graceful:
            child.request_graceful()

    def unregister_child(self, child: CancellationToken) -> None:
        """Stop passing requests on; a token that is no child changes nothing."""
        self._children = [one for one in self._children if one is not child]

    def on_cancel(self, callback: Callable[[], Any]) -> Callable[[], None]:
        """Call back when a stop is wanted; returns what takes that back."""
        self._callbacks.append(callback)
        return lambda: self._callbacks.remove(callback) if callback in self._callbacks else None

    async def trigger_callbacks(self) -> None:
        """Run every callback, whatever one of them raises.

        What is more than an error, such as KeyboardInterrupt, is raised again after the last.
        """
        await run_each(list(self._callbacks), _log_failure)

    # What is running

    def register_tool_start(self, call_id: str, name: str) -> None:
        """Note that a tool is running."""
        self._running[call_id] = name

    def register_tool_complete(self, call_id: str) -> None:
        """Note that it has ended."""
        self._running.pop(call_id, None)

    @property
    def running_tools(self) -> set[str]:
        """The ids of the calls that are under way."""
        return set(self._running)

    @property
    def running_tool_names(self) -> list[str]:
        """The names of their tools, in the order they were started."""
        return list(self._running.values())


def _log_failure(error: Exception) -> None:
    logger.warning("A cancellation callback failed: %s", describe_error(error))
