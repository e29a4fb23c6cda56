"""A question as a prompt_toolkit application: drawing it, and the keys that act on it."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Callable, Mapping
from functools import partial
from operator import methodcaller
from typing import TYPE_CHECKING

from amplifier_hooks.cli.approval.choice import Choice
from amplifier_hooks.cli.approval.question_state import Action, Edit, QuestionState, Scroll, Typed
from amplifier_hooks.cli.approval.question_view import Screen, draw_screen
from amplifier_hooks.cli.terminal import Terminal, make_output
from amplifier_hooks.cli.text.styles import STYLES, to_prompt_toolkit

if TYPE_CHECKING:
    from prompt_toolkit.application import Application
    from prompt_toolkit.filters import Filter
    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.key_binding import KeyBindings
    from prompt_toolkit.key_binding.key_processor import KeyPressEvent

REFRESH_SECONDS = 0.2
ESCAPE_SECONDS = 0.3  # over a slow line an arrow key arrives in pieces
POLLING_SECONDS = 0.5
TYPING_FACTOR = 3  # between two letters of a slow sentence more time passes than a glance takes

_CHOOSING: Mapping[str, Action] = {
    "pagedown": Scroll(1),
    " ": Scroll(1),
    "pageup": Scroll(-1),
    "home": Scroll(-math.inf),
    "end": Scroll(math.inf),
    "v": "switch view",
    "c": "start comment",
    "e": "start edit",
    "escape": "escape",
}
_MOVES = {"up": -1, "down": 1, "s-tab": -1, "tab": 1}
_COMMENTING: Mapping[str, Action] = {
    "backspace": "erase",
    "enter": "keep comment",
    "escape": "drop comment",
}
_EDITING: Mapping[str, Action] = {
    "left": Edit("left"),
    "right": Edit("right"),
    "home": Edit("home"),
    "end": Edit("end"),
    "c-a": Edit("home"),
    "c-e": Edit("end"),
    "backspace": Edit("before"),
    "delete": Edit("after"),
    "c-u": Edit("all before"),
    "enter": "run edited",
    "escape": "drop edit",
}


def make_application(
    terminal: Terminal,
    state: QuestionState,
    get_remaining: Callable[[], float],
    *,
    settling: float,
    escape_seconds: float = ESCAPE_SECONDS,
) -> Application[None]:
    """Runs until it is decided or out of time; keys count after `settling` seconds without one."""
    from prompt_toolkit.application import Application
    from prompt_toolkit.input.vt100 import Vt100Input
    from prompt_toolkit.layout import FormattedTextControl, Layout, Window
    from prompt_toolkit.styles import Style

    output = make_output(terminal.writing)
    drawing = _Drawing(state)

    def settle() -> None:
        state.act("settle")
        application.invalidate()

    quiet = _Quiet(settling, settle)

    def draw() -> StyleAndTextTuples:
        size = output.get_size()
        return drawing.draw(size.columns, size.rows, get_remaining())

    control = FormattedTextControl(draw, show_cursor=False)
    application: Application[None] = Application(
        Layout(Window(control, dont_extend_height=True, always_hide_cursor=True)),
        key_bindings=_make_bindings(state, quiet),
        style=Style.from_dict({name: to_prompt_toolkit(name) for name in STYLES}),
        refresh_interval=REFRESH_SECONDS,
        # A signal tells of a new size; asking as well would blank the question a second time.
        terminal_size_polling_interval=None if _gets_signals() else POLLING_SECONDS,
        erase_when_done=True,
        input=Vt100Input(terminal.reading),
        output=output,
    )

    def check(_: object) -> None:
        if drawing.confirm():
            quiet.start()
        if get_remaining() <= 0 and application.is_running and not application.is_done:
            application.exit()

    application.after_render += check
    application.ttimeoutlen = escape_seconds
    return application


def _gets_signals() -> bool:
    return threading.current_thread() is threading.main_thread()


class _Quiet:
    """Waits until nobody types any more; each key that comes too early prolongs it."""

    def __init__(self, seconds: float, on_quiet: Callable[[], None]) -> None:
        self._seconds, self._on_quiet = seconds, on_quiet
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """From now on: the time of a glance, or longer if a key comes within it."""
        self._wait(self._seconds)

    def prolong(self) -> None:
        """A key was pressed that cannot have been meant for the question."""
        self._wait(TYPING_FACTOR * self._seconds)

    def _wait(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._on_quiet)


class _Drawing:
    """Draws the state, and tells it what has really been on the screen."""

    def __init__(self, state: QuestionState) -> None:
        self._state = state
        self._screen: Screen | None = None
        self._is_confirmed = False

    def draw(self, columns: int, rows: int, remaining: float) -> StyleAndTextTuples:
        """The screen as prompt_toolkit takes it."""
        self._screen = draw_screen(self._state, columns, rows, remaining)
        fragments: StyleAndTextTuples = []
        for line in self._screen.lines:
            fragments += [(f"class:{style}" if style else "", text) for style, text in line]
            fragments.append(("", "\n"))
        return fragments[:-1]

    def confirm(self) -> bool:
        """The last drawing is on the terminal; returns whether it is the first."""
        is_first, self._is_confirmed = not self._is_confirmed, True
        if self._screen is not None:
            self._state.act(self._screen.view)
        return is_first


def _make_bindings(state: QuestionState, quiet: _Quiet) -> KeyBindings:
    """Keys count once the question has been on the screen for a moment; Ctrl-C always does."""
    from prompt_toolkit.filters import Condition
    from prompt_toolkit.key_binding import KeyBindings
    from prompt_toolkit.keys import Keys

    keys = KeyBindings()

    @keys.add("c-c", eager=True)
    def _(event: KeyPressEvent) -> None:
        state.act("interrupt")
        event.app.exit()

    settled = Condition(lambda: state.settled)
    commenting = Condition(lambda: state.commenting)
    editing = Condition(lambda: state.field is not None)
    keys.add(Keys.Any, filter=~settled)(lambda _: quiet.prolong())
    _bind_choosing(keys, state, settled & ~commenting & ~editing)
    _bind_typing(keys, state, settled & commenting, _COMMENTING)
    _bind_typing(keys, state, settled & editing, _EDITING)
    return keys


def _act(state: QuestionState, event: KeyPressEvent, action: Action) -> None:
    state.act(action)
    if state.is_over:
        event.app.exit()


def _bind_choosing(keys: KeyBindings, state: QuestionState, when: Filter) -> None:
    def choose(key: str, find: Callable[[Choice], Choice]) -> None:
        keys.add(key, filter=when)(lambda event: _act(state, event, find(state.choice)))

    for key, step in _MOVES.items():
        choose(key, methodcaller("move", step))
    choose("enter", Choice.enter)
    for key in {*"123456789", *state.choice.letters} - {""}:
        choose(key, methodcaller("press", key))
    _bind_actions(keys, state, when, _CHOOSING)


def _bind_typing(
    keys: KeyBindings, state: QuestionState, when: Filter, others: Mapping[str, Action]
) -> None:
    from prompt_toolkit.keys import Keys

    keys.add(Keys.Any, filter=when)(lambda e: state.act(Typed(e.data)))
    keys.add(Keys.BracketedPaste, filter=when)(lambda e: state.act(Typed(e.data)))
    _bind_actions(keys, state, when, others)


def _bind_actions(
    keys: KeyBindings, state: QuestionState, when: Filter, actions: Mapping[str, Action]
) -> None:
    for key, action in actions.items():
        eager = key == "escape"
        keys.add(key, filter=when, eager=eager)(partial(_act, state, action=action))
