"""`on_session_ready`: what a module wants done when everything is mounted."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterable
from typing import Any

logger = logging.getLogger(__name__)

Ready = tuple[str, Callable[[Any], Any]]
"""The id of a module, and its function."""


def find_on_session_ready(module_id: str, homes: Iterable[Any]) -> Callable[[Any], Any] | None:
    """The function of a module, in the first of these places that has one; it must be async."""
    found = next(filter(None, (getattr(one, "on_session_ready", None) for one in homes)), None)
    if found is None or inspect.iscoroutinefunction(found):
        return found
    message = "Module '%s': on_session_ready is not async, so it is not called"
    logger.warning(message, module_id)
    return None


def take_waiting(loader: Any) -> list[Ready]:
    """What others put into a loader's queue, which is empty then; a loader may have none."""
    queue: Any = getattr(loader, "get_on_session_ready_queue", list)()
    if not isinstance(queue, list) or not queue:
        return []
    loader.clear_on_session_ready_queue()
    return queue
