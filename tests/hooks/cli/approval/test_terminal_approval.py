"""The terminal approval, driven in a real pseudo-terminal."""

from __future__ import annotations

import inspect
import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.approval import (
    ApprovalGate,
    ApprovalQuestion,
    ApprovalSystem,
    DecidingApprovalSystem,
)
from amplifier_hooks.cli.approval.terminal_approval import TerminalApproval
from amplifier_hooks.cli.terminal import NoTerminal
from amplifier_hooks.text.escape import unescape
from tests.hooks.cli.pty_program import ROOT, PtyProgram, python, run_in_pty

ASKING = "tests.hooks.cli.approval.asking"
OPTIONS = ["Allow once", "Allow always", "Deny"]
ASK = {"prompt": "Allow this?", "options": OPTIONS}


@contextmanager
def asking(
    *questions: dict[str, Any], columns: int = 80, rows: int = 24, **plan: Any
) -> Iterator[PtyProgram]:
    """The program `asking` with these questions, at a terminal."""
    spec = json.dumps({"questions": list(questions), **plan})
    with run_in_pty(*python(ASKING, spec), columns=columns, rows=rows) as program:
        yield program


def answers(program: PtyProgram) -> list[dict[str, Any]]:
    """The JSON lines that the program printed, wherever they wrapped."""
    program.wait_end()
    lines = program.raw.decode("utf-8", "replace").splitlines()
    texts = [line[line.find('{"') :] for line in lines if '{"' in line]
    return [json.loads(text.strip()) for text in texts]


@pytest.mark.parametrize("columns", [80, 200])
def test_the_question_shows_hook_reason_call_options_and_time(columns: int) -> None:
    """The final call in full, which hook asks and why, the options, and how long."""
    question = {
        **ASK,
        "hook": "production-guard",
        "event": "tool:pre",
        "reason": "matches **/production/**",
        "tool_name": "Bash",
        "tool_input": {"command": "deploy --now"},
        "digest": "ab" * 32,
    }
    with asking(question, columns=columns) as program:
        program.wait_for_question(
            "Allow this?",
            "production-guard (tool:pre)",
            "matches **/production/**",
            "Bash",
            "│ deploy --now",
            "1. Allow once",
            "› 3. Deny",
            "Denies in 0:",
        )
        program.press("d")
        assert answers(program)[0]["option"] == "Deny"


KEYS = [
    ("a", "Allow once"),
    ("1", "Allow once"),
    ("\x1b[A\x1b[A\r", "Allow once"),
    ("\x1b[B\r", "Allow once"),
    ("\x1bOA\x1bOA\r", "Allow once"),
    ("d", "Deny"),
    ("3", "Deny"),
    ("\r", "Deny"),
    ("\x1b\x1b", "Deny"),
    ("\x03", "Deny"),
    ("aaa\r", "Allow once"),
    ("l\r", "Allow always"),
    ("2\r", "Allow always"),
    ("xq09\x1a\x04d", "Deny"),
]


def test_options_by_arrow_digit_and_letter() -> None:
    """The refusal is selected first; Esc and Ctrl-C refuse; keys without a meaning do nothing.

    Keys behind a decision do not answer the next question.
    """
    questions = [{**ASK, "prompt": f"Question {number}?"} for number in range(len(KEYS))]
    with asking(*questions) as program:
        for number, (keys, _) in enumerate(KEYS):
            program.wait_for_question(f"Question {number}?", "› 3. Deny")
            program.press(keys)
        said = answers(program)[:-1]
        assert [answer["option"] for answer in said] == [option for _, option in KEYS]
        assert all(answer["by"] for answer in said)


def test_what_was_typed_before_the_question_is_no_answer() -> None:
    """Keys that wait in the buffer before there is a question are thrown away."""
    keys = "a\r1y\n"
    with asking(ASK, typed_first=len(keys)) as program:
        program.press(keys)
        program.wait_for_question("› 3. Deny")
        assert program.child.isalive()
        program.press("d")
        assert answers(program)[0]["option"] == "Deny"


