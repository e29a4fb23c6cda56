"""What a tool is about to write or run: tokens in it are told or asked about, never guessed at."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from amplifier_core.models import HookResult
from amplifier_core.utils.nested import iterate_texts
from amplifier_hooks.guards.policy.secrets import Redactor
from amplifier_hooks.guards.policy.tool_calls import (
    EDITING_TOOLS,
    find_path,
    is_reading,
    iterate_texts_under,
    list_paths,
)
from amplifier_hooks.guards.redaction.config import Config
from amplifier_hooks.modules.guarding import shorten

_REPLACED = ("old_string", "old_str", "old_text", "oldText")
"""What an edit takes out stands in the file already."""


class WriteGuard:
    """Stands before tool calls whose input holds a token, or a mark where a secret was."""

    def __init__(self, config: Config, redactor: Redactor) -> None:
        self._config = config
        self._redactor = redactor

    def on_call(self, event: str, data: dict[str, Any]) -> HookResult:
        tool, given = str(data.get("tool_name", "")), data.get("tool_input")
        if any(fnmatchcase(tool, glob) for glob in self._config.allow_in_tools):
            return HookResult(action="continue")
        found = self._redactor.find_tokens(given)
        if found:
            return self._answer_tokens(tool, found, data)
        marks = self._find_marks(tool, given)
        return self._answer_marks(tool, marks, given) if marks else HookResult(action="continue")

    # Tokens

    def _answer_tokens(
        self, tool: str, found: list[tuple[str, str]], data: dict[str, Any]
    ) -> HookResult:
        what = shorten(", ".join(_describe(name, place) for name, place in found))
        if self._config.on_write == "tell-and-redact":
            clean = self._redactor.redact_tokens(data.get("tool_input"))
            told = f"{tool} goes on without a secret that was in its input: {what}"
            return _tell(told, action="modify", data={**data, "tool_input": clean})
        reason = (
            f"the input of {tool} holds a secret ({what}); have the program read it from its "
            "environment or from a file instead"
        )
        if self._config.on_write == "deny":
            return HookResult(action="deny", reason=reason)
        prompt = f"The input of {tool} holds a secret: {what}. Let {tool} use it as it is?"
        return self._config.ask_user(prompt, "a program can read it from its environment instead")

    # Marks

    def _find_marks(self, tool: str, given: Any) -> list[str]:
        """Marks that would take the place of a value in a file."""
        if not isinstance(given, Mapping) or not _writes_file(tool, given):
            return []
        taken_out = "\n".join(iterate_texts_under(given, _REPLACED))
        texts = [text for text in iterate_texts(given) if text not in taken_out]
        return sorted(
            mark
            for mark in self._redactor.marks
            if mark not in taken_out and any(mark in text for text in texts)
        )

    def _answer_marks(self, tool: str, marks: list[str], given: Any) -> HookResult:
        what, where = ", ".join(marks), shorten(find_path(given) or "a file")
        reason = (
            f"{what} stands for a value that was not shown; writing it to {where} would lose the "
            "value that is there. Edit only the lines around it"
        )
        if self._config.on_write == "deny":
            return HookResult(action="deny", reason=reason)
        if self._config.on_write == "tell-and-redact":
            return _tell(f"{tool} writes {what} to {where} instead of the value that was hidden")
        prompt = (
            f"{tool} would write {what} to {where}. It stands for a value that the agent was not "
            "shown, and which would be lost. Write it all the same?"
        )
        return self._config.ask_user(prompt, "the lines around it can be edited alone")


def _writes_file(tool: str, given: Mapping[str, Any]) -> bool:
    """Whether a tool changes a file: one of ours, or one that names a file and may change it."""
    if tool in EDITING_TOOLS:
        return True
    return not is_reading(tool) and next(list_paths(given), None) is not None


def _describe(name: str, place: str) -> str:
    return f"{name} in {place!r}" if place else name


def _tell(message: str, **answer: Any) -> HookResult:
    return HookResult(
        **{"action": "continue", **answer}, user_message=message, user_message_level="warning"
    )
