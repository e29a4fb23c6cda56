"""amplifier chat: a conversation, its commands, and how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from amplifier_hooks import SessionStore
from amplifier_hooks.agent.trust.store import TrustStore
from amplifier_hooks.cli import exit_codes
from tests.hooks.cli.conftest import Project
from tests.hooks.cli.program import (
    PROGRAM,
    invoke,
    run_amplifier,
    run_at_terminal,
    wait_for_prompt,
)
from tests.support.processes import handle_interrupts
from tests.support.sessions import calls
from tests.support.trust import look_at, trust_project

PROVIDER_THAT_RAISES = """
class Own:
    name = "own"

    async def complete(self, request, **options):
        raise RuntimeError("the line is dead")


async def mount(coordinator, config=None):
    await coordinator.mount("providers", Own(), name="own")
"""
HELLO = {"text": "Hello to you."}


def test_chat_in_a_pipe_takes_a_line_at_a_time(project: Project) -> None:
    """Scripts can talk, too; empty lines are passed over, and /exit ends it.

    The error of a turn that fails is shown, and the next line is answered.
    """
    project({"text": "One."}, {"expect": "second", "text": "Two."})
    done = run_amplifier("chat", stdin="first\n\n/status\nwrong\nsecond\n/exit\nnever\n")
    assert (done.code, done.stdout) == (0, "One.\nTwo.\n")
    assert "1 turn, 0 tool calls" in done.stderr
    assert "\n✗ Reply 2 of the script" in done.stderr


def test_chat_at_a_terminal(project: Project) -> None:
    """Several lines, commands, the history, leaving; the session can be resumed by its id."""
    project({"expect": "one\ntwo", "text": "Both lines."}, {"text": "Again."})
    with run_at_terminal("chat", columns=100, rows=30) as program:
        wait_for_prompt(program, 1)
        program.press("one\x1b\rtwo\r")
        program.wait_for("Both lines.", " tokens")
        wait_for_prompt(program, 2)
        program.press("/name My talk\r")
        program.wait_for("now called My talk")
        wait_for_prompt(program, 3)
        program.press("\x1b[A")
        program.wait_until(lambda lines: lines.count("› /name My talk") == 2, "the last line")
        program.press("\x03")
        wait_for_prompt(program, 4)
        program.press("\x04")
        program.wait_for("amplifier chat --resume")
        assert program.wait_end() == 0
    (info,) = SessionStore().list()
    assert (info.name, info.turns) == ("My talk", 1)


SAYS = """
from amplifier_core.models import HookResult

async def on_prompt_submit(event, data):
    return HookResult(user_message="the {word} hook")