def test_a_key_in_the_moment_the_question_appears_is_no_answer() -> None:
    """A person who is typing when the question appears has not answered it."""
    with asking(ASK, settling=1000) as program:
        program.wait_for("Approval needed")
        program.press("a\r")
        program.press("\x03")
        assert answers(program)[0]["option"] == "Deny"
        assert b"Esc refuse" not in program.raw
    assert inspect.signature(TerminalApproval).parameters["settling"].default >= 0.2


def test_questions_asked_together_come_one_after_the_other() -> None:
    """Parallel tool calls: one question at a time, and the person sees that more wait."""
    second = {**ASK, "prompt": "And this?"}
    with asking(ASK, second, together=True) as program:
        program.wait_for_question("Allow this?", "1 more waiting")
        program.press("d")
        program.wait_for_question("And this?")
        program.press("a")
        assert [a["option"] for a in answers(program)[:2]] == ["Deny", "Allow once"]


def test_a_timeout_raises_and_swallows_no_later_input() -> None:
    """A clean timeout: the next line the person types goes where it belongs."""
    with asking({**ASK, "timeout": 500}, line_after=True, jump=500) as program:
        program.wait_for("Approval needed")
        program.child.kill(signal.SIGUSR1)
        program.wait_for('{"timeout"')
        assert "Approval needed" not in program.text()
        program.press("the next line\n")
        said = answers(program)
        assert "500 seconds" in said[0]["timeout"]
        assert said[-1]["typed_after"] == "the next line\n"


def test_odd_time_limits() -> None:
    """Zero, negative and NaN are over at once; infinity and 10^12 are shown and work."""
    over = [{**ASK, "timeout": timeout} for timeout in (0, -5, float("nan"))]
    enormous = [{**ASK, "timeout": timeout} for timeout in (1e12, float("inf"))]
    with asking(*over, *enormous) as program:
        for shown in ("Denies in 277777", "no time limit"):
            program.wait_for_question(shown)
            program.press("a")
        said = answers(program)[:-1]
    assert ["timeout" in one for one in said] == [True, True, True, False, False]
    assert [one["option"] for one in said[3:]] == ["Allow once", "Allow once"]


def test_the_countdown_is_live_and_the_loop_goes_on() -> None:
    """Live countdown; nothing blocks the event loop."""
    with asking({**ASK, "timeout": 50}) as program:
        first = seconds_left(program)
        program.wait_until(lambda _: seconds_left(program) < first, "a later time")
        program.press("d")
        assert answers(program)[-1]["ticks"] > 2


def seconds_left(program: PtyProgram) -> int:
    """What the countdown says."""
    shown = "\n".join(program.wait_for("Denies in 0:"))
    return int(shown.split("Denies in 0:")[1][:2])


def test_a_comment_goes_to_the_agent_with_the_decision() -> None:
    """The key c starts it; Backspace corrects it; Enter keeps it."""
    with asking(ASK) as program:
        program.wait_for_question("Allow this?")
        program.press("c")
        program.wait_for("Enter keeps it")
        program.press("use a branchh\x7f, please")
        program.wait_for("use a branch, please")
        program.press("\r")
        program.wait_for("Esc refuse")
        program.press("d")
        said = answers(program)[0]
        assert said == {"option": "Deny", "comment": "use a branch, please", "by": said["by"]}


IMPORTABLE = {"PYTHONPATH": str(ROOT)}
RUN = {**ASK, "event": "tool:pre", "tool_name": "Bash", "tool_input": {"command": "rm -r build"}}


def test_a_command_is_edited_in_place_and_runs_as_it_was_left() -> None:
    """The key e opens it; Enter allows this version once, and the kernel judges it again.

    Opening and closing the field decides nothing, and neither does Esc in it.
    """
    with asking(RUN, {**RUN, "prompt": "And this?"}) as program:
        program.wait_for_question("e edit")
        for keys in ("e\r", "exx\x1b"):
            program.press(keys[0])
            program.wait_for("Enter runs this instead")
            program.press(keys[1:])
            program.wait_for_question("› 3. Deny", "e edit")
        program.press("a")
        program.wait_for_question("And this?", "e edit")
        program.press("e")
        program.wait_for("Run  rm -r build", "Enter runs this instead")
        program.press("/tmp\x01\x1b[C\x1b[C -v")
        program.wait_for("Run  rm -v -r build/tmp")
        program.press("\r")
        unchanged, changed, _ = answers(program)
    assert unchanged["option"] == "Allow once"
    assert "edited" not in unchanged
    assert changed["option"] == "Allow once"
    assert changed["edited"] == {"command": "rm -v -r build/tmp"}
    assert changed["comment"] == "I changed the command to: rm -v -r build/tmp"


