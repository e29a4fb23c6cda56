"""The display of a run: live on a terminal, plain lines, or JSON lines.

It writes to a handle of its own: the kernel keeps what hooks print on the standard streams.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import IO, Any, Literal, Protocol

from amplifier_audit.streams import open_output
from amplifier_core.coordinator import SessionCoordinator
from amplifier_hooks.cli.display.narration import RunState
from amplifier_hooks.cli.early_signals import LastLine
from amplifier_hooks.cli.text.encoding import accept_any_text


class JsonDisplay:
    """One JSON object a line: every event, every message, and the result."""

    def __init__(self, stream: IO[str]) -> None:
        self.state = RunState()
        self._stream = stream

    def start(self) -> None:
        """Begin a turn."""
        self.state = RunState()

    def stop(self) -> None:
        """End a turn."""
        self.state.end()
        self._stream.flush()

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Do nothing: questions go to the terminal itself."""
        yield

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Do nothing: nobody types here."""
        yield

    def show_outputs(self, coordinator: SessionCoordinator) -> None:
        """Do nothing: what tools print is in their results."""

    def watch_keys(self, on_escape: Callable[[], None]) -> None:
        """Do nothing: no keys are pressed here."""

    def take_typed(self) -> str:
        """Nothing was typed."""
        return ""

    def show_reply(self, text: str) -> None:
        """Do nothing: the reply is in the last line."""

    def show_result(self, **facts: Any) -> None:
        """Write the last line."""
        known = {
            "tokens": self.state.tokens,
            "cost": self.state.cost,
            "hook_failures": self.state.hook_failures,
        }
        with LastLine():
            self._write(
                {"type": "result", **facts, **known, "seconds": round(self.state.elapsed, 3)}
            )

    def show_message(self, message: str, level: str, source: str = "hook") -> None:
        """Write a hook's message."""
        self._write({"type": "message", "level": level, "source": source, "message": message})

    def show_event(self, event: str, data: Mapping[str, Any]) -> None:
        """Write an event with all its data."""
        self.state.count(event, data)
        self._write({"type": "event", "event": event, "data": dict(data)})

    def show_denied(self, event: str, data: Mapping[str, Any]) -> None:
        """Write an event that a hook denied, as it was before any hook."""
        self._write({"type": "event", "event": event, "data": dict(data)})

    def _write(self, value: dict[str, Any]) -> None:
        self._stream.write(to_json_line(value) + "\n")
        self._stream.flush()


def to_json_line(value: Mapping[str, Any]) -> str:
    """ASCII on one line; what JSON cannot express is written as text."""
    try:
        return json.dumps(value, default=str)
    except (ValueError, TypeError, RecursionError):
        return json.dumps({"type": value.get("type"), "unprintable": repr(value)[:10_000]})


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
        from amplifier_hooks.cli.display.display import JsonDisplay

        return JsonDisplay(open_handle(1, sys.stdout))
    if mode == "plain":
        from amplifier_hooks.cli.display.line_display import LineDisplay

        return LineDisplay(open_handle(1, sys.stdout), open_handle(2, sys.stderr), verbose=verbose)
    from amplifier_hooks.cli.display.live_display import LiveDisplay

    return LiveDisplay(open_handle(1, sys.stdout), verbose=verbose)
