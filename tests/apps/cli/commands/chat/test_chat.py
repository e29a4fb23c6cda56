"""amplifier chat: a conversation, its commands, and how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_apps.cli import exit_codes
from amplifier_apps.cli.commands.chat import HELP, run_command
from amplifier_foundation import SessionInfo, SessionStore
from amplifier_foundation.trust.store import TrustStore
from tests.apps.cli.conftest import Project
from tests.apps.cli.program import PROGRAM, run_amplifier, run_at_terminal, wait_for_prompt
from tests.support.processes import heed_interrupts
from tests.support.sessions import calls
from tests.support.trust import look_at

HELLO = {"text": "Hello to you."}


def test_chat_in_a_pipe_takes_a_line_at_a_time(project: Project) -> None:
    """Scripts can talk, too; empty lines are passed over, and /exit ends it."""
    project({"text": "One."}, {"text": "Two."})
    done = run_amplifier("chat", stdin="first\n\n/status\nsecond\n/exit\nnever\n")
    assert (done.code, done.stdout) == (0, "One.\nTwo.\n")
    assert "1 turn, 0 tool calls" in done.stderr


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


def test_a_stopped_turn_does_not_repeat_the_reply(project: Project) -> None:
    """What was said already is not said again as a warning."""
    project({**calls("Bash", command="sleep 2"), "text": "Slowly now."}, HELLO)
    with run_at_terminal("chat", columns=100, rows=30) as program:
        wait_for_prompt(program, 1)
        program.press("go\r")
        program.wait_for("running Bash")
        program.press("\x03")
        lines = program.wait_for("! Stopped, as requested.")
        assert "\n".join(lines).count("Slowly now.") == 1


def test_a_turn_that_fails_does_not_end_the_conversation(project: Project) -> None:
    """The error is shown, and the next line is answered."""
    project({"expect": "second", "text": "Fine."})
    done = run_amplifier("chat", stdin="first\nsecond\n")
    assert (done.code, done.stdout) == (0, "Fine.\n")
    assert "\n✗ Reply 1 of the script" in done.stderr


def test_an_interrupt_from_outside_ends_the_program(project: Project) -> None:
    """While it waits for the next line."""
    project(HELLO)
    child = subprocess.Popen(
        [*PROGRAM, "chat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=heed_interrupts,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(b"hi\n")
    child.stdin.flush()
    assert child.stdout.readline() == b"Hello to you.\n"
    while b"tokens" not in child.stderr.readline():  # type: ignore[union-attr]
        pass
    os.kill(child.pid, signal.SIGINT)
    try:
        assert child.wait(15) == exit_codes.INTERRUPTED
    finally:
        child.kill()
        child.communicate()


class FakeAgent:
    """What the commands of a conversation look at."""

    def __init__(self) -> None:
        self.info = SessionInfo("abc")
        self.turns = 1
        self.messages: list[tuple[str, str]] = []
        registry = SimpleNamespace(list_handlers=lambda: {"tool:pre": ["guard", "linter"]})
        self.session = SimpleNamespace(
            session_id="abc",
            stats={"tool_invocations": 2},
            coordinator=SimpleNamespace(hooks=registry),
        )
        self.display = SimpleNamespace(state=SimpleNamespace(summarize=lambda: "1.0 s"))

    def notify(self, message: str, level: str = "info") -> None:
        self.messages.append((message, level))

    def rename(self, name: str) -> None:
        self.info = SessionInfo("abc", name=name)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("/help", (HELP, "info")),
        ("/status", ("abc (not named yet)\n1 turn, 2 tool calls, 1.0 s", "info")),
        ("/hooks", ("tool:pre: guard, linter", "info")),
        ("/name", ("This session is called nothing yet.", "info")),
        ("/name  My talk ", ("This session is now called My talk.", "info")),
        ("/nmae", ("No command /nmae; /help lists them.", "warning")),
    ],
)
def test_a_command_is_answered(line: str, message: tuple[str, str]) -> None:
    """And the conversation goes on."""
    agent: Any = FakeAgent()
    assert run_command(agent, line)
    assert agent.messages == [message]


def test_a_session_gets_the_name_that_was_given() -> None:
    """Without the space around it."""
    agent: Any = FakeAgent()
    run_command(agent, "/name  My talk ")
    assert agent.info.name == "My talk"


@pytest.mark.parametrize("line", ["/exit", "/quit"])
def test_leaving_ends_the_conversation(line: str) -> None:
    """Without another word."""
    agent: Any = FakeAgent()
    assert not run_command(agent, line)
    assert agent.messages == []


def test_nothing_is_kept_of_a_conversation_without_a_turn(project: Project, home: Path) -> None:
    """Who only looks leaves no session behind."""
    project(HELLO)
    assert run_amplifier("chat", stdin="/help\n").code == 0
    assert SessionStore().list() == []
