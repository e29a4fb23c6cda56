"""The part of a tool's input that a person edits before it runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from amplifier_core.approval import ApprovalQuestion
from amplifier_hooks.approvals.editing import is_editable

LONGEST_LINE = 400
"""Characters that can be edited in place; what is longer opens an editor."""

_MAIN_TEXT = {"Bash": "command", "Write": "content"}


class BadEdit(ValueError):
    """An edited text that is no input."""


@dataclass(frozen=True, slots=True)
class EditableInput:
    """One text of the input under its key, or all of the input as JSON."""

    given: Mapping[str, Any]
    key: str | None
    text: str
    suffix: str

    @classmethod
    def of(cls, question: ApprovalQuestion) -> EditableInput | None:
        """What can be edited of a question; None when nothing can."""
        if not is_editable(question):
            return None
        given, key = question.tool_input, _MAIN_TEXT.get(question.tool_name or "")
        if key is not None and isinstance(given.get(key), str):
            name = given.get("file_path")
            suffix = PurePath(name).suffix if isinstance(name, str) else ".sh"
            return cls(given, key, given[key], suffix or ".txt")
        try:
            text = json.dumps(given, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
        except (ValueError, TypeError, RecursionError):
            return None
        return cls(given, None, text, ".json")

    @property
    def is_line(self) -> bool:
        """Whether it can be edited in place: a command of one line that shows as it is."""
        short = len(self.text) <= LONGEST_LINE and self.text.isprintable()
        return self.suffix == ".sh" and short

    def apply(self, text: str) -> dict[str, Any]:
        """The whole input with the edited text in it; BadEdit if it is none."""
        if self.key is not None:
            # Editors end a file with a newline, which nobody has typed.
            added = text.endswith("\n") and not self.text.endswith("\n")
            return {**self.given, self.key: text[:-1] if added else text}
        try:
            value = json.loads(text)
        except ValueError as error:
            raise BadEdit(f"That is not valid JSON ({error}). Press e to correct it.") from error
        if not isinstance(value, dict):
            kind = type(value).__name__
            raise BadEdit(f"The input must be a JSON object, not a {kind}. Press e to correct it.")
        return value
