"""A question as a prompt_toolkit application: drawing it, and the keys that act on it."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from operator import methodcaller
from typing import TYPE_CHECKING

from amplifier_core.approval import read_option
from amplifier_hooks.cli.approval.choice import Choice
from amplifier_hooks.cli.approval.editor import TextField
from amplifier_hooks.cli.approval.question import (
    EMPTY,
    Action,
    Edit,
    QuestionState,
    Scroll,
    Typed,
    View,
    describe_scope,
    get_label_room,
)
from amplifier_hooks.cli.terminal import Terminal, make_output
from amplifier_hooks.cli.text.fragments import Line, join_text, wrap, wrap_words
from amplifier_hooks.cli.text.output import STYLES, to_prompt_toolkit

if TYPE_CHECKING:
    from prompt_toolkit.application import Application
    from prompt_toolkit.filters import Filter
    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.key_binding import KeyBindings
    from prompt_toolkit.key_binding.key_processor import KeyPressEvent


OPTION_ROWS = 6
TITLE = "Approval needed"
URGENT_SECONDS = 10

_SCOPE_INDENT = 5
_EDIT_INDENT = 5

_ASCII_SIGNS = str.maketrans(
    {"│": "|", "╎": ":", "─": "-", "›": ">", "·": "-", "↑": "^", "↓": "v", "…": "~"}
)


@dataclass(frozen=True, slots=True)
class Screen:
    """Everything on the terminal, and the part of the content that is on it."""

    lines: list[Line]
    view: View


def draw_screen(state: QuestionState, columns: int, rows: int, remaining: float) -> Screen:
    """At most `rows` lines of at most `columns` cells."""
    width = get_content_width(columns)
    foot = [*_draw_options(state, width), _dim(""), *_draw_help(state, width)]
    content = state.content.lay_out(width, exact=state.exact)
    room = max(1, rows - len(foot) - 2)
    view = View(max(0, min(state.top, len(content) - room)), room, len(content))
    head = _draw_head(state, view, width, remaining)
    lines = [head, *content[view.top : view.bottom], EMPTY, *foot][:rows]
    if state.content.ascii_only:
        lines = [_use_ascii_signs(line) for line in lines]
    return Screen(lines, view)


def get_content_width(columns: int) -> int:
    """The cells of a row: one less than the terminal has, so that it never wraps by itself."""
    return max(20, columns - 1)


def format_countdown(remaining: float) -> str:
    """Minutes and seconds, rounded up so that 0:00 means over."""
    if math.isinf(remaining):
        return "no time limit"
    seconds = max(0, math.ceil(remaining))
    hours, rest = divmod(seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _use_ascii_signs(line: Line) -> Line:
    """Our own signs for a terminal that has only ASCII; foreign text has been escaped."""
    return tuple((style, text.translate(_ASCII_SIGNS)) for style, text in line)


def _draw_head(state: QuestionState, view: View, width: int, remaining: float) -> Line:
    outcome = "Allows" if state.content.question.default == "allow" else "Denies"
    limit = format_countdown(remaining)
    left = limit if math.isinf(remaining) else f"{outcome} in {limit}"
    more = f"{state.waiting} more waiting" if state.waiting else ""
    right = _join_fitting([_format_position(view), more, left], width - len(TITLE) - 9)
    rule = "─" * max(2, width - len(TITLE) - len(right) - 7)
    style = "urgent" if remaining <= URGENT_SECONDS else "time"
    return (
        ("rule", "── "),
        ("question", TITLE),
        ("rule", f" {rule} "),
        (style, right),
        ("rule", " ─"),
    )


def _format_position(view: View) -> str:
    return "" if view.total <= view.rows else f"{min(view.bottom, view.total)}/{view.total} lines"


def _join_fitting(parts: list[str], room: int) -> str:
    """As many of the parts as there is room for; the last matters most."""
    kept = [part for part in parts if part]
    while len(kept) > 1 and len(" · ".join(kept)) > room:
        kept.pop(0)
    return " · ".join(kept)


def _draw_options(state: QuestionState, width: int) -> list[Line]:
    choice = state.choice
    first = max(0, min(choice.selected - OPTION_ROWS // 2, len(choice.rows) - OPTION_ROWS))
    shown = range(first, min(first + OPTION_ROWS, len(choice.rows)))
    room = get_label_room(width)
    labels = {i: _cut(state.content.escape_line(choice.rows[i]), room) for i in shown}
    widest = max(_count_cells(label) for label in labels.values())
    rows: list[Line] = []
    for index in shown:
        row = _draw_option(choice, index, labels[index], widest)
        rows += _add_scope(row, describe_scope(choice.rows[index], state.content.question), width)
    return rows


def _add_scope(row: Line, scope: str, width: int) -> list[Line]:
    """What the option covers: beside its keys, or under it where there is no room."""
    if not scope:
        return [row]
    beside: Line = (*row, ("dim", f" · {scope}"))
    if _count_cells(beside) <= width:
        return [beside]
    below = wrap_words((("dim", scope),), max(8, width - _SCOPE_INDENT))
    return [row, *((("", " " * _SCOPE_INDENT), *line) for line in below)]


def _draw_option(choice: Choice, index: int, label: Line, widest: int) -> Line:
    selected = index == choice.selected
    meaning = read_option(choice.rows[index])
    style = ""
    if selected:
        style = "allow" if meaning.allows else "refuse"
    letter = choice.letters[index]
    keys = f"{letter}, then Enter" if meaning.remembered else letter
    padding = " " * (widest - _count_cells(label) + 3)
    number = f"{index + 1}." if index < 9 else "  "
    return (
        (style, "› " if selected else "  "),
        ("dim", f"{number} "),
        *((own_style or style, text) for own_style, text in label),
        ("dim", f"{padding}{keys}" if letter else ""),
    )


def _count_cells(line: Line) -> int:
    from prompt_toolkit.utils import get_cwidth

    return get_cwidth(join_text(line))


def _cut(line: Line, width: int) -> Line:
    """The line's start; the whole is in the content when this is not all of it."""
    first = wrap(line, width)
    return line if len(first) == 1 else (*wrap(line, width - 1)[0], ("dim", "…"))