def edit_with(script: str, folder: Path) -> dict[str, str]:
    """The environment of a person whose editor is this line of shell; $1 is the file."""
    editor = folder / "editor"
    editor.write_text(f"#!/bin/sh\n{script}\n")
    editor.chmod(0o700)
    return {"EDITOR": str(editor), "VISUAL": ""}


def test_a_larger_input_is_edited_in_the_persons_editor(tmp_path: Path) -> None:
    """Their version is shown before it can be allowed, and cannot be allowed for always."""
    write = {"file_path": "app.conf", "content": "workers = 4\n"}
    prompt = f"Write it?\n\nThe input:\n\n{json.dumps(write)}"
    question = {**RUN, "prompt": prompt, "tool_name": "Write", "tool_input": write}
    env = edit_with('sed -i s/4/2/ "$1"', tmp_path)
    spec = json.dumps({"questions": [question], "base": str(tmp_path)})
    with run_in_pty(*python(ASKING, spec), env=env) as program:
        program.wait_for_question("│ + workers = 4", "2. Allow always")
        program.press("e")
        lines = program.wait_for_question("│ + workers = 2", "This is your version", "› 2. Deny")
        assert "always" not in "\n".join(lines)
        assert "workers = 4" not in "\n".join(lines)
        program.press("a")
        said = answers(program)[0]
    assert said["edited"] == {**write, "content": "workers = 2\n"}
    assert said["comment"] == "I edited the input before it ran"


def test_an_edit_that_cannot_be_used_changes_nothing(tmp_path: Path) -> None:
    """The question comes back with what is wrong; what is refused in the end goes nowhere."""
    question = {**RUN, "tool_name": "Fetch", "tool_input": {"url": "a"}}
    env = edit_with('eval "$(cat script)"', tmp_path)
    edits = {
        "exit 3": ("url: a", "editor ended with exit code 3; nothing was changed"),
        """echo '{' > "$1" """: ("url: a", "That is not valid JSON"),
        """echo '[]' > "$1" """: ("url: a", "must be a JSON object, not a list"),
        """printf '{"url": "b"}' > "$1" """: ("url: b", "This is your version"),
    }
    spec = json.dumps({"questions": [question]})
    with run_in_pty(*python(ASKING, spec), env=env | IMPORTABLE, cwd=tmp_path) as program:
        program.wait_for_question("url: a")
        for script, shown in edits.items():
            (tmp_path / "script").write_text(script)
            program.press("e")
            program.wait_for_question(*shown)
        program.press("d")
        said = answers(program)[0]
    assert said["option"] == "Deny"
    assert "edited" not in said


def test_a_long_input_must_be_read_to_its_end_before_it_can_be_allowed() -> None:
    """What is longer than the screen is paged through; a yes before its end gets a hint."""
    text = "\n".join(f"line {number}" for number in range(100))
    question = {**ASK, "tool_name": "Bash", "tool_input": {"command": text}}
    with asking(question) as program:
        lines = program.wait_for_question("Allow this?")
        assert not any("line 99" in line for line in lines)
        program.press("a")
        program.wait_for("Read to the end first")
        program.press(" ")
        program.wait_for("line 20")
        program.press("\x1b[F")
        program.wait_for("line 99")
        program.press("a")
        assert answers(program)[0]["option"] == "Allow once"


