"""The state of a question on the screen: what the person has seen and done so far.

Nothing can be allowed before its end was on the screen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from amplifier_apps.cli.approval.choice import Choice
from amplifier_apps.cli.approval.question_content import QuestionContent
from amplifier_core.approval import read_option

COMMENT_LIMIT = 2_000
READ_FIRST = "Read to the end first: Space for the next page, End for the last."


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
    """Text for the comment."""

    text: str


Command = Literal[
    "settle", "switch view", "start comment", "erase", "keep comment", "drop comment", "interrupt"
]
Action = View | Scroll | Typed | Choice | Command


@dataclass(slots=True)
class QuestionState:
    """A question, and what became of it so far. It changes by `act` alone."""

    content: QuestionContent
    choice: Choice
    commentable: bool = True
    waiting: int = 0
    comment: str = ""
    commenting: bool = False
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
            case _:
                self._carry_out(action)

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
        breaks = text.replace("\r\n", "\n").replace("\r", "\n")
        clean = "".join(ch for ch in breaks if ch.isprintable() or ch == "\n")
        self.comment = (self.comment + clean)[:COMMENT_LIMIT]

    def _carry_out(self, command: Command) -> None:
        match command:
            case "settle":
                self.settled = True
            case "switch view":
                self.exact, self.top = not self.exact, 0
            case "start comment":
                self.commenting = self.commentable
            case "erase":
                self.comment = self.comment[:-1]
            case "keep comment":
                self.commenting, self.comment = False, self.comment.strip()
            case "drop comment":
                self.commenting, self.comment = False, ""
            case "interrupt":
                self.choice, self.interrupted = self.choice.refuse(), True
