"""Editing the input of a call before it runs: when a person may, and what the agent is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_core.approval import ApprovalQuestion, read_option
from amplifier_core.events import TOOL_PRE


def is_editable(question: ApprovalQuestion) -> bool:
    """Whether a question is about a call that has not run, and can be allowed for this once."""
    return question.event == TOOL_PRE and bool(question.tool_name) and bool(list_once(question))


def list_once(question: ApprovalQuestion) -> tuple[str, ...]:
    """The options that fit an edited input: what is remembered would be what was asked first."""
    once = tuple(one for one in question.options if not read_option(one).remembered)
    return once if any(read_option(one).allows for one in once) else ()


def word_edit(edited: Mapping[str, Any], tool: str | None) -> str:
    """What the agent is told of an edit; it would be puzzled by another result otherwise."""
    command = edited.get("command") if tool == "Bash" else None
    is_line = isinstance(command, str) and command.isprintable()
    return f"I changed the command to: {command}" if is_line else "I edited the input before it ran"
