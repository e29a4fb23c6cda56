"""The part of a question that scrolls: the prompt, who asks and why, what would run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from amplifier_core.approval import ApprovalQuestion
from amplifier_hooks.cli.approval.preview import Preview, show_exact_input
from amplifier_hooks.cli.approval.question_words import QuestionWords
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
