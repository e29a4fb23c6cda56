"""The output of a tool while it runs, for whoever looks on.

An application that shows it offers the capability `display.tool_output`. Hiding secrets and making
the text harmless for a terminal is its part: it gets the output as it is.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from amplifier_core.interfaces import Host
from amplifier_hooks.machine.pipes import OnOutput

CAPABILITY = "display.tool_output"

logger = logging.getLogger(__name__)


class OutputView(Protocol):
    """Shows the output of one call, until it is closed."""

    def feed(self, stream: str, text: str) -> None: ...
    def close(self) -> None: ...


@contextmanager
def follow_output(host: Host, tool: str, about: str) -> Iterator[OnOutput | None]:
    """What takes the output of a call as it comes; None if nobody looks on.

    A view that fails is not shown any further; the tool goes on.
    """
    open_view = host.get_capability(CAPABILITY)
    view = None if open_view is None else _attempt(open_view, tool, about)
    if view is None:
        yield None
        return
    has_failed = False

    def take(stream: str, text: str) -> None:
        nonlocal has_failed
        if not has_failed:
            has_failed = _attempt(_feed, view, stream, text) is None

    try:
        yield take
    finally:
        _attempt(view.close)


def _feed(view: OutputView, stream: str, text: str) -> bool:
    view.feed(stream, text)
    return True


def _attempt(call: Callable[..., Any], *arguments: Any) -> Any:
    """What a call of the application returns; None if it fails."""
    try:
        return call(*arguments)
    except Exception:
        logger.exception("The output of a tool cannot be shown")
        return None
