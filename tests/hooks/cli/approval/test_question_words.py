"""The words of a question: each thing once, and nothing lost."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.approval import ApprovalQuestion
from amplifier_hooks.cli.approval.question import QuestionWords, describe_scope
from amplifier_hooks.modules.guarding import shorten
from tests.hooks.cli.conftest import Project
from tests.hooks.cli.program import run_at_terminal
from tests.support.sessions import calls

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


# The real program


def test_a_command_of_one_line_is_shown_once_and_without_paging(project: Project) -> None:
    """The question of the command guard, in a real session: nothing twice, nothing out of sight."""
    command = "sudo apt install vim"
    project(calls("Bash", command=command), {"text": "Done."})
    with run_at_terminal("run", "go", columns=80, rows=24) as program:
        for columns, rows in ((80, 24), (40, 30), (200, 24)):
            if columns != 80:
                program.resize(columns, rows)
            lines = program.wait_until(partial(is_drawn, columns), f"{columns} columns")
            # Above the rule stands what the terminal itself made of the smaller question.
            shown = "\n".join(lines).partition("── Approval needed")[2]
            assert shown.count(command) == 1
            assert shown.count("rights of") == 1
            assert "Denies in" in shown
            assert "this exact command, until the" in shown
            assert " lines ·" not in shown
        program.press("d")
        program.wait_end()


def is_drawn(columns: int, lines: list[str]) -> bool:
    """Whether the question is there in this width, from its rule to its last key."""
    rules = [line for line in lines if line.startswith("── Approval needed")]
    return len(rules) == 1 and len(rules[0]) == columns - 1 and "Esc refuse" in "".join(lines)


def test_a_guarded_path_is_named_once_in_words(project: Project, home: Path) -> None:
    """The question of the production guard: the path, the glob, and the change itself."""
    project(calls("Write", file_path="production/a.conf", content="n = 4\n"), {"text": "Done."})
    with run_at_terminal("run", "go", columns=200) as program:
        shown = "\n".join(program.wait_for_question("│ + n = 4", "this exact change, until"))
        program.press("d")
        program.wait_end()
    assert shown.count(f"{home}/production/a.conf") == 1
    assert shown.count("production/**") == 1
    assert shown.count("n = 4") == 1
    assert "given as" not in shown


def test_a_comment_reaches_the_agent_first_and_is_shown(project: Project) -> None:
    """As the words of the user, with a no and with a yes."""
    no = "Operation denied by hooks-command-guard: The user said: use a mirror\nUser denied: Run"
    yes = "The user allowed this and said: only today\n\n"
    project(
        calls("Bash", command="sudo echo one"),
        {"expect": no, **calls("Bash", command="sudo echo two")},
        {"expect": yes, "text": "Understood."},
    )
    with run_at_terminal("run", "go", columns=100, rows=30) as program:
        for command, comment, key in (("one", "use a mirror", "d"), ("two", "only today", "a")):
            program.wait_for_question(f"sudo echo {command}")
            program.press("c")
            program.wait_for("Enter keeps it")
            program.press(comment + "\r")
            program.wait_for_question(f"Comment   {comment}")
            program.press(key)
        program.wait_for("said: use a mirror", "said: only today", "Understood.")
        assert program.wait_end() == 0


def test_an_edited_command_is_judged_again_and_is_what_runs(project: Project, home: Path) -> None:
    """What a guard still objects to is asked about as it was edited; the agent learns of it."""
    project(
        calls("Bash", command="sudo touch sub/one"),
        {"expect": "I changed the command to: touch sub/three", "text": "Understood."},
    )
    (home / "sub").mkdir()  # commands make nothing new beside a folder that is hidden from them
    with run_at_terminal("run", "go", columns=100, rows=30) as program:
        program.wait_for_question("│ sudo touch sub/one")
        for edit, shown in (
            ("\x15sudo touch sub/two\r", "│ sudo touch sub/two"),
            ("\x15touch sub/three\r", ""),
        ):
            program.press("e")
            program.wait_for("Enter runs this instead")
            program.press(edit)
            if shown:
                program.wait_for_question(shown)
        program.wait_for("Understood.")
        assert program.wait_end() == 0
    assert [one.name for one in (home / "sub").iterdir()] == ["three"]
