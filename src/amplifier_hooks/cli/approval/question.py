"""A question as the terminal shows it: what it says, and what was chosen so far."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from amplifier_core.approval import ApprovalQuestion, read_option
from amplifier_core.events import is_unique
from amplifier_hooks.cli.approval.choice import Choice
from amplifier_hooks.cli.approval.editor import EditableInput, Move, Removal, TextField
from amplifier_hooks.cli.approval.preview import Preview, show_exact_input
from amplifier_hooks.cli.text.fragments import (
    Line,
    add_gutter,
    escape_line,
    escape_lines,
    join_text,
    to_ascii,
    wrap,
    wrap_words,
)
from amplifier_hooks.guards.policy.tool_calls import EDITING_TOOLS
from amplifier_hooks.modules.registration import read_command, shorten

UNTIL = "until the session ends"

_SHELL_HOOKS_SHOW = 2_000
_HEADINGS = ("The command:", "The input:")
_APPROVAL = "The command needs approval: "


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """What is left to say in words, beside the call itself."""

    prompt: str
    reason: str

    @classmethod
    def of(cls, question: ApprovalQuestion) -> QuestionWords:
        """Each thing once: the input is shown below, and the prompt may hold the reason."""
        prompt = _leave_out_input(question) if question.tool_name else question.prompt
        reason = (question.reason or "").strip()
        return cls(prompt, "" if reason and _is_said(reason, prompt) else reason)


def describe_scope(option: str, question: ApprovalQuestion) -> str:
    """What an option that is remembered covers, and until when; empty for every other one."""
    meaning = read_option(option)
    if not meaning.remembered:
        return ""
    if meaning.scoped:
        return UNTIL
    return f"{_name_scope(question)}, {UNTIL}"


def _name_scope(question: ApprovalQuestion) -> str:
    if is_unique(question.event) or not question.digest:
        return "whenever this is asked"
    if question.tool_name == "Bash":
        return "this exact command"
    return "this exact change" if question.tool_name in EDITING_TOOLS else "this exact call"


def _leave_out_input(question: ApprovalQuestion) -> str:
    """The prompt without one copy of the input, and without the heading above that copy."""
    framed = f"\n{question.prompt}\n"
    for text in _list_renderings(question):
        before, found, after = framed.partition(f"\n{text}\n")
        if not found:
            continue
        head = before.rstrip()
        for heading in _HEADINGS:
            head = head.removesuffix(f"\n{heading}").rstrip()
        rest = after.strip("\n")
        left = f"{head}\n\n{rest}".strip("\n") if rest else head.strip("\n")
        return left or question.prompt
    return question.prompt


def _list_renderings(question: ApprovalQuestion) -> Iterator[str]:
    """The input as hooks write it: a command, or JSON, cut where it is long."""
    given = question.tool_input
    command = read_command(given.get("command"))
    texts = [command] if command and command.strip() else []
    for default in (repr, str):
        try:
            texts.append(json.dumps(given, ensure_ascii=False, default=default))
        except (ValueError, TypeError, RecursionError):
            return
    for text in texts:
        yield from dict.fromkeys((text, shorten(text)))
    yield f"{question.tool_name}: {texts[-1][:_SHELL_HOOKS_SHOW]}"


def _is_said(reason: str, prompt: str) -> bool:
    """Whether the prompt holds the whole reason, word for word."""
    words = _fold(reason.removeprefix(_APPROVAL))
    said = _fold(prompt)
    at = said.find(words)
    while at >= 0:
        around = said[at - 1 : at] + said[at + len(words) : at + len(words) + 1]
        if not any(ch.isalnum() for ch in around):
            return True
        at = said.find(words, at + 1)
    return False


def _fold(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(".")


EMPTY: Line = (("", ""),)
_INDENT = 10


@dataclass(frozen=True, slots=True)
class QuestionContent:
    """What is asked, laid out once for each width."""

    question: ApprovalQuestion
    preview: Preview | None
    options: Sequence[str]
    ascii_only: bool = False
    _rows: dict[tuple[int, bool], list[Line]] = field(default_factory=dict, compare=False)

    def lay_out(self, width: int, *, exact: bool = False) -> list[Line]:
        """The rows at this width, with the readable view of the call or its exact input."""
        key = (width, exact)
        if key not in self._rows:
            self._rows[key] = list(self._make_rows(width, exact))
        return self._rows[key]

    def _make_rows(self, width: int, exact: bool) -> Iterator[Line]:
        question = self.question
        words = QuestionWords.of(question)
        yield from self._wrap_text(words.prompt, width, "prompt")
        yield EMPTY
        if question.hook:
            event = f" ({question.event})" if question.event else ""
            yield from self.label("Asked by", f"{question.hook}{event}", width)
        if words.reason:
            yield from self.label("Because", words.reason, width)
        if self.preview is not None:
            yield from self._show_call(self.preview, width, exact)
        yield from self._show_long_options(width)

    def _show_call(self, preview: Preview, width: int, exact: bool) -> Iterator[Line]:
        yield EMPTY
        yield from wrap(self._adapt(preview.headline), width)
        for note in preview.notes:
            yield from self._wrap_text(note, width, "warn")
        body = show_exact_input(self.question.tool_input) if exact else preview.body
        yield from add_gutter(map(self._adapt, body), width)
        if exact and self.question.digest:
            yield from self.label("Digest", self.question.digest, width, "dim")

    def _show_long_options(self, width: int) -> Iterator[Line]:
        """Labels that do not fit into their row, in full."""
        for number, option in enumerate(self.options, 1):
            if len(join_text(self.escape_line(option))) > get_label_room(width):
                yield EMPTY
                yield from self.label(f"Option {number}", option, width)

    def label(self, label: str, text: str, width: int, style: str = "") -> list[Line]:
        """A label and the text beside it, wrapped under itself."""
        rows = self._wrap_text(text, max(8, width - _INDENT), style)
        labels = [label, *[""] * (len(rows) - 1)]
        return [
            (("label", name.ljust(_INDENT)), *row) for name, row in zip(labels, rows, strict=True)
        ]

    def escape_line(self, text: str) -> Line:
        """Foreign text on one line, as this terminal can show it."""
        return self._adapt(escape_line(text))

    def _wrap_text(self, text: str, width: int, style: str = "") -> list[Line]:
        lines = map(self._adapt, escape_lines(text, style))
        return [row for line in lines for row in wrap_words(line, width)]

    def _adapt(self, line: Line) -> Line:
        return to_ascii(line) if self.ascii_only else line


def get_label_room(width: int) -> int:
    """How many cells the label of an option may take in its row."""
    return max(8, width - 24)


COMMENT_LIMIT = 2_000
READ_FIRST = "Read to the end first: Space for the next page, End for the last."
REFUSE_AGAIN = "Esc once more refuses."


@dataclass(frozen=True, slots=True)
class View:
    """The part of the content that is on the screen."""

    top: int
    rows: int
    total: int

    @property
    def bottom(self) -> int:
        """The first row behind it."""
        return self.top + self.rows

    @property
    def shows_end(self) -> bool:
        """Whether nothing is left below it."""
        return self.bottom >= self.total


@dataclass(frozen=True, slots=True)
class Scroll:
    """Move over the content by so many pages; infinity is its end or its start."""

    pages: float


@dataclass(frozen=True, slots=True)
class Typed:
    """Text for the comment, or for the command that is being edited."""

    text: str


@dataclass(frozen=True, slots=True)
class Edit:
    """A key in the command that is being edited."""

    change: Move | Removal


Command = Literal[
    "settle",
    "switch view",
    "start comment",
    "erase",
    "keep comment",
    "drop comment",
    "start edit",
    "run edited",
    "drop edit",
    "escape",
    "interrupt",
]
Action = View | Scroll | Typed | Edit | Choice | Command


@dataclass(slots=True)
class QuestionState:
    """A question, and what became of it so far. It changes by `act` alone."""

    content: QuestionContent
    choice: Choice
    commentable: bool = True
    waiting: int = 0
    comment: str = ""
    commenting: bool = False
    editable: EditableInput | None = None
    field: TextField | None = None
    edited_input: dict[str, Any] | None = None
    wants_editor: bool = False
    exact: bool = False
    top: int = 0
    view: View = View(0, 1, 1)
    seen_to_end: bool = False
    settled: bool = False
    hint: str = ""
    interrupted: bool = False

    def act(self, action: Action) -> None:
        """Take in what the person saw (a view) or did (everything else)."""
        match action:
            case View():
                self._see(action)
            case Choice():
                self._choose(action)
            case Scroll(pages):
                self._scroll(pages)
            case Typed(text):
                self._type(text)
            case Edit(change):
                self._edit(change)
            case _:
                _COMMANDS[action](self)

    @property
    def is_over(self) -> bool:
        """Whether the question leaves the screen: decided, or for an editor."""
        return self.choice.decision is not None or self.wants_editor

    def _see(self, view: View) -> None:
        self.view = view
        self.top = view.top
        self.seen_to_end = self.seen_to_end or view.shows_end

    def _choose(self, choice: Choice) -> None:
        self.hint = ""
        decision = choice.decision
        if decision is not None and read_option(decision).allows and not self.seen_to_end:
            self.hint = READ_FIRST
        else:
            self.choice = choice

    def _scroll(self, pages: float) -> None:
        """Move the top; a place behind the end is drawn as the end, however high that is then."""
        self.hint = ""
        if math.isinf(pages):
            self.top = self.view.total if pages > 0 else 0
        else:
            step = int(pages * max(1, self.view.rows - 1))
            self.top = min(self.view.total, max(0, self.top + step))

    def _type(self, text: str) -> None:
        if self.field is not None:
            self.field = self.field.insert(text)
            self.hint = ""
            return
        breaks = text.replace("\r\n", "\n").replace("\r", "\n")
        clean = "".join(ch for ch in breaks if ch.isprintable() or ch == "\n")
        self.comment = (self.comment + clean)[:COMMENT_LIMIT]

    def _settle(self) -> None:
        self.settled = True

    def _switch_view(self) -> None:
        self.exact = not self.exact
        self.top = 0

    # The comment

    def _start_comment(self) -> None:
        self.commenting = self.commentable

    def _erase(self) -> None:
        self.comment = self.comment[:-1]

    def _keep_comment(self) -> None:
        self.commenting, self.comment = False, self.comment.strip()

    def _drop_comment(self) -> None:
        self.commenting = False
        self.comment = ""

    # Another input

    def _start_edit(self) -> None:
        """Edit a short command in place, anything else in an editor."""
        if self.editable is None:
            return
        self.hint = ""
        if self.editable.is_line:
            self.field = TextField.holding(self.editable.text)
        else:
            self.wants_editor = True

    def _edit(self, change: Move | Removal) -> None:
        if self.field is None:
            return
        match change:
            case "left" | "right" | "home" | "end":
                self.field = self.field.move(change)
            case _:
                self.field = self.field.remove(change)

    def _run_edited(self) -> None:
        """Allow what is in the field, this once; unchanged or empty it decides nothing."""
        if self.editable is None or self.field is None:
            return
        text = self.field.text
        if text == self.editable.text or not text.strip():
            self.field = None
            return
        self._choose(self.choice.allow_once())
        if self.choice.decision is not None:
            self.field, self.edited_input = None, self.editable.apply(text)

    def _drop_edit(self) -> None:
        self.field = None

    # The end

    def _escape(self) -> None:
        """Twice refuses; once, which may be meant for something else, only selects the refusal."""
        if self.hint == REFUSE_AGAIN:
            self.choice = self.choice.refuse()
        else:
            self.choice = self.choice.select_refusal()
            self.hint = REFUSE_AGAIN

    def _interrupt(self) -> None:
        self.choice = self.choice.refuse()
        self.interrupted = True


_COMMANDS: Mapping[Command, Callable[[QuestionState], None]] = {
    "settle": QuestionState._settle,
    "switch view": QuestionState._switch_view,
    "start comment": QuestionState._start_comment,
    "erase": QuestionState._erase,
    "keep comment": QuestionState._keep_comment,
    "drop comment": QuestionState._drop_comment,
    "start edit": QuestionState._start_edit,
    "run edited": QuestionState._run_edited,
    "drop edit": QuestionState._drop_edit,
    "escape": QuestionState._escape,
    "interrupt": QuestionState._interrupt,
}