def test_a_megabyte_does_not_stop_the_loop() -> None:
    """The countdown and everything else go on while a long line is laid out."""
    question = {**ASK, "tool_name": "Bash", "tool_input": {"command": "漢\x1b"}}
    with asking(question, times=150_000) as program:
        program.wait_for_question("Allow this?")
        program.press("d")
        said = answers(program)
    assert said[0]["option"] == "Deny"
    assert said[-1]["longest_work"] < 1.0


def test_every_line_of_a_long_input_can_be_seen() -> None:
    """Paging through shows each line once at least, and in order."""
    text = "\n".join(f"<{number}>" for number in range(60))
    question = {**ASK, "tool_name": "Bash", "tool_input": {"command": text}}
    with asking(question) as program:
        program.wait_for_question("Allow this?")
        pages = [program.wait_until(read_position, "the first page")]
        while not any("<59>" in line for line in pages[-1]):
            program.press("\x1b[6~")
            pages.append(program.wait_until(is_after(pages[-1]), "the next page"))
        seen = "\n".join(line for page in pages for line in page)
        assert all(f"│ <{number}>" in seen for number in range(60))


def read_position(lines: list[str]) -> int:
    """The last line that a page shows, by the head of the question; 0 while it is being drawn."""
    found = re.search(r"(\d+)/\d+ lines", lines[0])
    # Drawn from top to bottom: once the last row is there, all of them are.
    before = len(["prompt", "", "asked by", "", "tool"])
    return int(found[1]) if found and f"│ <{int(found[1]) - before - 1}>" in lines else 0


def is_after(page: list[str]) -> Callable[[list[str]], bool]:
    """Whether a screen is a later page, drawn to its end."""
    position = read_position(page)
    return lambda lines: read_position(lines) > position


def test_a_resize_keeps_the_question_whole() -> None:
    """At another size the question is drawn anew, whole and once, and can be answered."""
    prompt = "Allow this rather long question to be asked here?"
    with asking({**ASK, "prompt": prompt}) as program:
        program.wait_for_question("asked here?")
        for columns, rows in ((44, 20), (200, 50)):
            program.resize(columns, rows)
            program.wait_until(partial(is_whole, columns), f"{columns} columns")
        assert prompt in program.wait_for(prompt)
        program.press("a")
        assert answers(program)[0]["option"] == "Allow once"


def is_whole(columns: int, lines: list[str]) -> bool:
    """A rule of the full width, each option once, and the help."""
    texts = [line for line in lines if line]
    options = [line for line in texts if re.match(r"[› ] \d\. ", line)]
    return len(texts[:1]) == 1 and len(texts[0]) == columns - 1 and len(options) == 3


HOSTILE = [
    "\x1b[2K\x1b[1A Allow reading only?",
    "\x1b]0;safe\x07 title",
    "\x9b2J cleared",
    "safe\rdanger",
    "\u202egnp.tfosorcim",
    "zero\u200bwidth",
    "/tmp/hello\x1b[/../../etc/hosts",
    "[bold red]mark-up[/] {braces} <b>tags</b> %s",
    "bell\x07\x08\x7f",
    "\ud800 lone",
]


def test_hostile_prompts_are_visible_and_harmless() -> None:
    """Every character can be seen, can be read back, and moves nothing on the terminal."""
    questions = [
        {
            "prompt": text,
            "options": ["Allow", f"No {text}"],
            "tool_name": text,
            "tool_input": {text: text},
            "reason": text,
            "hook": f"hook{number}{text}",
        }
        for number, text in enumerate(HOSTILE)
    ]
    with asking(*questions) as program:
        for number, text in enumerate(HOSTILE):
            lines = program.wait_for_question(f"hook{number}", "› 2. No")
            prompt = next(row for row, line in enumerate(lines) if "Approval needed" in line) + 1
            assert unescape(lines[prompt]) == text
            program.press("\r")
        said = answers(program)
    assert [answer["option"] for answer in said[:-1]] == [f"No {text}" for text in HOSTILE]
    shown = program.raw.decode("utf-8", "replace")
    assert not [
        bad for bad in ("\x1b]", "\x07", "\x9b", "\u202e", "\u200b", "\x1b[/") if bad in shown
    ]


