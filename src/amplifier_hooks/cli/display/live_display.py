"""A run on a terminal: the past scrolls by, the present stands below it."""

from __future__ import annotations

import asyncio
import codecs
import os
import re
import termios
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import IO, Any, Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.style import Style
from rich.text import Text
from rich.theme import Theme

from amplifier_core import events
from amplifier_core.coordinator import SessionCoordinator
from amplifier_hooks.agent.loops.streaming import HeldText
from amplifier_hooks.agent.tools.live_output import CAPABILITY
from amplifier_hooks.cli.display.line_display import LineDisplay
from amplifier_hooks.cli.display.reply_text import Rows, make_reply
from amplifier_hooks.cli.terminal import DEVICE, NoTerminal, open_terminal
from amplifier_hooks.cli.text.fragments import Line, count_cells, cut_end
from amplifier_hooks.cli.text.output import STYLES
from amplifier_hooks.text.escape import escape, get_first_line, make_readable

ESCAPE = "\x1b"
PATIENCE = 0.1
"""Seconds in which the rest of an arrow key or a paste follows its Esc."""
_MOST_TYPED = 100_000
_RUBOUT = "\b\x7f"
_SEQUENCE = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|O[A-Z]|.)")  # arrows, function keys, Alt


class KeyWatch:
    """Reads the terminal between `start` and `stop`, without showing what is typed."""

    def __init__(self, on_escape: Callable[[], None], device: str = DEVICE) -> None:
        self._on_escape = on_escape
        self._device = device
        self._typed = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="ignore")
        self._waiting: asyncio.TimerHandle | None = None
        self._stack = ExitStack()

    def start(self) -> None:
        """Begin to read; where there is no terminal of ours, nothing is watched."""
        self.stop()
        stack = ExitStack()
        with suppress(NoTerminal, termios.error, OSError, RuntimeError):
            loop = asyncio.get_running_loop()
            descriptor = stack.enter_context(open_terminal(self._device)).reading.fileno()
            before = termios.tcgetattr(descriptor)
            quiet = termios.tcgetattr(descriptor)
            quiet[3] &= ~(termios.ICANON | termios.ECHO)  # Ctrl-C stays a signal
            termios.tcsetattr(descriptor, termios.TCSANOW, quiet)
            stack.callback(termios.tcsetattr, descriptor, termios.TCSANOW, before)
            loop.add_reader(descriptor, self._read, descriptor)
            stack.callback(loop.remove_reader, descriptor)
            self._stack = stack.pop_all()
        stack.close()

    def stop(self) -> None:
        """Leave the terminal as it was."""
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        with suppress(termios.error, OSError):
            self._stack.close()
        self._stack = ExitStack()

    def pop_typed(self) -> str:
        """The text that was typed meanwhile; it is handed out once."""
        typed = _SEQUENCE.sub("", self._typed)
        self._typed = ""
        kept: list[str] = []
        for character in typed.replace("\r", "\n"):
            if character in _RUBOUT:
                del kept[-1:]
            elif character == "\n" or character.isprintable():
                kept.append(character)
        return "".join(kept)

    def _read(self, descriptor: int) -> None:
        try:
            data = os.read(descriptor, 4_096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:  # the terminal has gone
            self.stop()
            return
        self._take(self._decoder.decode(data))

    def _take(self, text: str) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        self._typed = (self._typed + text)[:_MOST_TYPED]
        if self._typed.endswith(ESCAPE):
            loop = asyncio.get_running_loop()
            self._waiting = loop.call_later(PATIENCE, self._escape)

    def _escape(self) -> None:
        """Nothing followed: it was the key itself."""
        self._waiting = None
        self._typed = self._typed.removesuffix(ESCAPE)
        self._on_escape()


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

    def pop_typed(self) -> str:
        """What was typed while a turn ran."""
        return "" if self._keys is None else self._keys.pop_typed()

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
