"""The output of a running tool, as it may be shown: its last lines, scrubbed and harmless."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from amplifier_hooks.agent.loops.held_text import HeldText
from amplifier_hooks.agent.tools.live_output import CAPABILITY
from amplifier_hooks.cli.text.escape import make_readable

KEPT_LINES = 10
MOST_CHARACTERS = 1_000_000
"""Of one call; looking for secrets in more would hold up the command."""
_LINE_LENGTH = 2_000
_ESCAPE_SEQUENCE = re.compile(
    r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])"
)


class ToolOutput:
    """Takes what a tool prints, stream by stream, and keeps the last lines."""

    def __init__(
        self,
        tool: str,
        about: str,
        open_held: Callable[[], HeldText],
        scrub: Callable[[str], str],
        on_close: Callable[[ToolOutput], None],
    ) -> None:
        self.tool = tool
        self.about = about
        self._open_held = open_held
        self._scrub = scrub
        self._on_close = on_close
        self._held: dict[str, HeldText] = {}
        self._open_lines: dict[str, str] = {}
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._left = MOST_CHARACTERS

    def feed(self, stream: str, text: str) -> None:
        """Take a piece of a stream; what may be the beginning of a secret waits."""
        if self._left <= 0:
            return
        self._left -= len(text)
        if self._left <= 0:
            self._open_lines.clear()
            self._lines.append("… more output than is shown while it runs")
            return
        if stream not in self._held:
            self._held[stream] = self._open_held()
        self._add(stream, self._held[stream].feed(text))

    def close(self) -> None:
        """The tool has ended."""
        if self._left > 0:
            for stream, held in self._held.items():
                self._add(stream, held.flush())
        self._on_close(self)

    def read_lines(self) -> list[str]:
        """The last lines, those being written included."""
        begun = [self._clean(line) for line in self._open_lines.values()]
        return [*self._lines, *filter(None, begun)][-KEPT_LINES:]

    def _add(self, stream: str, text: str) -> None:
        *whole, begun = (self._open_lines.get(stream, "") + text).split("\n")
        self._lines.extend(self._clean(line) for line in whole[-KEPT_LINES:])
        self._open_lines[stream] = begun[-_LINE_LENGTH:]

    def _clean(self, line: str) -> str:
        """A line as a terminal would leave it: without colours, overwritten from its start."""
        plain = _ESCAPE_SEQUENCE.sub("", self._scrub(line)).rstrip("\r").rpartition("\r")[2]
        return make_readable(plain[:_LINE_LENGTH]).rstrip()


class OutputDisplay(Protocol):
    """A display that shows the output of running tools."""

    def add_output(self, output: ToolOutput) -> None: ...
    def remove_output(self, output: ToolOutput) -> None: ...


def offer_output(coordinator: Any, display: OutputDisplay) -> None:
    """Let the tools of a session show their output on a display while they run."""

    def open_view(tool: str, about: str) -> ToolOutput:
        view = ToolOutput(
            tool,
            coordinator.scrub(about),
            lambda: HeldText(coordinator.trail.scrubbers),
            coordinator.scrub,
            display.remove_output,
        )
        display.add_output(view)
        return view

    coordinator.register_capability(CAPABILITY, open_view)