"""


def test_a_changed_hook_is_used_when_the_person_says_reload(project: Project, home: Path) -> None:
    """The difference is shown first; until then, and after a no, the old one stays."""
    hook = home / "hook.py"
    hook.write_text(SAYS.format(word="old"))
    project(HELLO, hooks=["./hook.py"])
    with run_at_terminal("chat", columns=100, rows=40) as program:
        wait_for_prompt(program, 1)
        hook.write_text(SAYS.format(word="new"))
        program.press("one\r")
        program.wait_for("hook.py changed. The old settings stay", "the old hook")
        wait_for_prompt(program, 2)
        program.press("/reload\r")
        program.wait_for_question(
            "Use the changed files", '+    return HookResult(user_message="the new'
        )
        program.press("a")
        program.wait_for("Reloaded: hook")
        wait_for_prompt(program, 3)
        program.press("two\r")
        program.wait_for("the new hook")
    assert TrustStore().is_trusted(look_at(home))


def test_with_dev_an_edit_is_used_at_the_next_turn(project: Project, home: Path) -> None:
    """And is trusted from then on."""
    hook = home / "hook.py"
    hook.write_text(SAYS.format(word="old"))
    project(HELLO, hooks=["./hook.py"])
    with run_at_terminal("chat", "--dev", columns=100, rows=40) as program:
        wait_for_prompt(program, 1)
        hook.write_text(SAYS.format(word="new"))
        program.press("one\r")
        program.wait_for("the new hook")
        wait_for_prompt(program, 2)
    assert TrustStore().is_trusted(look_at(home))


def test_a_conversation_goes_on_another_day(project: Project) -> None:
    """With what was said before."""
    project(HELLO)
    run_amplifier("chat", stdin="first\n")
    (info,) = SessionStore().list()
    project({"expect": "second", "text": "Still here."})
    done = run_amplifier("chat", "--resume", info.id[:8], stdin="second\n")
    assert done.stdout == "Still here.\n"
    (info,) = SessionStore().list()
    assert (info.turns, info.messages) == (2, 4)


def test_a_stop_is_at_once_and_keeps_what_is_there(project: Project) -> None:
    """Esc ends a running command, Ctrl-C a reply; what was said and printed stays, what was typed
    is there at the next prompt, and the next turn works."""
    project(
        {**calls("Bash", command="echo half; sleep 50; touch sub/late"), "text": "Slowly now."},
        {"expect": "and then", "text": "one two three " * 200, "pause": 0.05},
        {"expect": "next", "text": "Fine."},
    )
    Path("sub").mkdir()
    with run_at_terminal("chat", columns=100, rows=40) as program:
        wait_for_prompt(program, 1)
        program.press("go\r")
        program.wait_for("▸ Bash  echo half; sleep 50", "│ half", "running Bash", "Esc stops")
        program.press("and the")
        program.press("\x1b")
        lines = program.wait_for("! Stopped, as requested.", "› and the")
        assert "\n".join(lines).count("Slowly now.") == 1
        assert "  │ half" in lines
        assert not any("stopping ·" in line for line in lines)
        program.press("n\r")
        program.wait_for("one two three", "answering")
        program.press("\x03")
        wait_for_prompt(program, 3)
        program.press("next\r")
        program.wait_for("Fine.")
        wait_for_prompt(program, 4)
        program.press("\x04")
        program.wait_end()
    assert not Path("sub/late").exists()
    (info,) = SessionStore().list()
    said = [one["content"] for one in SessionStore().load(info.id).state["messages"]]
    assert said[:4] == ["go", "Slowly now.", "The call was cancelled.", "and then"]
    assert said[4].startswith("one two three")
    assert said[4].endswith("[The reply was interrupted here.]")
    assert said[5:] == ["next", "Fine."]


MARKDOWN = "# Plan\n\nDo *this*:\n\n```python\nreturn 1\n```\n"


def test_the_first_lines_say_who_answers_and_replies_are_rendered(project: Project) -> None:
    """Model, folder, hooks and session, however narrow the terminal; code in colours."""
    project({"text": MARKDOWN}, hooks=["hooks-backup"])
    with run_at_terminal("chat", columns=40, rows=40) as program:
        text = " ".join(" ".join(wait_for_prompt(program, 1)).split())
        assert "model scripted folder ~ hooks " in text
        assert "command-guard" in text
        assert "backup session " in text
        assert "Esc stops" in text
        program.press("go\r")
        lines = wait_for_prompt(program, 2)
        assert {"Plan", "Do this:", "  return 1"} <= set(lines)
        assert b"\x1b[94" in program.raw


def test_commands_change_the_conversation_and_not_its_course(project: Project) -> None:
    """Starting over keeps the session before and the model; a failed command is said; a line that
    begins with a path is a prompt."""
    project({"text": "One."}, {"expect": "/etc/hosts", "text": "Two."})
    lines = [
        "/model fast",
        "one",
        "/model anthropic/claude",
        "/etc/hosts is wrong",
        "/etc",
        "/clear",
    ]
    done = run_amplifier("chat", stdin="\n".join([*lines, "/status", "three\n"]))
    assert done.stdout == "One.\nTwo.\nOne.\n"
    assert "✗ No model to talk to: provider-anthropic needs ANTHROPIC_API_KEY" in done.stderr
    assert "No command /etc;" in done.stderr
    assert "fast (scripted)\n  0 turns" in done.stderr
    assert sorted(info.turns for info in SessionStore().list()) == [1, 2]


def test_whatever_a_provider_of_others_raises_ends_only_the_turn(
    project: Project, home: Path
) -> None:
    """An author who knows no class of ours raises a plain RuntimeError; the next line is taken."""
    (home / "own.py").write_text(PROVIDER_THAT_RAISES)
    loop = {"module": "loop-basic", "config": {"provider": "own"}}
    path = project(HELLO, trusted=False, session={"orchestrator": loop})
    entry = "providers:\n- module: provider-own\n  source: ./own.py\n"
    path.write_text(path.read_text().replace("providers:\n", entry))
    trust_project(home)
    done = run_amplifier("chat", stdin="first\nsecond\n")
    assert done.code == 0
    assert done.stderr.count("✗ RuntimeError: the line is dead") == 2


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, exit_codes.INTERRUPTED), (signal.SIGTERM, exit_codes.TERMINATED)],
)
def test_a_signal_from_outside_ends_the_session_and_the_program(
    project: Project, number: signal.Signals, code: int
) -> None:
    """While it waits for the next line; the trail says that the person left."""
    project(HELLO)
    child = subprocess.Popen(
        [*PROGRAM, "chat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=handle_interrupts,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(b"hi\n")
    child.stdin.flush()
    assert child.stdout.readline() == b"Hello to you.\n"
    while b"tokens" not in child.stderr.readline():  # type: ignore[union-attr]
        pass
    os.kill(child.pid, number)
    try:
        assert child.wait(30) == code
    finally:
        child.kill()
        child.communicate()
    assert "session ended (user_exit)" in invoke("audit", "show").stdout


def test_nothing_is_kept_of_a_conversation_without_a_turn(project: Project, home: Path) -> None:
    """Who only looks leaves no session behind."""
    project(HELLO)
    assert run_amplifier("chat", stdin="/help\n").code == 0
    assert SessionStore().list() == []