def test_a_terminal_that_has_only_ascii_shows_which_letters_there_are() -> None:
    """No letter becomes a question mark that could stand for any other."""
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    spec = json.dumps({"questions": [{**ASK, "prompt": "Größe?"}]})
    with run_in_pty(*python(ASKING, spec), env=locale) as program:
        program.wait_for_question("Gr\\u{F6}\\u{DF}e?", "> 3. Deny")
        program.press("d")
        assert answers(program)[0]["option"] == "Deny"


def test_the_terminal_is_left_as_it_was() -> None:
    """After the question the terminal echoes and edits lines as before."""
    with asking(ASK, line_after=True) as program:
        program.wait_for_question("Allow this?")
        program.press("d")
        program.wait_for("longest_work")
        program.press("typx\x7fed\n")
        assert answers(program)[-1]["typed_after"] == "typed\n"


def in_shell(line: str) -> AbstractContextManager[PtyProgram]:
    """A line of bash in a terminal; $ASK is the program with one question."""
    spec = json.dumps({"questions": [ASK]})
    ask = f"'{sys.executable}' -m {ASKING} '{spec}'"
    return run_in_pty("bash", "-c", line.replace("$ASK", ask), columns=100)


def test_a_pipe_on_standard_input_does_not_answer() -> None:
    """Keys come from the controlling terminal, whatever standard input and output are."""
    with in_shell("printf 'a\\n1\\n' | $ASK | cat") as program:
        program.wait_for_question("› 3. Deny")
        program.press("d")
        assert answers(program)[0]["option"] == "Deny"


def test_in_the_background_of_a_terminal_nobody_is_asked() -> None:
    """A job in the background would be stopped by reading; it is refused instead."""
    with in_shell("set -m; $ASK & wait; echo over") as program:
        program.wait_for("runs in the background of its terminal", "over")


def test_without_a_terminal_it_raises_at_once() -> None:
    """A "y" in a pipe is no answer: the error lets the kernel deny."""
    program = (
        "import asyncio\n"
        "from amplifier_hooks.cli.approval.terminal_approval import TerminalApproval\n"
        "from amplifier_core.errors import ApprovalError\n"
        "async def main():\n"
        "    try:\n"
        "        await TerminalApproval().request_approval('?', ['Allow', 'Deny'], 60, 'deny')\n"
        "    except ApprovalError as error:\n"
        "        print(type(error).__name__, error)\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input="y\n",
        text=True,
        capture_output=True,
        cwd=ROOT,
        start_new_session=True,
        timeout=30,
        check=True,
    )
    assert done.stdout.startswith("NoTerminal no terminal to ask on")


async def test_a_file_in_place_of_the_terminal_is_none(tmp_path: Path) -> None:
    """Only a terminal counts."""
    fake = tmp_path / "tty"
    fake.write_text("a\n")
    question = ApprovalQuestion("?", ("Allow", "Deny"), 5, "deny", hook="h")
    with pytest.raises(NoTerminal, match="not a terminal"):
        await TerminalApproval(device=str(fake)).decide(question)


async def test_without_a_terminal_a_default_of_allow_is_a_refusal_too(tmp_path: Path) -> None:
    """Without a terminal the answer is no, whatever holds when time is up."""
    question = ApprovalQuestion("?", ("Allow", "Deny"), 5, "allow", hook="h")
    system = TerminalApproval(device=str(tmp_path / "absent"))
    decision = await ApprovalGate(system).ask(question)
    assert not decision.allowed
    assert "no terminal" in decision.detail


def test_it_is_an_approval_system() -> None:
    """The kernel's protocols, both forms."""
    assert isinstance(TerminalApproval(), ApprovalSystem)
    assert isinstance(TerminalApproval(), DecidingApprovalSystem)


def test_a_dumb_terminal_is_no_terminal() -> None:
    """A terminal that cannot show the question cannot have it answered."""
    spec = json.dumps({"questions": [ASK]})
    with run_in_pty(*python(ASKING, spec), env={"TERM": "dumb"}, columns=200) as program:
        assert program.wait_end() == 1
        assert "NoTerminal" in program.text()
