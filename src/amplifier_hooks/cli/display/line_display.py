"""A run in plain lines: the answer on one stream, everything about it on another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

from amplifier_core import events
from amplifier_core.coordinator import SessionCoordinator
from amplifier_hooks.cli.display.narration import (
    RunState,
    calls_tools,
    describe_event,
    describe_message,
    get_reply_text,
)
from amplifier_hooks.cli.text.fragments import Line, join_text
from amplifier_hooks.text.escape import make_readable


class LineDisplay:
    """The answer on standard output, everything about the run on standard error."""

    def __init__(self, answers: IO[str], notes: IO[str], *, verbose: bool = False) -> None:
        self.state = RunState()
        self.session_id: str | None = None
        self._answers = answers
        self._notes = notes
        self._verbose = verbose
        self._words = ""
        """What was shown of the reply that is being written."""
        self._at_line_start = True
        self._held: list[Line] | None = None

    def start(self) -> None:
        """Begin a turn."""
        self.state = RunState()
        self._words = ""

    def stop(self) -> None:
        """End a turn, and the answer with a newline."""
        self.state.end()
        self._end_line()

    @contextmanager
    def pause(self) -> Iterator[None]:
        """End the line, so that a question starts on a fresh one."""
        self._end_line()
        yield

    def show_outputs(self, coordinator: SessionCoordinator) -> None:
        """Do nothing: what tools print is in their results."""

    def watch_keys(self, on_escape: Callable[[], None]) -> None:
        """Do nothing: no keys are pressed here."""

    def pop_typed(self) -> str:
        """Nothing was typed."""
        return ""

    def show_reply(self, text: str) -> None:
        """Show the answer of a turn, unless these very words were shown as they came."""
        if text.strip() != self._words.strip():
            self._end_line()
            self._stream(text)

    def show_result(self, **facts: Any) -> None:
        """Show the figures of the turn."""
        self._add_note((("dim", self.state.summarize()),))

    def show_message(self, message: str, level: str, source: str = "hook") -> None:
        """Show a hook's message."""
        for line in describe_message(message, level, source):
            self._add_note(line)

    def show_event(self, event: str, data: Mapping[str, Any]) -> None:
        """Show text as it comes, and a line for what is worth one."""
        self.state.count(event, data)
        if not self._is_ours(event, data):
            return
        if event == events.PROVIDER_REQUEST:
            self._words = ""
        elif event == events.CONTENT_BLOCK_DELTA:
            self._stream(str(data.get("delta", "")))
        elif event == events.PROVIDER_RESPONSE and not self._words and calls_tools(data):
            self._stream(get_reply_text(data))  # an answer waits: hooks may withhold it
        for line in describe_event(event, data, verbose=self._verbose):
            self._add_note(line)

    def show_denied(self, event: str, data: Mapping[str, Any]) -> None:
        """Do nothing: the denial itself is shown."""

    def _is_ours(self, event: str, data: Mapping[str, Any]) -> bool:
        """Of sub-agents only the calls are shown, not the words."""
        if self.session_id is None:
            self.session_id = data.get("session_id")
        words = (events.CONTENT_BLOCK_DELTA, events.PROVIDER_RESPONSE, events.PROVIDER_REQUEST)
        return event not in words or data.get("session_id") == self.session_id

    def _stream(self, text: str) -> None:
        if text:
            self._words += text
            self._at_line_start = text.endswith("\n")
            self._answers.write(make_readable(text))
            self._answers.flush()

    def _end_line(self) -> None:
        if not self._at_line_start:
            self._answers.write("\n")
            self._answers.flush()
            self._at_line_start = True

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Keep messages back while a person types."""
        self._held = []
        try:
            yield
        finally:
            waiting = self._held
            self._held = None
            for line in waiting or ():
                self._add_note(line)

    def _add_note(self, line: Line) -> None:
        if self._held is None:
            self._print_note(line)
        else:
            self._held.append(line)

    def _print_note(self, line: Line) -> None:
        self._end_line()
        self._notes.write(join_text(line).rstrip() + "\n")
        self._notes.flush()
