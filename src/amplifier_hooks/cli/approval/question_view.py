"""The screen of a question: what is asked, what would run, the options, the time left.

Pure: the state in, lines out. What does not fit is scrolled through.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from amplifier_core.approval import read_option
from amplifier_hooks.cli.approval.choice import Choice
from amplifier_hooks.cli.approval.question_content import EMPTY, get_label_room
from amplifier_hooks.cli.approval.question_state import QuestionState, View
from amplifier_hooks.cli.approval.question_words import describe_scope
from amplifier_hooks.cli.approval.text_field import TextField
from amplifier_hooks.cli.text.fragments import Line, join_text, wrap, wrap_words

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
    style = ("allow" if meaning.allows else "refuse") if selected else ""
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
