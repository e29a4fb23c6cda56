"""The words of a question: each thing once, and nothing lost."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_apps.cli.approval.question_words import QuestionWords, describe_scope
from amplifier_core.approval import ApprovalQuestion
from amplifier_foundation.modules.guarding import shorten

COMMAND = "git push --tags"


def ask(prompt: str, reason: str = "", tool: str | None = "Bash", **given: Any) -> ApprovalQuestion:
    return ApprovalQuestion(
        prompt,
        ("Allow", "Deny"),
        60,
        "deny",
        hook="guard",
        event="tool:pre",
        reason=reason,
        tool_name=tool,
        tool_input=given,
        digest="ab" * 32,
    )


def words(*args: Any, **given: Any) -> tuple[str, str]:
    found = QuestionWords.of(ask(*args, **given))
    return found.prompt, found.reason


@pytest.mark.parametrize(
    ("prompt", "left"),
    [
        (f"Run this command?\n\n{COMMAND}\n\nWhy: x", "Run this command?\n\nWhy: x"),
        (f"Write there?\n\nThe command:\n\n{COMMAND}", "Write there?"),
        (f'Write there?\n\nThe input:\n\n{{"command": "{COMMAND}"}}', "Write there?"),
        (f'Really?\nBash: {{"command": "{COMMAND}"}}', "Really?"),
        (f"Run `{COMMAND}`?", f"Run `{COMMAND}`?"),
        (f"Danger:\n\n{COMMAND}", "Danger:"),
        (COMMAND, COMMAND),
    ],
)
def test_the_input_is_not_repeated_in_the_prompt(prompt: str, left: str) -> None:
    """As guards, rules and shell hooks write it, on lines of its own; the rest stays as it is."""
    assert words(prompt, command=COMMAND)[0] == left


def test_a_long_command_that_was_cut_is_not_repeated_either() -> None:
    """Its beginning, the count and the digest stand for what is shown in full below."""
    command = "echo " + "x" * 5_000
    assert words(f"Run it?\n\n{shorten(command)}", command=command)[0] == "Run it?"


@given(st.text(), st.text(max_size=20))
def test_only_a_copy_of_the_input_is_left_out(prompt: str, command: str) -> None:
    """Every other line of the prompt is still there."""
    left, _ = words(prompt, command=command)
    copies = {*command.split("\n"), json.dumps({"command": command}, ensure_ascii=False)}
    gone = [line for line in prompt.split("\n") if line.strip() and line not in left]
    assert all(line in copies for line in gone)


def test_a_prompt_without_a_call_stays_as_it_is() -> None:
    """There is nothing below that would show it."""
    assert words("ls\n\nls", tool=None, command="ls")[0] == "ls\n\nls"


@pytest.mark.parametrize(
    ("prompt", "reason", "left"),
    [
        (
            "Run it? Why you are asked: it deletes [rm]",
            "The command needs approval: it deletes [rm]",
            "",
        ),
        ("It deletes a folder.\nGo on?", "it deletes  a folder", ""),
        ("Go on?", "guarded by 'production/**'", "guarded by 'production/**'"),
        ("Change the product?", "prod", "prod"),
        ("Say yes?", "It deletes everything: yes", "It deletes everything: yes"),
    ],
)
def test_a_reason_that_the_prompt_holds_is_not_repeated(
    prompt: str, reason: str, left: str
) -> None:
    """Word for word, and whole; anything else is news."""
    assert words(prompt, reason)[1] == left


@pytest.mark.parametrize(
    ("option", "tool", "scope"),
    [
        ("Allow once", "Bash", ""),
        ("Allow always", "Bash", "this exact command, until the session ends"),
        ("Allow always", "Write", "this exact change, until the session ends"),
        ("Deny always", "Fetch", "this exact call, until the session ends"),
        ("Allow always for git", "Bash", "until the session ends"),
    ],
)
def test_always_says_what_it_covers_and_until_when(option: str, tool: str, scope: str) -> None:
    """In words, as the kernel remembers it."""
    assert describe_scope(option, ask("?", tool=tool)) == scope


def test_without_an_input_always_covers_the_question() -> None:
    """An event that carries the whole conversation is never the same twice."""
    question = ApprovalQuestion("?", ("Allow",), 60, "deny", hook="h", event="provider:request")
    assert describe_scope("Allow always", question).startswith("whenever this is asked")
