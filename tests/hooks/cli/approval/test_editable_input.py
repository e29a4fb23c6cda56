"""What of an input can be edited, and what an edited text makes of it."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.approval import ApprovalQuestion
from amplifier_hooks.cli.approval.editor import (
    LONGEST_LINE,
    BadEdit,
    EditableInput,
)

OPTIONS = ("Allow once", "Allow always", "Deny")


def ask(tool: str, given: dict[str, Any], **more: Any) -> ApprovalQuestion:
    fields = {"event": "tool:pre", "options": OPTIONS, **more}
    return ApprovalQuestion(
        "?", timeout=60, default="deny", hook="h", tool_name=tool, tool_input=given, **fields
    )


def edit(tool: str, given: dict[str, Any]) -> EditableInput:
    found = EditableInput.of(ask(tool, given))
    assert found is not None
    return found


def test_of_a_command_its_text_is_edited() -> None:
    """Not the JSON around it; an editor's own last newline is not part of it."""
    part = edit("Bash", {"command": "ls", "timeout": 5})
    assert (part.text, part.suffix, part.is_line) == ("ls", ".sh", True)
    assert part.apply("ls -l\n") == {"command": "ls -l", "timeout": 5}


def test_of_a_file_its_content_is_edited_under_its_own_suffix() -> None:
    """So that the editor knows the language; a last newline that was there stays."""
    part = edit("Write", {"file_path": "a.py", "content": "x = 1\n"})
    assert (part.text, part.suffix, part.is_line) == ("x = 1\n", ".py", False)
    assert part.apply("x = 2\n") == {"file_path": "a.py", "content": "x = 2\n"}


def test_of_anything_else_all_of_the_input_is_edited() -> None:
    """As JSON, every key."""
    part = edit("Fetch", {"url": "ä"})
    assert part.text == '{\n  "url": "ä"\n}\n'
    assert part.apply('{"url": "b", "depth": 2}') == {"url": "b", "depth": 2}


@pytest.mark.parametrize(("text", "what"), [("{", "not valid JSON"), ("[1]", "not a list")])
def test_an_edited_text_that_is_no_input_is_refused(text: str, what: str) -> None:
    """With what is wrong, and the key that goes on."""
    with pytest.raises(BadEdit, match=f"{what}.*Press e"):
        edit("Fetch", {}).apply(text)


@pytest.mark.parametrize("command", ["a\nb", "a\tb", "a\x1bb", "\u202ea", "x" * (LONGEST_LINE + 1)])
def test_only_a_short_command_that_shows_as_it_is_is_edited_in_place(command: str) -> None:
    """Of anything else a line on the screen would not be the whole truth."""
    assert not edit("Bash", {"command": command}).is_line


@pytest.mark.parametrize(
    "question",
    [
        ask("Bash", {"command": "ls"}, event="tool:post"),
        ask("", {}),
        ask("Bash", {"command": "ls"}, options=("Allow always", "Deny")),
        ask("Fetch", {"x": object()}),
    ],
)
def test_nothing_is_edited_that_could_not_run_so(question: ApprovalQuestion) -> None:
    """After the call, without a call, where only an always allows, where no text says it all."""
    assert EditableInput.of(question) is None