def _draw_help(state: QuestionState, width: int) -> list[Line]:
    if state.field is not None:
        return _draw_edit_field(state, state.field, width)
    if state.commenting:
        return _draw_comment_field(state, width)
    lines: list[Line] = []
    if state.comment:
        lines += state.content.label("Comment", state.comment, width, "comment")[:2]
    if state.hint:
        lines += wrap_words((("warn", state.hint),), width)
    keys = _draw_flow(_list_keys(state), width)
    # Keys are shown from the moment they count; their room is kept free until then.
    return [*lines, *(keys if state.settled else [EMPTY] * len(keys))]


def _draw_comment_field(state: QuestionState, width: int) -> list[Line]:
    rows = state.content.label("Comment", state.comment + " ", width, "comment")[-3:]
    return [*rows, *_draw_flow(["Enter keeps it", "Esc drops it"], width)]


def _draw_edit_field(state: QuestionState, field: TextField, width: int) -> list[Line]:
    """The command with its cursor; there is room for all of it, or it would not be edited here."""
    before, under, after = field.parts
    escape_line = state.content.escape_line
    line = (
        *escape_line(before),
        *(("cursor", text) for _, text in escape_line(under or " ")),
        *escape_line(after),
    )
    rows = wrap(line, max(8, width - _EDIT_INDENT))
    labels = ["Run".ljust(_EDIT_INDENT), *[" " * _EDIT_INDENT] * (len(rows) - 1)]
    hint = wrap_words((("warn", state.hint),), width) if state.hint else []
    drawn: list[Line] = [(("label", name), *row) for name, row in zip(labels, rows, strict=True)]
    return [*drawn, *hint, *_draw_flow(["Enter runs this instead", "Esc goes back"], width)]


def _list_keys(state: QuestionState) -> list[str]:
    keys = ["↑↓ choose", "Enter decide"]
    if not state.seen_to_end:
        keys.append("Space next page")
    if state.commentable:
        keys.append("c comment")
    if state.editable is not None:
        keys.append("e edit")
    if state.content.preview is not None:
        keys.append("v readable view" if state.exact else "v exact input")
    return [*keys, "Esc Esc refuse"]


def _draw_flow(items: list[str], width: int) -> list[Line]:
    """Short items side by side, on as many lines as they need."""
    rows = [""]
    for item in items:
        joined = f"{rows[-1]} · {item}" if rows[-1] else item
        if len(joined) > width and rows[-1]:
            rows.append(item)
        else:
            rows[-1] = joined
    return [_dim(row) for row in rows]


def _dim(text: str) -> Line:
    return (("dim", text),)


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
        self._seconds = seconds
        self._on_quiet = on_quiet
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
        is_first = not self._is_confirmed
        self._is_confirmed = True
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
