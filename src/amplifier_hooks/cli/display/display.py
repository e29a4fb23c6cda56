"""The display of a run: live on a terminal, plain lines, or JSON lines.

It writes to a handle of its own: the kernel keeps what hooks print on the standard streams.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import IO, Any, Literal, Protocol

from amplifier_audit.streams import open_output
from amplifier_core.coordinator import SessionCoordinator
from amplifier_hooks.cli.display.run_state import RunState
from amplifier_hooks.cli.text.encoding import accept_any_text

Mode = Literal["live", "plain", "json"]


class Display(Protocol):
    """What all three kinds can do."""

    state: RunState

    def show_message(self, message: str, level: str, source: str = "hook") -> None: ...
    def show_event(self, event: str, data: Mapping[str, Any]) -> None: ...
    def show_denied(self, event: str, data: Mapping[str, Any]) -> None: ...
    def show_reply(self, text: str) -> None: ...
    def show_result(self, **facts: Any) -> None: ...
    def pause(self) -> AbstractContextManager[None]: ...
    def hold(self) -> AbstractContextManager[None]: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...
    def show_outputs(self, coordinator: SessionCoordinator) -> None: ...
    def watch_keys(self, on_escape: Callable[[], None]) -> None: ...
    def take_typed(self) -> str: ...


def open_handle(fd: int, like: IO[str] | None = None) -> IO[str]:
    """A text stream over a descriptor that nobody redirects and no character breaks.

    In the encoding of the stream that it stands beside, else in UTF-8. The run goes on when nobody
    reads it any more.
    """
    stream = open_output(fd, getattr(like, "encoding", None) or "utf-8")
    accept_any_text(stream)
    return stream


def choose_mode(*, as_json: bool, stream: IO[str] | None = None) -> Mode:
    """Live only where a person looks on."""
    if as_json:
        return "json"
    watched = (stream or sys.stdout).isatty() and os.environ.get("TERM", "dumb") != "dumb"
    return "live" if watched else "plain"


def make_display(mode: Mode, *, verbose: bool = False) -> Display:
    """The display for a mode; only the live one imports rich."""
    if mode == "json":
        from amplifier_hooks.cli.display.json_display import JsonDisplay

        return JsonDisplay(open_handle(1, sys.stdout))
    if mode == "plain":
        from amplifier_hooks.cli.display.line_display import LineDisplay

        return LineDisplay(open_handle(1, sys.stdout), open_handle(2, sys.stderr), verbose=verbose)
    from amplifier_hooks.cli.display.live_display import LiveDisplay

    return LiveDisplay(open_handle(1, sys.stdout), verbose=verbose)
