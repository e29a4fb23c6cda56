"""The state of a question: what was on the screen, and what the person did."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.approval import ApprovalQuestion
from amplifier_hooks.cli.approval.choice import Choice
from amplifier_hooks.cli.approval.editor import EditableInput
from amplifier_hooks.cli.approval.preview import make_preview
from amplifier_hooks.cli.approval.question import (
    COMMENT_LIMIT,
    READ_FIRST,
    REFUSE_AGAIN,
    Action,
    Edit,
    QuestionContent,
    QuestionState,
    QuestionWords,
    Scroll,
    Typed,
    View,
    describe_scope,
    get_label_room,
)
from amplifier_hooks.cli.text.fragments import join_text
from amplifier_hooks.modules.registration import shorten
from amplifier_hooks.text.escape import unescape
from tests.hooks.cli.conftest import Project
from tests.hooks.cli.hostile_text import hostile, is_harmless
from tests.hooks.cli.program import run_at_terminal
from tests.support.sessions import calls

OPTIONS = ("Allow once", "Allow always", "Deny")
Step = Callable[[QuestionState], Action]
FIRST_PAGE, LAST_PAGE = View(0, 10, 100), View(90, 10, 100)


def make_state(*, commentable: bool = True) -> QuestionState:
    question = ApprovalQuestion("Go?", OPTIONS, 60, "deny", hook="guard")
    content = QuestionContent(question, None, OPTIONS)
    return QuestionState(content, Choice.among(OPTIONS), commentable)


def act(state: QuestionState, *actions: Action) -> QuestionState:
    for action in actions:
        state.act(action)
    return state


def test_nothing_is_allowed_before_its_end_was_on_the_screen() -> None:
    """The key is answered with a hint; once the end was there, it counts."""
    state = act(make_state(), FIRST_PAGE)
    act(state, state.choice.press("a"))
    assert (state.choice.decision, state.hint) == (None, READ_FIRST)
    act(state, LAST_PAGE, state.choice.press("a"))
    assert (state.choice.decision, state.hint) == ("Allow once", "")


def press(key: str) -> Step:
    return lambda state: state.choice.press(key)


def move(state: QuestionState) -> Action:
    return state.choice.move(1)


TO_THE_END = Scroll(math.inf)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        # Keys may come faster than the screen is drawn: going to the end is not having seen it.
        ([TO_THE_END, press("a")], {"decision": None}),
        ([LAST_PAGE, FIRST_PAGE, press("a")], {"decision": "Allow once"}),
        # A no is a no on the first page, and choosing is not deciding.
        ([press("d")], {"decision": "Deny"}),
        ([press("3")], {"decision": "Deny"}),
        ([move], {"selected": 0, "decision": None}),
        (["interrupt"], {"decision": "Deny", "interrupted": True}),
        # Pages share a row, also when several keys come before the next drawing.
        ([Scroll(1)], {"top": 9}),
        ([Scroll(1), Scroll(1)], {"top": 18}),
        ([Scroll(1), Scroll(-1)], {"top": 0}),
        ([Scroll(-1)], {"top": 0}),
        ([TO_THE_END, Scroll(-math.inf)], {"top": 0}),
        # A smaller terminal shows another part; from there it scrolls.
        ([TO_THE_END, View(95, 5, 100), Scroll(-1)], {"top": 91}),
        # Another view of the input starts at its top.
        ([Scroll(1), "switch view"], {"exact": True, "top": 0}),
        ([Scroll(1), "switch view", "switch view"], {"exact": False}),
        # A comment has no space around it; a dropped one is gone.
        (
            ["start comment", Typed(" use a branchh"), "erase", "keep comment"],
            {"commenting": False, "comment": "use a branch"},
        ),
        (["start comment", Typed("no"), "drop comment"], {"commenting": False, "comment": ""}),
        # Without a tool call there is nothing to edit.
        (
            ["start edit", Edit("left"), "run edited"],
            {"field": None, "wants_editor": False, "decision": None},
        ),
    ],
)
def test_what_was_seen_and_pressed_decides(
    steps: list[Action | Step], expected: dict[str, Any]
) -> None:
    """From the first page on."""
    state = act(make_state(), FIRST_PAGE)
    for step in steps:
        act(state, step(state) if callable(step) else step)
    told = {
        name: getattr(state.choice if name in {"decision", "selected"} else state, name)
        for name in expected
    }
    assert told == expected


actions = st.one_of(
    st.builds(Scroll, st.sampled_from([1, -1, 0.5, math.inf, -math.inf])),
    st.builds(Typed, st.text(max_size=5)),
    st.sampled_from(["switch view", "start comment", "erase", "keep comment", "drop comment"]),
    st.builds(View, st.integers(0, 80), st.integers(1, 10), st.just(100)),
)


@given(st.lists(actions, max_size=20))
def test_no_way_leads_around_the_end(steps: list[Action]) -> None:
    """Without a view of the end no series of keys makes a yes possible."""
    state = act(make_state(), FIRST_PAGE, *steps)
    act(state, Choice.among(OPTIONS).press("a"))
    assert (state.choice.decision is not None) == any(
        isinstance(step, View) and step.shows_end for step in steps
    )


def test_a_comment_holds_text_alone_and_ends_somewhere() -> None:
    """No control characters, newlines of all kinds as one, and not without limit."""
    state = act(make_state(), "start comment", Typed("a\x1b[2K\r\nb\rc\x07"))
    assert state.comment == "a[2K\nb\nc"
    assert len(act(state, Typed("x" * 9_999)).comment) == COMMENT_LIMIT


def test_the_short_form_takes_no_comment() -> None:
    """Where nobody would get it, it cannot be typed."""
    assert not act(make_state(commentable=False), "start comment").commenting


def make_editable(command: str = "ls") -> QuestionState:
    question = ApprovalQuestion(
        "Go?",
        OPTIONS,
        60,
        "deny",
        hook="guard",
        event="tool:pre",
        tool_name="Bash",
        tool_input={"command": command, "timeout": 5},
    )
    content = QuestionContent(question, None, OPTIONS)
    editable = EditableInput.of(question)
    return QuestionState(content, Choice.among(OPTIONS), editable=editable)


def test_what_is_in_the_field_is_allowed_once() -> None:
    """The other fields of the input stay as they are."""
    state = act(make_editable(), LAST_PAGE, "start edit", Typed(" -l"), "run edited")
    assert state.choice.decision == "Allow once"
    assert state.edited_input == {"command": "ls -l", "timeout": 5}


@pytest.mark.parametrize(
    "steps",
    [
        ["start edit", "run edited"],
        ["start edit", Edit("all before"), "run edited"],
        ["start edit", Typed("x"), "drop edit", "run edited"],
        ["run edited"],
        ["start edit", Typed("x"), Edit("before"), "run edited"],
    ],
)
def test_an_edit_that_changes_nothing_decides_nothing(steps: list[Action]) -> None:
    """Unchanged, emptied, or dropped."""
    state = act(make_editable(), LAST_PAGE, *steps)
    assert (state.choice.decision, state.edited_input, state.field) == (None, None, None)


def test_an_edited_command_needs_reading_like_any_other() -> None:
    """What stands beside the command may not have been on the screen."""
    state = act(make_editable(), FIRST_PAGE, "start edit", Typed(" -l"), "run edited")
    assert (state.choice.decision, state.edited_input, state.hint) == (None, None, READ_FIRST)
    assert state.field is not None


def test_what_does_not_fit_into_a_line_opens_an_editor() -> None:
    """The question leaves the screen, undecided."""
    state = act(make_editable("ls\nls"), "start edit")
    assert (state.field, state.wants_editor, state.is_over) == (None, True, True)
    assert state.choice.decision is None


def test_the_second_escape_refuses() -> None:
    """The first selects the refusal; any other key in between takes it back."""
    state = act(make_state(), FIRST_PAGE)
    act(state, state.choice.move(1), "escape")
    assert (state.choice.decision, state.choice.selected, state.hint) == (None, 2, REFUSE_AGAIN)
    act(state, state.choice.move(1), "escape")
    assert state.choice.decision is None
    assert act(state, "escape").choice.decision == "Deny"


@given(st.integers(0, 99), st.integers(1, 99), st.integers(1, 99))
def test_a_view_shows_the_end_when_nothing_is_left_below(top: int, rows: int, total: int) -> None:
    """The last row is the one before `bottom`."""
    assert View(top, rows, total).shows_end == (total - 1 < View(top, rows, total).bottom)


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


LONG = "echo " + "x" * 5_000


@pytest.mark.parametrize(
    ("prompt", "tool", "command", "left"),
    [
        # Its beginning, the count and the digest stand for what is shown in full below.
        (f"Run it?\n\n{shorten(LONG)}", "Bash", LONG, "Run it?"),
        # Without a call nothing below would show it.
        ("ls\n\nls", None, "ls", "ls\n\nls"),
    ],
    ids=["cut", "no call"],
)
def test_only_what_is_shown_below_is_left_out(
    prompt: str, tool: str | None, command: str, left: str
) -> None:
    """A long command that was cut as well."""
    assert words(prompt, tool=tool, command=command)[0] == left


@given(st.text(), st.text(max_size=20))
def test_only_a_copy_of_the_input_is_left_out(prompt: str, command: str) -> None:
    """Every other line of the prompt is still there."""
    left, _ = words(prompt, command=command)
    copies = {*command.split("\n"), json.dumps({"command": command}, ensure_ascii=False)}
    gone = [line for line in prompt.split("\n") if line.strip() and line not in left]
    assert all(line in copies for line in gone)


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


def make_content(
    text: str, reason: str | None = None, *, ascii_only: bool = False
) -> QuestionContent:
    question = ApprovalQuestion(
        text,
        ("Allow", "Deny"),
        60,
        "deny",
        hook="guard",
        event="tool:pre",
        reason=text if reason is None else reason,
        tool_name="Tool",
        tool_input={"x": text},
        digest="ab" * 32,
    )
    preview = make_preview("Tool", question.tool_input, Path())
    return QuestionContent(question, preview, question.options, ascii_only)


def rows(content: QuestionContent, width: int = 79, *, exact: bool = False) -> list[str]:
    return [join_text(line) for line in content.lay_out(width, exact=exact)]


def test_it_shows_the_prompt_who_asks_why_and_the_call() -> None:
    """Everything that a decision depends on, in this order."""
    assert rows(make_content("go?", "it is late")) == [
        "go?",
        "",
        "Asked by  guard (tool:pre)",
        "Because   it is late",
        "",
        "Tool  ",
        "│ x: go?",
    ]


def test_the_digest_stands_below_the_exact_input() -> None:
    """Whoever compares it with the trail finds it one key away."""
    content = make_content("go?")
    assert rows(content, exact=True)[-1] == f"Digest    {'ab' * 32}"
    assert not [row for row in rows(content) if "Digest" in row]


def test_a_question_without_a_call_shows_none() -> None:
    """The short form has a prompt alone."""
    question = ApprovalQuestion("go?", ("Allow", "Deny"), 60, "deny", hook="")
    assert rows(QuestionContent(question, None, question.options)) == ["go?", ""]


def test_the_exact_input_takes_the_place_of_the_readable_view() -> None:
    """JSON with every key and character."""
    shown = rows(make_content("go?"), exact=True)
    assert [row for row in shown if row.startswith("│")] == ["│ {", '│   "x": "go?"', "│ }"]


def test_a_label_that_does_not_fit_into_its_row_is_shown_in_full() -> None:
    """A long option can be read to its end."""
    long = "Allow " + "y" * 200
    question = ApprovalQuestion("go?", (long, "Deny"), 60, "deny", hook="")
    shown = "".join(rows(QuestionContent(question, None, question.options)))
    assert "Option 1" in shown
    assert shown.count("y") == 200
    assert "Option 2" not in shown
    assert get_label_room(79) < len(long)


def test_a_megabyte_on_one_line_is_laid_out_in_full() -> None:
    """A long line is paged through, not cut: in the prompt, the reason and the input."""
    content = make_content("x" * 1_000_000, "x" * 1_000_001)
    assert sum(row.count("x") for row in rows(content)) >= 3_000_000


def test_it_is_laid_out_once_for_each_width_and_view() -> None:
    """Drawing five times a second costs nothing."""
    content = make_content("go?")
    assert content.lay_out(40) is content.lay_out(40)
    assert content.lay_out(40) is not content.lay_out(41)
    assert content.lay_out(40) is not content.lay_out(40, exact=True)


@given(hostile, st.integers(20, 200))
def test_no_row_is_wider_than_it_may_be_nor_moves_the_terminal(text: str, width: int) -> None:
    """At any width, whatever was written."""
    from prompt_toolkit.utils import get_cwidth

    for row in rows(make_content(text), width):
        assert is_harmless(row)
        assert get_cwidth(row) <= width


@given(hostile)
def test_a_terminal_of_ascii_gets_ascii_that_can_be_read_back(text: str) -> None:
    """Where `?` would stand for any letter, two commands could look alike."""
    shown = rows(make_content(text, ascii_only=True), 10_000)
    field = [row.replace("│ ", "") for row in shown if row.startswith("│ ")]
    assert all(row.isascii() for row in field)
    assert unescape("\n".join(field)).removeprefix("x: ").removeprefix("\n") == text


@pytest.mark.parametrize(("text", "shown"), [("é", "\\u{E9}"), ("a\tb", "a\\u{9}b"), (">", ">")])
def test_signs_of_ours_are_no_letters_of_theirs(text: str, shown: str) -> None:
    """On ASCII a tab is no `>`."""
    assert join_text(make_content("", ascii_only=True).escape_line(text)) == shown
