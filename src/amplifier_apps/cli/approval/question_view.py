"""The screen of an approval question: what is asked, what would run, the options, the time left.

Pure: the state in, lines out. What does not fit is scrolled through, and nothing can be allowed
before its end was on the screen.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field

from amplifier_apps.cli.approval.choice import Choice, allows, for_ever
from amplifier_apps.cli.approval.preview import Preview, exact
from amplifier_apps.cli.text.fragments import (
    Fragment,
    Line,
    boxed,
    one_line,
    plain,
    styled,
    wrap,
    wrap_words,
)
from amplifier_core.approval import ApprovalQuestion

OPTION_ROWS = 6
COMMENT_LIMIT = 2_000
READ_FIRST = "Read to the end first: Space for the next page, End for the last."

_ASCII = str.maketrans(
    {"│": "|", "╎": ":", "─": "-", "›": ">", "·": "-", "↑": "^", "↓": "v", "…": "~", "⇥": ">"}
)


@dataclass(slots=True)
class QuestionState:
    """What the person has done so far."""

    question: ApprovalQuestion
    preview: Preview | None
    choice: Choice
    commentable: bool = True
    comment: str = ""
    commenting: bool = False
    exact: bool = False
    top: int = 0
    seen_to_end: bool = False
    hint: str = ""
    waiting: int = 0
    page: int = 1
    shown_at: float | None = None
    interrupted: bool = False
    _rows: dict[tuple[int, bool], list[Line]] = field(default_factory=dict)

    def content(self, width: int) -> list[Line]:
        """The rows of the scrolling part, kept per width."""
        key = (width, self.exact)
        if key not in self._rows:
            self._rows[key] = _content(self, width)
        return self._rows[key]

    def scroll(self, pages: float) -> None:
        """Move the window over the content; the next drawing keeps it inside."""
        self.hint = ""
        if math.isinf(pages):
            self.top = 0 if pages < 0 else sys.maxsize
        else:
            self.top = max(0, self.top + int(pages * self.page))

    def start_comment(self) -> None:
        """The next keys are words for the agent."""
        self.commenting = self.commentable

    def type(self, text: str) -> None:
        """More of the comment, up to its limit."""
        breaks = text.replace("\r\n", "\n").replace("\r", "\n")
        clean = "".join(ch for ch in breaks if ch.isprintable() or ch == "\n")
        self.comment = (self.comment + clean)[:COMMENT_LIMIT]

    def rub_out(self) -> None:
        """One character less."""
        self.comment = self.comment[:-1]

    def end_comment(self, *, keep: bool) -> None:
        """Back to choosing."""
        self.commenting = False
        self.comment = self.comment.strip() if keep else ""

    def toggle_view(self) -> None:
        """Between the readable view and the exact input."""
        self.exact = not self.exact
        self.top = 0

    def act(self, choice: Choice) -> None:
        """Take a new choice, unless it allows what has not been read."""
        self.hint = ""
        decided = choice.decision
        if decided is not None and allows(decided) and not self.seen_to_end:
            self.hint = READ_FIRST
            return
        self.choice = choice


def screen(state: QuestionState, columns: int, rows: int, remaining: float) -> list[Line]:
    """Everything on the terminal, at most `rows` lines of at most `columns` cells."""
    width = content_width(columns)
    foot = [*_options(state, width), _dim(""), *_help(state, width)]
    content = state.content(width)
    room = max(1, rows - len(foot) - 2)
    state.page = max(1, room - 1)
    state.top = max(0, min(state.top, len(content) - room))
    bottom = state.top + room
    state.seen_to_end = state.seen_to_end or bottom >= len(content)
    shown = content[state.top : bottom]
    position = "" if len(content) <= room else f"{min(bottom, len(content))}/{len(content)} lines"
    return [_head(state, width, remaining, position), *shown, (("", ""),), *foot][:rows]


def content_width(columns: int) -> int:
    """The cells of a row: one less than the terminal has, so that it never wraps by itself."""
    return max(20, columns - 1)


def to_ascii(line: Line) -> Line:
    """Our own signs for a terminal that has only ASCII; foreign text is escaped already."""
    return tuple((style, text.translate(_ASCII)) for style, text in line)


def countdown(remaining: float) -> str:
    """Minutes and seconds, rounded up so that 0:00 means over."""
    if math.isinf(remaining):
        return "no time limit"
    seconds = max(0, math.ceil(remaining))
    hours, rest = divmod(seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _head(state: QuestionState, width: int, remaining: float, position: str) -> Line:
    outcome = "Allowed" if state.question.default == "allow" else "Refused"
    limit = countdown(remaining)
    left = limit if math.isinf(remaining) else f"{outcome} in {limit}"
    more = f"{state.waiting} more waiting" if state.waiting else ""
    title = "Approval needed"
    right = _that_fits([position, more, left], width - len(title) - 9)
    rule = "─" * max(2, width - len(title) - len(right) - 7)
    style = "class:urgent" if remaining <= 10 else "class:time"
    return (
        ("class:rule", "── "),
        ("class:title", title),
        ("class:rule", f" {rule} "),
        (style, right),
        ("class:rule", " ─"),
    )


def _that_fits(parts: list[str], room: int) -> str:
    """As many of the parts as there is room for; the last matters most."""
    said = [part for part in parts if part]
    while len(said) > 1 and len(" · ".join(said)) > room:
        said.pop(0)
    return " · ".join(said)


def _content(state: QuestionState, width: int) -> list[Line]:
    question = state.question
    lines: list[Line] = []
    for line in styled(question.prompt, "class:prompt"):
        lines += wrap_words(line, width)
    lines.append((("", ""),))
    if question.hook:
        event = f" ({question.event})" if question.event else ""
        lines += _labelled("Asked by", f"{question.hook}{event}", width)
    if question.reason:
        lines += _labelled("Because", question.reason, width)
    lines += _call(state, width)
    lines += _long_options(state, width)
    return lines


def _labelled(label: str, text: str, width: int, style: str = "") -> list[Line]:
    """A label and the text beside it, wrapped under itself."""
    indent = 10
    rows = [
        row for line in styled(text, style) for row in wrap_words(line, max(8, width - indent))
    ]  # a newline in the text is shown as one, under the same label
    labels = [f"{label:<{indent}}", *[" " * indent] * (len(rows) - 1)]
    return [(("class:label", name), *row) for name, row in zip(labels, rows, strict=True)]


def _call(state: QuestionState, width: int) -> list[Line]:
    """The tool and what it would do."""
    if state.preview is None:
        return []
    question, preview = state.question, state.preview
    lines: list[Line] = [(("", ""),), *wrap(preview.headline, width)]
    for note in preview.notes:
        for line in styled(note, "class:note"):
            lines += wrap_words(line, width)
    body = exact(question.tool_input) if state.exact else preview.body
    lines += boxed(body, width)
    if question.digest:
        lines += _labelled("Digest", question.digest, width, "class:dim")
    return lines


def _long_options(state: QuestionState, width: int) -> list[Line]:
    """Labels that do not fit into their row, in full."""
    lines: list[Line] = []
    for number, row in enumerate(state.choice.rows, 1):
        if len(plain(one_line(row))) > _label_room(width):
            lines += [(("", ""),), *_labelled(f"Option {number}", row, width)]
    return lines


def _label_room(width: int) -> int:
    return max(8, width - 24)


def _options(state: QuestionState, width: int) -> list[Line]:
    choice = state.choice
    first = max(0, min(choice.selected - OPTION_ROWS // 2, len(choice.rows) - OPTION_ROWS))
    shown = range(first, min(first + OPTION_ROWS, len(choice.rows)))
    labels = {index: _cut(one_line(choice.rows[index]), _label_room(width)) for index in shown}
    widest = max(_cells(label) for label in labels.values())
    return [_option(choice, index, labels[index], widest) for index in shown]


def _option(choice: Choice, index: int, label: Line, widest: int) -> Line:
    selected = index == choice.selected
    kind = "class:allow" if allows(choice.rows[index]) else "class:refuse"
    style = f"{kind} bold" if selected else ""
    letter = choice.letters[index]
    after = f"{letter}, then Enter" if for_ever(choice.rows[index]) else letter
    padding = " " * (widest - _cells(label) + 3)
    number = f"{index + 1}." if index < 9 else "  "
    return (
        (style, "› " if selected else "  "),
        ("class:dim", f"{number} "),
        *((part_style or style, text) for part_style, text in label),
        ("class:dim", f"{padding}{after}" if letter else ""),
    )


def _cells(line: Line) -> int:
    from prompt_toolkit.utils import get_cwidth

    return get_cwidth(plain(line))


def _cut(line: Line, width: int) -> Line:
    """The line's start; the whole is in the content when this is not all of it."""
    first = wrap(line, width)
    return line if len(first) == 1 else (*wrap(line, width - 1)[0], ("class:dim", "…"))


def _help(state: QuestionState, width: int) -> list[Line]:
    if state.commenting:
        return _comment_field(state, width)
    lines: list[Line] = []
    if state.comment:
        lines += _labelled("Comment", state.comment, width, "class:comment")[:2]
    if state.hint:
        lines += wrap_words((("class:note", state.hint),), width)
    return [*lines, *_flow(_keys(state), width)]


def _comment_field(state: QuestionState, width: int) -> list[Line]:
    rows = _labelled("Comment", state.comment + " ", width, "class:comment")[-3:]
    return [*rows, *_flow(["Enter keeps it", "Esc drops it"], width)]


def _keys(state: QuestionState) -> list[str]:
    keys = ["↑↓ choose", "Enter decide"]
    if not state.seen_to_end:
        keys.append("Space next page")
    if state.commentable:
        keys.append("c comment")
    if state.preview is not None:
        keys.append("v readable view" if state.exact else "v exact input")
    return [*keys, "Esc refuse"]


def _flow(items: list[str], width: int) -> list[Line]:
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
    fragment: Fragment = ("class:dim", text)
    return (fragment,)
