"""A run in plain lines: the answer on one stream, everything about it on another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

from amplifier_apps.cli.display.narration import message_lines, narrate, readable, reply_text
from amplifier_apps.cli.display.run_state import RunState
from amplifier_apps.cli.text.fragments import Line, plain
from amplifier_core import events


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
