"""What a person or a program sees of a run: live on a terminal, plain lines, or JSON lines.

Writes to a handle of its own: the kernel keeps what hooks print on the standard streams.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import IO, TYPE_CHECKING, Any, Literal, Protocol

from amplifier_apps.cli.fragments import Line, plain
from amplifier_apps.cli.narration import message_lines, narrate, readable, reply_text
from amplifier_apps.cli.run_state import RunState
from amplifier_core import events
from amplifier_core.models import CONTINUE, HookResult

if TYPE_CHECKING:
    from amplifier_apps.cli.live_display import LiveDisplay

Mode = Literal["live", "plain", "json"]

LAST = 10_000
"""The priority of an observer: behind every hook that changes or redacts."""


# Per task, as parallel calls each have their own.
_call: ContextVar[dict[str, Any] | None] = ContextVar("amplifier_cli_call", default=None)
_refused: ContextVar[bool] = ContextVar("amplifier_cli_refused", default=False)


class Display(Protocol):
    """The one face of all three."""

    state: RunState

    def show_message(self, message: str, level: str, source: str = "hook") -> None: ...
    def event(self, event: str, data: Mapping[str, Any]) -> None: ...
    def paused(self) -> Any: ...
    def held(self) -> Any: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...
    def result(self, **facts: Any) -> None: ...


def own_handle(fd: int) -> IO[str]:
    """A text stream over a descriptor that nobody redirects and no character breaks."""
    return open(fd, "w", encoding="utf-8", errors="backslashreplace", closefd=False, buffering=1)


def mode_for(*, as_json: bool, stream: IO[str] | None = None) -> Mode:
    """Live only where a person looks on."""
    if as_json:
        return "json"
    looked_at = (stream or sys.stdout).isatty() and os.environ.get("TERM", "dumb") != "dumb"
    return "live" if looked_at else "plain"


def make_display(mode: Mode, *, verbose: bool = False) -> Display:
    """The display for a mode; the live one brings rich along."""
    if mode == "json":
        return JsonDisplay(own_handle(1))
    if mode == "plain":
        return LineDisplay(own_handle(1), own_handle(2), verbose=verbose)
    from amplifier_apps.cli.live_display import LiveDisplay

    display: LiveDisplay = LiveDisplay(own_handle(1), verbose=verbose)
    return display


def observe(registry: Any, display: Display, scrub: Callable[[Any], Any]) -> Callable[[], None]:
    """Let a display look on: last in every chain, so that it sees what redaction left.

    A denied call never gets to the last hook, so a first one notes what is about to be called.
    """

    async def display_call(_: str, data: dict[str, Any]) -> HookResult:
        _call.set(scrub({key: data.get(key) for key in ("tool_name", "tool_input")}))
        return CONTINUE

    async def display_observer(event: str, data: dict[str, Any]) -> HookResult:
        display.event(event, {**scrub(data), **_known_of(event, data)})
        return CONTINUE

    removals = [
        registry.register(events.TOOL_PRE, display_call, -LAST, "cli-display"),
        registry.register("*", display_observer, LAST, "cli-display"),
    ]

    def remove() -> None:
        for undo in removals:
            undo()

    return remove


def _known_of(event: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Which call a denial is about, and whether the person who refused has been told of already."""
    if event == events.APPROVAL_DENIED:
        _refused.set(True)
    if event != events.POLICY_VIOLATION or data.get("event") != events.TOOL_PRE:
        return {}
    refused = _refused.get()
    _refused.set(False)
    return {**(_call.get() or {}), "refused_by_person": refused}


