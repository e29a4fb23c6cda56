"""A run on a terminal: the past scrolls by, the present stands below it."""

from __future__ import annotations

import asyncio
import io
import os
import pty
import re
import termios
from collections.abc import Iterator
from typing import Any

import pyte
import pytest
from rich.console import Console
from rich.theme import Theme

from amplifier_core import events
from amplifier_core.testing import TestCoordinator
from amplifier_hooks.agent.tools.live_output import CAPABILITY
from amplifier_hooks.cli.display import live_display
from amplifier_hooks.cli.display.live_display import (
    KEPT_LINES,
    MARKDOWN_STYLES,
    MOST_CHARACTERS,
    KeyWatch,
    LiveDisplay,
    ToolOutput,
    fit_call,
    make_console,
    offer_output,
    to_text,
)
from amplifier_hooks.cli.display.reply_text import make_reply
from amplifier_hooks.cli.text.output import STYLES
from amplifier_hooks.guards import redaction
from tests.hooks.cli.pty_program import python, run_in_pty
from tests.support.waiting import wait_until


class Keyboard:
    """A terminal whose other end types."""

    def __init__(self) -> None:
        self.ours, self.theirs = pty.openpty()
        self.name = os.ttyname(self.theirs)
        self.presses = 0

    def type(self, text: str) -> None:
        os.write(self.ours, text.encode())

    def count(self) -> None:
        self.presses += 1

    @property
    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self.theirs)[3] & termios.ECHO)


@pytest.fixture
def keyboard(monkeypatch: pytest.MonkeyPatch) -> Iterator[Keyboard]:
    """Taken for the terminal of this process, which it is not."""
    made = Keyboard()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("os.tcgetpgrp", lambda _: os.getpgrp())
    yield made
    os.close(made.ours)
    os.close(made.theirs)


async def test_escape_alone_is_heard(keyboard: Keyboard) -> None:
    """An arrow key begins with it and is none."""
    watch = KeyWatch(keyboard.count, keyboard.name)
    watch.start()
    keyboard.type("\x1b[Aab")
    await wait_until(lambda: watch._typed.endswith("ab"))
    keyboard.type("\x1b")
    await wait_until(lambda: keyboard.presses == 1)
    watch.stop()
    assert watch.pop_typed() == "ab"


async def test_what_was_typed_is_kept_as_text_and_handed_out_once(keyboard: Keyboard) -> None:
    """Corrections are made, lines are ended, keys without a letter are left out."""
    watch = KeyWatch(keyboard.count, keyboard.name)
    watch.start()
    keyboard.type("helo\x7flo\x1bOP\x0bü\r")
    await wait_until(lambda: watch._typed.endswith("\n"))
    watch.stop()
    assert watch.pop_typed() == "hello" + "ü\n"
    assert watch.pop_typed() == ""


async def test_the_terminal_is_left_as_it_was(keyboard: Keyboard) -> None:
    """While it is watched it shows nothing of what is typed; Ctrl-C stays a signal."""
    watch = KeyWatch(keyboard.count, keyboard.name)
    for _ in range(2):
        assert keyboard.echoes
        watch.start()
        assert not keyboard.echoes
        assert termios.tcgetattr(keyboard.theirs)[3] & termios.ISIG
        watch.stop()
    assert keyboard.echoes


async def test_without_a_terminal_nothing_is_watched() -> None:
    """And nothing breaks."""
    watch = KeyWatch(lambda: None, "/dev/null")
    watch.start()
    watch.stop()
    assert watch.pop_typed() == ""


async def test_an_escape_that_is_still_open_is_none_when_the_turn_ends(keyboard: Keyboard) -> None:
    """The next turn is not stopped by it."""
    watch = KeyWatch(keyboard.count, keyboard.name)
    watch.start()
    keyboard.type("\x1b")
    await wait_until(lambda: watch._waiting is not None)
    watch.stop()
    await asyncio.sleep(2 * live_display.PATIENCE)
    assert keyboard.presses == 0


