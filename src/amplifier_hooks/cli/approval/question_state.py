"""The state of a question on the screen: what the person has seen and done so far.

Nothing can be allowed before its end was on the screen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from amplifier_core.approval import read_option
from amplifier_hooks.cli.approval.choice import Choice
from amplifier_hooks.cli.approval.editable_input import EditableInput
from amplifier_hooks.cli.approval.question_content import QuestionContent
from amplifier_hooks.cli.approval.text_field import Move, Removal, TextField

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
            self.field, self.hint = self.field.insert(text), ""
            return
        breaks = text.replace("\r\n", "\n").replace("\r", "\n")
        clean = "".join(ch for ch in breaks if ch.isprintable() or ch == "\n")
        self.comment = (self.comment + clean)[:COMMENT_LIMIT]

    def _settle(self) -> None:
        self.settled = True

    def _switch_view(self) -> None:
        self.exact, self.top = not self.exact, 0

    # The comment

    def _start_comment(self) -> None:
        self.commenting = self.commentable

    def _erase(self) -> None:
        self.comment = self.comment[:-1]

    def _keep_comment(self) -> None:
        self.commenting, self.comment = False, self.comment.strip()

    def _drop_comment(self) -> None:
        self.commenting, self.comment = False, ""

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
            self.choice, self.hint = self.choice.select_refusal(), REFUSE_AGAIN

    def _interrupt(self) -> None:
        self.choice, self.interrupted = self.choice.refuse(), True


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
