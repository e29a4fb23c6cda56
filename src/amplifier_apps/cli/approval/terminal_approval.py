"""Asking the person at the terminal.

Listens to  the kernel, which hands in the final question
Answers     one of the options, or a refusal; ApprovalTimeout when nobody decided
Needs       the controlling terminal; without one it raises at once, and the kernel denies
"""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from amplifier_apps.cli.approval.choice import Choice
from amplifier_apps.cli.terminal import (
    DEVICE,
    NoTerminal,
    Terminal,
    controlling_terminal,
    output_on,
)
from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion, ApprovalTimeout
from amplifier_core.models import Decision

if TYPE_CHECKING:
    from prompt_toolkit.application import Application
    from prompt_toolkit.data_structures import Size
    from prompt_toolkit.filters import Filter
    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.key_binding import KeyBindings
    from prompt_toolkit.key_binding.key_processor import KeyPressEvent

    from amplifier_apps.cli.approval.question_view import QuestionState

# A person who is typing when the question appears must not have answered it.
SETTLING_SECONDS = 0.25
REFRESH_SECONDS = 0.2

STYLES = {
    "rule": "ansiyellow",
    "title": "ansiyellow bold",
    "time": "ansiyellow",
    "urgent": "ansired bold",
    "prompt": "bold",
    "label": "ansibrightblack",
    "dim": "ansibrightblack",
    "gutter": "ansibrightblack",
    "tool": "bold ansicyan",
    "target": "bold",
    "key": "ansicyan",
    "note": "ansiyellow",
    "comment": "italic",
    "escape": "reverse ansimagenta",
    "add": "ansigreen",
    "del": "ansired",
    "hunk": "ansicyan",
    "program": "bold ansigreen",
    "operator": "bold ansiyellow",
    "string": "ansicyan",
    "allow": "ansigreen",
    "refuse": "ansired",
}


class Pausable(Protocol):
    """A live display that lets go of the terminal for a while."""

    def paused(self) -> AbstractContextManager[None]: ...


def boot_clock() -> float:
    """Seconds that go on while the machine sleeps, so that a deadline does not wait for it."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class TerminalApproval:
    """The approval system of the command line: one question at a time, on the terminal itself."""

    def __init__(
        self,
        *,
        base: Path | None = None,
        display: Pausable | None = None,
        device: str = DEVICE,
        clock: Callable[[], float] = boot_clock,
        on_interrupt: Callable[[], None] | None = None,
    ) -> None:
        self._base = base or Path.cwd()
        self._display = display
        self._device = device
        self._clock = clock
        self._on_interrupt = on_interrupt
        self._turn = asyncio.Lock()
        self._waiting = 0

    async def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: Decision
    ) -> str:
        """The short form: a prompt and its options."""
        question = ApprovalQuestion(prompt, tuple(options), timeout, default, hook="")
        return (await self._ask(question, commentable=False)).option

    async def decide(self, question: ApprovalQuestion) -> ApprovalAnswer:
        """The whole question, with the final tool call."""
        return await self._ask(question, commentable=True)

    async def _ask(self, question: ApprovalQuestion, *, commentable: bool) -> ApprovalAnswer:
        """Wait for one's turn, then ask; the time runs while waiting, too."""
        deadline = self._clock() + _usable(question.timeout)
        try:
            with controlling_terminal(self._device):
                pass
        except NoTerminal as error:
            if question.default == "deny":
                raise
            # The kernel applies the default to an error; an answer nobody offered is a no.
            return ApprovalAnswer(str(error))
        self._waiting += 1
        try:
            async with asyncio.timeout(_delay(deadline - self._clock())):
                async with self._turn:
                    return await self._put(question, deadline, commentable)
        except TimeoutError as error:
            raise ApprovalTimeout(f"Nobody decided in {question.timeout:g} seconds.") from error
        finally:
            self._waiting -= 1

    async def _put(
        self, question: ApprovalQuestion, deadline: float, commentable: bool
    ) -> ApprovalAnswer:
        from amplifier_apps.cli.approval.question_view import content_width

        state = await asyncio.to_thread(_state_of, question, self._base, commentable)
        pause = self._display.paused() if self._display else nullcontext()
        with pause, controlling_terminal(self._device) as terminal:
            # Laying out a megabyte takes a moment; the loop goes on meanwhile.
            columns, _ = os.get_terminal_size(terminal.writing.fileno())
            await asyncio.to_thread(state.content, content_width(columns or 80))
            await self._run(terminal, state, deadline)
        if state.interrupted and self._on_interrupt:
            self._on_interrupt()
        if state.choice.decision is None or self._clock() >= deadline:
            raise TimeoutError
        return ApprovalAnswer(state.choice.decision, by=_user(), comment=state.comment or None)

    async def _run(self, terminal: Terminal, state: QuestionState, deadline: float) -> None:
        from prompt_toolkit.input.typeahead import clear_typeahead

        def remaining() -> float:
            return deadline - self._clock()

        state.waiting = self._waiting - 1
        application = _application(terminal, state, remaining)
        clear_typeahead(application.input)
        terminal.discard_typeahead()
        try:
            await application.run_async(handle_sigint=False, set_exception_handler=False)
        finally:
            # Keys after the decision belong to nobody: least of all to the next question.
            clear_typeahead(application.input)