KEY = "AKIA" + "IOSFODNN7EXAMPLE"


class Display:
    """Notes which outputs are shown."""

    def __init__(self) -> None:
        self.outputs: list[ToolOutput] = []

    def add_output(self, output: ToolOutput) -> None:
        self.outputs.append(output)

    def remove_output(self, output: ToolOutput) -> None:
        self.outputs.remove(output)


def open_output(coordinator: Any = None) -> tuple[ToolOutput, Display]:
    host, display = coordinator or TestCoordinator(), Display()
    offer_output(host, display)
    output = host.get_capability(CAPABILITY)("Bash", "make")
    assert display.outputs == [output]
    return output, display


def test_the_last_lines_are_kept() -> None:
    """Those being written included; closed, it is shown no more."""
    output, display = open_output()
    for number in range(50):
        output.feed("stdout", f"line {number}\n")
    output.feed("stderr", "and")
    assert output.read_lines() == [*(f"line {n}" for n in range(51 - KEPT_LINES, 50)), "and"]
    output.close()
    assert display.outputs == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("10%\r50%\r", "50%"),
        ("done\r\n", "done"),
        ("\x1b[31mred\x1b[0m \x1b]0;title\x07x", "red x"),
        ("\x1b[2Kbell\x07 \u202eevil", "bell\\u{7} \\u{202E}evil"),
    ],
)
def test_a_line_is_as_a_terminal_would_leave_it_and_harmless(text: str, shown: str) -> None:
    """Progress bars overwrite themselves, colours go, everything else is made visible."""
    output, _ = open_output()
    output.feed("stdout", text)
    assert output.read_lines() == [shown]


@pytest.mark.parametrize("cut", [5, 12])
async def test_no_piece_of_a_secret_is_shown(cut: int) -> None:
    """Not even its beginning, while another stream speaks."""
    coordinator = TestCoordinator()
    await redaction.mount(coordinator, None)
    output, _ = open_output(coordinator)
    output.feed("stdout", f"key {KEY[:cut]}")
    output.feed("stderr", "meanwhile\n")
    assert not any(KEY[:5] in line for line in output.read_lines())
    output.feed("stdout", f"{KEY[cut:]} end\n")
    output.close()
    (line,) = (line for line in output.read_lines() if "key" in line)
    assert line.endswith(" end")
    assert KEY[:5] not in line
    assert KEY[-5:] not in line


def test_a_scrubber_that_sees_whole_texts_only_is_heeded() -> None:
    """Line by line."""
    coordinator = TestCoordinator()
    coordinator.register_scrubber(lambda text: text.replace("hunter22", "***"))
    output, _ = open_output(coordinator)
    output.feed("stdout", "pass hunter")
    output.feed("stdout", "22\n")
    assert output.read_lines() == ["pass ***"]


def test_an_endless_output_costs_no_more_than_its_beginning() -> None:
    """It is said that more came than is shown."""
    output, _ = open_output()
    output.feed("stdout", "x" * 10_000_000)
    output.feed("stdout", "y\n")
    assert output.read_lines() == ["… more output than is shown while it runs"]
    output, _ = open_output()
    output.feed("stdout", "z" * (MOST_CHARACTERS - 1))
    assert len(output.read_lines()[0]) < 10_000


RUN = python("tests.hooks.cli.display.scripted_run")


@pytest.mark.parametrize(
    ("columns", "key", "outcome"), [(80, "a", "✓ allowed by"), (200, "d", "✗ refused by")]
)
def test_a_question_beside_the_live_display(columns: int, key: str, outcome: str) -> None:
    """The display goes while the question stands and comes back; no line is torn."""
    with run_in_pty(*RUN, columns=columns, rows=40) as program:
        lines = program.wait_for_question("Deploy now?")
        assert not any("thinking ·" in line for line in lines)
        program.press(key)
        assert program.wait_end() == 0
        lines = [line for line in program.lines() if line]
    assert lines[0] == "First I look around."
    assert lines[1] == "Then I work on it,"
    assert lines[2] == "! command-guard: looked at git status\\u{1B}[2K"
    assert lines[3] == "● Bash  git status  2 lines · 1.2 s"
    assert lines[4] == "✗ Bash  rm -rf /"
    assert lines[5] == "  denied by command-guard: this would delete everything below /"
    assert lines[6].startswith(outcome)
    assert lines[-2] == "All done: the tests are green\\u{202E} and nothing else changed."
    assert lines[-1].endswith("2,468 tokens · $0.0246")


