"""A run on a terminal: the past scrolls by, the present stands below it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.style import Style
from rich.text import Text
from rich.theme import Theme

from amplifier_apps.cli.display.line_display import LineDisplay
from amplifier_apps.cli.text.escape import get_first_line, make_readable
from amplifier_apps.cli.text.fragments import Line
from amplifier_apps.cli.text.styles import STYLES

TICK_SECONDS = 0.125


def make_console(stream: IO[str]) -> Console:
    """A console that treats text as text: no mark-up, no emoji codes, no guessing of links."""
    return Console(
        file=stream, theme=Theme(STYLES), markup=False, emoji=False, highlight=False, soft_wrap=True
    )


def to_text(line: Line) -> Text:
    """A line with its styles."""
    text = Text()
    for style, part in line:
        text.append(part, style=style or Style.null())
    return text


class LiveDisplay(LineDisplay):
    """Streams whole lines into the scrollback; the line being written and the state stay below."""

    def __init__(self, stream: IO[str], *, verbose: bool = False) -> None:
        super().__init__(stream, stream, verbose=verbose)
        self.console = make_console(stream)
        self._pending = ""
        self._after_note = False
        self._live: Live | None = None
        self._next_tick: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin a turn: show the state."""
        super().start()
        self._open()

    def stop(self) -> None:
        """End a turn: the state goes, the answer stays."""
        self.state.end()
        self._flush()
        self._close()

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Release the terminal, and take it back with a new live part."""
        was_live = self._live is not None
        self._flush()
        self._close()
        try:
            yield
        finally:
            if was_live:
                self._open()

    def show_result(self, **facts: Any) -> None:
        """Show the figures of the turn."""
        self._add_note((("dim", self.state.summarize()),))

    def _open(self) -> None:
        self._live = Live(
            console=self.console,
            get_renderable=self._render_state,
            transient=True,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start(refresh=True)
        self._tick()

    def _tick(self) -> None:
        """Keep time on the loop's own thread: rich's would race with what is being printed."""
        if self._live is None:
            return
        self._live.refresh()
        with suppress(RuntimeError):
            self._next_tick = asyncio.get_running_loop().call_later(TICK_SECONDS, self._tick)

    def _close(self) -> None:
        if self._next_tick is not None:
            self._next_tick.cancel()
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _render_state(self) -> RenderableType:
        line = f"{get_first_line(self.state.doing, 60)} · {self.state.summarize()}"
        state = Spinner("dots", text=Text(line, style="dim"), style="dim")
        return Group(Text(self._pending), state) if self._pending else state

    def _stream(self, text: str) -> None:
        if not text:
            return
        self._streamed = True
        if self._after_note:
            self._after_note = False
            self.console.print("")
        *whole, self._pending = (self._pending + make_readable(text)).split("\n")
        if whole:
            self.console.print(Text("\n".join(whole)), soft_wrap=False)

    def _end_line(self) -> None:
        self._flush()

    def _flush(self) -> None:
        if self._pending:
            pending, self._pending = self._pending, ""
            self.console.print(Text(pending.rstrip()), soft_wrap=False)

    def _print_note(self, line: Line) -> None:
        self._flush()
        self._after_note = True
        for row in self._wrap_note(line):
            self.console.print(row)

    def _wrap_note(self, line: Line) -> Iterator[Text]:
        """A call is cut to one row; a message is wrapped under itself."""
        text, width = to_text(line), max(20, self.console.width - 1)
        if any(style == "tool" for style, _ in line):
            text.truncate(width, overflow="ellipsis")
            yield text
            return
        first, *rest = text.wrap(self.console, width) or [text]
        yield first
        for row in Text(" ").join(rest).wrap(self.console, width - 2) if rest else []:
            yield Text("  ").append_text(row)