class LineDisplay:
    """The answer on standard output, everything about the run on standard error."""

    def __init__(self, answers: IO[str], notes: IO[str], *, verbose: bool = False) -> None:
        self.state = RunState()
        self.session_id: str | None = None
        self._answers = answers
        self._notes = notes
        self._verbose = verbose
        self._streamed = False
        self._at_line_start = True
        self._held: list[Line] | None = None

    def start(self) -> None:
        """A turn begins."""
        self.state = RunState()

    def stop(self) -> None:
        """A turn is over: the answer ends with a newline."""
        self.state.end()
        self._end_line()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Nothing to let go of; the line is ended, so that a question starts on a fresh one."""
        self._end_line()
        yield

    def result(self, **facts: Any) -> None:
        """The figures of the turn."""
        self._note((("dim", self.state.summary()),))

    def show_message(self, message: str, level: str, source: str = "hook") -> None:
        """A hook's message."""
        for line in message_lines(message, level, source):
            self._note(line)

    def event(self, event: str, data: Mapping[str, Any]) -> None:
        """Text as it comes, and a line for what is worth one."""
        self.state.take(event, data)
        if not self._is_ours(event, data):
            return
        if event == events.PROVIDER_REQUEST:
            self._streamed = False
        elif event == events.CONTENT_BLOCK_DELTA:
            self._stream(str(data.get("delta", "")))
        elif event == events.PROVIDER_RESPONSE and not self._streamed:
            self._stream(reply_text(data))
        for line in narrate(event, data, verbose=self._verbose):
            self._note(line)

    def _is_ours(self, event: str, data: Mapping[str, Any]) -> bool:
        """Of sub-agents only their calls are told, not their words."""
        if self.session_id is None:
            self.session_id = data.get("session_id")
        words = (events.CONTENT_BLOCK_DELTA, events.PROVIDER_RESPONSE, events.PROVIDER_REQUEST)
        return event not in words or data.get("session_id") == self.session_id

    def _stream(self, text: str) -> None:
        if text:
            self._streamed = True
            self._at_line_start = text.endswith("\n")
            self._answers.write(readable(text))
            self._answers.flush()

    def _end_line(self) -> None:
        if not self._at_line_start:
            self._answers.write("\n")
            self._answers.flush()
            self._at_line_start = True

    @contextmanager
    def held(self) -> Iterator[None]:
        """While a person types, what hooks have to say waits."""
        self._held = []
        try:
            yield
        finally:
            waiting, self._held = self._held, None
            for line in waiting or ():
                self._note(line)

    def _note(self, line: Line) -> None:
        if self._held is None:
            self._print_note(line)
        else:
            self._held.append(line)

    def _print_note(self, line: Line) -> None:
        self._end_line()
        self._notes.write(plain(line).rstrip() + "\n")
        self._notes.flush()


class JsonDisplay:
    """One JSON object a line: every event, every message, and the result."""

    def __init__(self, stream: IO[str]) -> None:
        self.state = RunState()
        self._stream = stream

    def start(self) -> None:
        """A turn begins."""
        self.state = RunState()

    def stop(self) -> None:
        """A turn is over."""
        self.state.end()
        self._stream.flush()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Questions go to the terminal itself, not here."""
        yield

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody types into this."""
        yield

    def result(self, **facts: Any) -> None:
        """The last line."""
        known = {"tokens": self.state.tokens, "cost": self.state.cost}
        self._write({"type": "result", **facts, **known, "seconds": round(self.state.elapsed, 3)})

    def show_message(self, message: str, level: str, source: str = "hook") -> None:
        """A hook's message."""
        self._write({"type": "message", "level": level, "source": source, "message": message})

    def event(self, event: str, data: Mapping[str, Any]) -> None:
        """An event with all its data."""
        self.state.take(event, data)
        self._write({"type": "event", "event": event, "data": dict(data)})

    def _write(self, value: dict[str, Any]) -> None:
        self._stream.write(as_json_line(value) + "\n")
        self._stream.flush()


def as_json_line(value: Mapping[str, Any]) -> str:
    """ASCII on one line; what JSON cannot say is written as text."""
    try:
        return json.dumps(value, default=str)
    except (ValueError, TypeError, RecursionError):
        return json.dumps({"type": value.get("type"), "unprintable": repr(value)[:10_000]})