def test_no_color_means_no_colour() -> None:
    """Neither in the display nor in the question; bold and reverse remain."""
    with run_in_pty(*RUN, rows=40, env={"NO_COLOR": "1"}) as program:
        program.wait_for_question("Deploy now?")
        program.press("d")
        program.wait_end()
    codes = set(b";".join(re.findall(rb"\x1b\[([0-9;]*)m", program.raw)).split(b";"))
    assert codes <= {b"", b"0", b"1", b"3", b"7"}


def make_display(width: int = 40) -> tuple[LiveDisplay, io.StringIO]:
    stream = io.StringIO()
    display = LiveDisplay(stream)
    display.console.width = width
    return display, stream


def test_text_is_shown_as_text() -> None:
    """No mark-up, no emoji codes, no links."""
    stream = io.StringIO()
    make_console(stream).print("[bold]x[/] :smile: http://a.b")
    assert stream.getvalue() == "[bold]x[/] :smile: http://a.b\n"


def test_a_line_keeps_its_styles() -> None:
    """Each piece its own; plain pieces none."""
    text = to_text((("good", "✓"), ("", " done")))
    assert text.plain == "✓ done"
    assert [(span.start, span.end, span.style) for span in text.spans if span.style] == [
        (0, 1, "good")
    ]


def test_a_call_takes_one_row_and_a_message_as_many_as_it_needs() -> None:
    """A long command is cut; what became of it, and what a hook has to say, is not."""
    display, stream = make_display(30)
    call = {"tool_name": "Bash", "tool_input": {"command": "x" * 100}, "success": True}
    display.show_event(events.TOOL_POST, call)
    display.show_message("a message of more than thirty columns", "info", "hook:h")
    call_row, *message = stream.getvalue().splitlines()
    assert call_row.endswith("x…  0.0 s")
    assert len(call_row) == 29
    assert message == ["· h: a message of more than ", "  thirty columns"]


@pytest.mark.parametrize("width", range(21, 60))
def test_a_wrapped_message_has_the_spaces_that_it_had(width: int) -> None:
    """None is added where a row ends, not even within a path that is longer than a row."""
    display, stream = make_display(width)
    path = "/a/path/of/more/than/sixty/characters/which/no/row/of/these/can/hold/x"
    display.show_message(f"one two three four {path} five six seven eight", "info", "amplifier")
    rows = stream.getvalue().splitlines()
    assert all(row.startswith("  ") for row in rows[1:])
    rest = "".join(row[2:] for row in rows)
    assert path in rest
    assert "  " not in rest


async def test_only_whole_lines_go_into_the_scrollback() -> None:
    """The line being written stays below, until it is ended."""
    display, stream = make_display()
    display.show_event(events.CONTENT_BLOCK_DELTA, {"delta": "one\ntw"})
    assert stream.getvalue() == "one\n"
    display.show_event(events.CONTENT_BLOCK_DELTA, {"delta": "o"})
    display.stop()
    assert stream.getvalue() == "one\ntwo\n"


async def test_the_state_comes_and_goes_with_the_turn() -> None:
    """It stands below while the turn runs, is gone during a pause, and leaves nothing behind."""
    stream = io.StringIO()
    display = LiveDisplay(stream)
    display.console = Console(file=stream, theme=Theme(STYLES), force_terminal=True, width=40)
    display.start()
    assert "starting ·" in draw(stream)
    with display.pause():
        assert draw(stream) == ""
    assert "starting ·" in draw(stream)
    display.stop()
    assert draw(stream) == ""
    with display.pause():
        pass
    assert draw(stream) == ""


