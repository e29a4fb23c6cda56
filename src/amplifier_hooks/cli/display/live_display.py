"""A run on a terminal: the past scrolls by, the present stands below it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import IO, Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.style import Style
from rich.text import Text
from rich.theme import Theme

from amplifier_core import events
from amplifier_core.coordinator import SessionCoordinator
from amplifier_hooks.cli.display.key_watch import KeyWatch
from amplifier_hooks.cli.display.line_display import LineDisplay
from amplifier_hooks.cli.display.reply_text import Rows, make_reply
from amplifier_hooks.cli.display.tool_output import ToolOutput, offer_output
from amplifier_hooks.cli.text.cells import count_cells, cut_end
from amplifier_hooks.cli.text.escape import escape, get_first_line, make_readable
from amplifier_hooks.cli.text.fragments import Line
from amplifier_hooks.cli.text.styles import STYLES

TICK_SECONDS = 0.125
OUTPUT_ROWS = 5
"""Rows that the output of one running tool takes."""

_WRITING = frozenset(
    {events.CONTENT_BLOCK_START, events.CONTENT_BLOCK_DELTA, events.THINKING_DELTA}
)

MARKDOWN_STYLES = {
    "markdown.h1": "bold underline",
    "markdown.h2": "bold underline",
    "markdown.h3": "bold",
    "markdown.h4": "bold",
    "markdown.h5": "bold",
    "markdown.h6": "bold",
    "markdown.code": STYLES["note"],
    "markdown.code_block": STYLES["note"],
    "markdown.block_quote": "italic",
    "markdown.link": "underline",
    "markdown.link_url": STYLES["note"],
    "markdown.item.bullet": STYLES["tool"],
    "markdown.item.number": STYLES["tool"],
    "markdown.hr": "bright_black",
}


def make_console(stream: IO[str]) -> Console:
    """A console that treats text as text: no mark-up, no emoji codes, no guessing of links."""
    return Console(
        file=stream,
        theme=Theme({**STYLES, **MARKDOWN_STYLES}),
        markup=False,
        emoji=False,
        highlight=False,
        soft_wrap=True,
    )


def to_text(line: Line) -> Text:
    """A line with its styles."""
    text = Text()
    for style, part in line:
        text.append(part, style=style or Style.null())
    return text


class LiveDisplay(LineDisplay):
    """Prints what is complete into the scrollback; what is being written stays below, with the
    output of running tools and the state."""

    def __init__(self, stream: IO[str], *, verbose: bool = False) -> None:
        super().__init__(stream, stream, verbose=verbose)
        self.console = make_console(stream)
        self._keys: KeyWatch | None = None
        self._reply = make_reply(self.console)
        self._after_note = False
        self._outputs: list[ToolOutput] = []
        has_dots = self.console.encoding.startswith("utf")
        self._spinner = Spinner("dots" if has_dots else "line", style="dim")
        self._live: Live | None = None
        self._next_tick: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin a turn: show the state."""
        super().start()
        self._open()

    def stop(self) -> None:
        """End a turn: the state goes, the answer stays."""
        self.state.end()
        self._reply.flush()
        self._close()

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Release the terminal, and take it back with a new live part."""
        was_live = self._live is not None
        self._reply.flush()
        self._close()
        try:
            yield
        finally:
            if was_live:
                self._open()

    def show_event(self, event: str, data: Mapping[str, Any]) -> None:
        """Show text as it comes, and a line for what is worth one."""
        if event in _WRITING:
            super().show_event(event, data)
            return
        self._reply.flush()
        super().show_event(event, data)
        self._reply.flush()

    def show_outputs(self, coordinator: SessionCoordinator) -> None:
        """Show what the tools of a session print while they run."""
        offer_output(coordinator, self)

    def watch_keys(self, on_escape: Callable[[], None]) -> None:
        """Read the keyboard while a turn runs."""
        self._keys = KeyWatch(on_escape)

    def take_typed(self) -> str:
        """What was typed while a turn ran."""
        return "" if self._keys is None else self._keys.take_typed()

    def add_output(self, output: ToolOutput) -> None:
        """Show the output of a tool while it runs."""
        self._outputs.append(output)

    def remove_output(self, output: ToolOutput) -> None:
        """The tool has ended; of one that was stopped, what it had printed stays."""
        self._outputs.remove(output)
        if self.state.stopping:
            self._add_note((("bad", "✗ "), *_describe_call(output), ("dim", "  stopped")))
            for line in output.read_lines():
                self._add_note((("dim", f"  │ {line}"), ("tool", "")))

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
        if self._keys is not None:
            self._keys.start()
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
        if self._keys is not None:
            self._keys.stop()
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _render_state(self) -> RenderableType:
        """Nothing here is wider than the screen: a row that wraps could not be taken back."""
        doing = get_first_line(self.state.doing, 60)
        stop = " · Esc stops" if self._keys is not None and not self.state.stopping else ""
        state = f"{doing} · {self.state.summarize()}{stop}"
        self._spinner.text = self._cut(Text(state, style="dim"))
        shown: list[RenderableType] = [Rows(self._reply.draw())]
        for output in self._outputs:
            shown.append(self._cut(to_text((("note", "▸ "), *_describe_call(output)))))
            rows = output.read_lines()[-OUTPUT_ROWS:]
            shown += [self._cut(Text(f"  │ {row}", style="dim")) for row in rows]
        room = max(1, self.console.height - 2)
        return Group(*shown[-room:], self._spinner)

    def _cut(self, text: Text) -> Text:
        """With room for a spinner, or for the three dots that are an ellipsis in ASCII."""
        text.truncate(max(1, self.console.width - 3), overflow="ellipsis")
        return text

    def _stream(self, text: str) -> None:
        if not text:
            return
        self._words += text
        if self._after_note and not self._reply.is_begun:
            self._after_note = False
            self.console.print("")
        self._reply.feed(make_readable(text))

    def _end_line(self) -> None:
        self._reply.flush()

    def _print_note(self, line: Line) -> None:
        self._after_note = True
        for row in self._wrap_note(line):
            self.console.print(row)

    def _wrap_note(self, line: Line) -> Iterator[Text]:
        """A call is cut to one row; a message is wrapped under itself."""
        width = max(20, self.console.width - 1)
        if any(style == "tool" for style, _ in line):
            yield to_text(fit_call(line, width))
            return
        text = to_text(line)
        first = next(iter(text.wrap(self.console, width)), text)
        yield first
        begin = len(text) - len(text.plain[len(first) :].lstrip(" "))
        for row in text[begin:].wrap(self.console, width - 2) if begin < len(text) else []:
            yield Text("  ").append_text(row)


def fit_call(line: Line, width: int) -> Line:
    """The line of a call in so many cells: what it is about is cut, what became of it is not."""
    over = sum(count_cells(text) for _, text in line) - width
    if over <= 0:
        return line
    place = max(range(len(line)), key=lambda one: count_cells(line[one][1]))
    style, text = line[place]
    return (
        *line[:place],
        (style, cut_end(text, max(1, count_cells(text) - over))),
        *line[place + 1 :],
    )


def _describe_call(output: ToolOutput) -> Line:
    return (("tool", escape(output.tool)), ("", f"  {get_first_line(output.about)}"))