def _usable(timeout: float) -> float:
    return 0.0 if math.isnan(timeout) else max(0.0, timeout)


def _delay(seconds: float) -> float | None:
    return None if math.isinf(seconds) else seconds


def _user() -> str:
    """The owner of this process: on a terminal that is who answers."""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid {os.getuid()}"


def _state_of(question: ApprovalQuestion, base: Path, commentable: bool) -> QuestionState:
    """Read files and lay the call out; slow for big inputs, so not on the event loop."""
    import prompt_toolkit.application  # takes half a second the first time
    import prompt_toolkit.output.vt100  # noqa: F401

    from amplifier_apps.cli.approval.preview import preview
    from amplifier_apps.cli.approval.question_view import QuestionState

    tool = question.tool_name
    view = preview(tool, question.tool_input, base) if tool else None
    return QuestionState(question, view, Choice.among(question.options), commentable)


def _application(
    terminal: Terminal, state: QuestionState, remaining: Callable[[], float]
) -> Application[None]:
    from prompt_toolkit.application import Application
    from prompt_toolkit.input.vt100 import Vt100Input
    from prompt_toolkit.layout import FormattedTextControl, Layout, Window
    from prompt_toolkit.styles import Style

    output = output_on(terminal.writing)

    def draw() -> StyleAndTextTuples:
        return _drawn(state, terminal, output.get_size(), remaining())

    control = FormattedTextControl(draw, show_cursor=False)
    application: Application[None] = Application(
        Layout(Window(control, dont_extend_height=True, always_hide_cursor=True)),
        key_bindings=_bindings(state),
        style=Style.from_dict(STYLES),
        refresh_interval=REFRESH_SECONDS,
        erase_when_done=True,
        input=Vt100Input(terminal.reading),
        output=output,
    )

    def check(_: object) -> None:
        state.shown_at = state.shown_at or time.monotonic()
        if remaining() <= 0 and application.is_running and not application.is_done:
            application.exit()

    application.after_render += check
    application.ttimeoutlen = 0.3  # over a slow line an arrow key arrives in pieces
    return application


def _drawn(
    state: QuestionState, terminal: Terminal, size: Size, remaining: float
) -> StyleAndTextTuples:
    from amplifier_apps.cli.approval.question_view import screen, to_ascii

    joined: StyleAndTextTuples = []
    for line in screen(state, size.columns, size.rows, remaining):
        joined += [*(to_ascii(line) if terminal.ascii_only else line), ("", "\n")]
    return joined[:-1]


def _bindings(state: QuestionState) -> KeyBindings:
    """Keys count once the question has been on the screen for a moment; Ctrl-C always does."""
    from prompt_toolkit.filters import Condition
    from prompt_toolkit.key_binding import KeyBindings

    keys = KeyBindings()

    @keys.add("c-c", eager=True)
    def _(event: KeyPressEvent) -> None:
        state.choice, state.interrupted = state.choice.refuse(), True
        event.app.exit()

    settled = Condition(lambda: time.monotonic() - (state.shown_at or math.inf) > SETTLING_SECONDS)
    commenting = Condition(lambda: state.commenting)
    _add_choosing(keys, state, settled & ~commenting)
    _add_commenting(keys, state, settled & commenting)
    return keys


def _add_choosing(keys: KeyBindings, state: QuestionState, when: Filter) -> None:
    def act(event: KeyPressEvent, choice: Choice) -> None:
        state.act(choice)
        if state.choice.decision is not None:
            event.app.exit()

    moves = {"up": -1, "down": 1, "s-tab": -1, "tab": 1}
    for key, step in moves.items():
        keys.add(key, filter=when)(lambda e, step=step: act(e, state.choice.move(step)))
    scrolls = {"pagedown": 1.0, "pageup": -1.0, " ": 1.0, "end": math.inf, "home": -math.inf}
    for key, pages in scrolls.items():
        keys.add(key, filter=when)(lambda _, pages=pages: state.scroll(pages))
    keys.add("enter", filter=when)(lambda e: act(e, state.choice.enter()))
    keys.add("escape", filter=when, eager=True)(lambda e: act(e, state.choice.refuse()))
    keys.add("v", filter=when)(lambda _: state.toggle_view())
    keys.add("c", filter=when)(lambda _: state.start_comment())
    for letter in {*"123456789", *state.choice.letters} - {""}:
        keys.add(letter, filter=when)(lambda e, k=letter: act(e, state.choice.press(k)))


def _add_commenting(keys: KeyBindings, state: QuestionState, when: Filter) -> None:
    from prompt_toolkit.keys import Keys

    keys.add(Keys.Any, filter=when)(lambda e: state.type(e.data))
    keys.add(Keys.BracketedPaste, filter=when)(lambda e: state.type(e.data))
    keys.add("backspace", filter=when)(lambda _: state.rub_out())
    keys.add("enter", filter=when)(lambda _: state.end_comment(keep=True))
    keys.add("escape", filter=when, eager=True)(lambda _: state.end_comment(keep=False))