def open_terminal_display(height: int = 10) -> tuple[LiveDisplay, io.StringIO]:
    stream = io.StringIO()
    display = LiveDisplay(stream)
    display.console = Console(
        file=stream,
        theme=Theme({**STYLES, **MARKDOWN_STYLES}),
        force_terminal=True,
        width=40,
        height=height,
    )
    display._reply = make_reply(display.console)
    return display, stream


async def test_a_reply_is_rendered_as_it_comes() -> None:
    """The block being written stands above the state, and nothing is there twice."""
    display, stream = open_terminal_display()
    display.start()
    for piece in ("# Pl", "an\n\n- on", "e\n- two"):
        display.show_event(events.CONTENT_BLOCK_DELTA, {"delta": piece})
    display._tick()
    screen = draw(stream).split("\n")
    assert [line.rstrip() for line in screen[:4]] == ["Plan", "", " • one", " • two"]
    assert "answering" in screen[4]
    display.show_message("careful", "warning", "hook:h")
    display.stop()
    assert [line.rstrip() for line in draw(stream).split("\n")] == [
        "Plan",
        "! h: careful",
        "",
        " • one",
        " • two",
    ]


async def test_the_output_of_a_tool_is_shown_while_it_runs() -> None:
    """Below what has happened: its last lines, cut to the width; afterwards it is gone."""
    display, stream = open_terminal_display()
    coordinator = TestCoordinator()
    display.show_outputs(coordinator)
    display.start()
    output = coordinator.get_capability(CAPABILITY)("Bash", "make all")
    for number in range(7):
        output.feed("stdout", f"step {number} {'x' * 50}\n")
    display._tick()
    lines = draw(stream).split("\n")
    assert lines[0].rstrip() == "▸ Bash  make all"
    assert [line[:10] for line in lines[1:6]] == [f"  │ step {n}" for n in range(2, 7)]
    assert all(line.rstrip().endswith("x…") for line in lines[1:6])
    output.close()
    display.stop()
    assert draw(stream) == ""


async def test_of_a_tool_that_was_stopped_the_output_stays() -> None:
    """With the call that it belongs to."""
    display, stream = open_terminal_display()
    coordinator = TestCoordinator()
    display.show_outputs(coordinator)
    display.start()
    output = coordinator.get_capability(CAPABILITY)("Bash", "make")
    output.feed("stdout", "half")
    display.state.stop()
    output.close()
    display.stop()
    lines = [line.rstrip() for line in draw(stream).split("\n")]
    assert lines == ["✗ Bash  make  stopped", "  │ half"]


async def test_what_is_being_written_never_fills_more_than_the_screen() -> None:
    """What could not be taken back would stay there for ever."""
    display, stream = open_terminal_display(height=10)
    coordinator = TestCoordinator()
    display.show_outputs(coordinator)
    display.start()
    for number in range(8):
        coordinator.get_capability(CAPABILITY)("Bash", f"call {number}").feed("stdout", "a\nb\nc\n")
    display._tick()
    display._tick()
    display._outputs.clear()
    display.stop()
    assert draw(stream) == ""


def test_the_line_of_a_call_is_cut_where_it_is_longest() -> None:
    """Wide characters count twice."""
    line = (("good", "● "), ("tool", "Bash"), ("", "  漢字漢字漢字漢字"), ("dim", "  1.0 s"))
    fitted = fit_call(line, 20)
    assert "".join(text for _, text in fitted) == "● Bash  漢字…  1.0 s"
    assert fit_call(line, 80) == line


def draw(stream: io.StringIO) -> str:
    """The screen after all that was written."""
    screen = pyte.Screen(40, 10)
    pyte.Stream(screen).feed(stream.getvalue().replace("\n", "\r\n"))
    return "\n".join(screen.display).strip()
