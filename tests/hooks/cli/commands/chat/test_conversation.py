"""A conversation: lines of a person, turns of an agent, and commands in between."""

from __future__ import annotations

import io
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_hooks import SessionInfo, SessionStore
from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.commands.agent import AgentOptions
from amplifier_hooks.cli.commands.chat.conversation import Conversation, _open_history, read_prompts
from amplifier_hooks.cli.commands.chat.slash_commands import (
    describe_session,
    greet,
    list_hooks,
    say_goodbye,
)
from amplifier_hooks.machine.locations import find_data_home
from tests.hooks.cli.conftest import Project
from tests.hooks.cli.program import run_at_terminal, wait_for_prompt


def make_agent(*, resumed: bool = False, name: str = "") -> Any:
    def mount(kind: str, module: str, name: str | None = None, error: str | None = None) -> Any:
        entry = SimpleNamespace(name=name)
        return SimpleNamespace(kind=kind, id=module, entry=entry, error=error)

    mounted = [
        mount("tools", "tool-bash"),
        mount("hooks", "hooks-redaction"),
        mount("hooks", "hooks-broken", error="no such thing"),
        mount("hooks", "./guard.py", name="guard"),
    ]
    session = SimpleNamespace(
        session_id="0123456789",
        is_resumed=resumed,
        mounting=SimpleNamespace(mounted=mounted),
    )
    return SimpleNamespace(session=session, info=SessionInfo("x", name=name), turns=3)


def test_hooks_are_named_as_people_call_them() -> None:
    """Those at work: one that was left out is not."""
    assert list_hooks(make_agent()) == ["redaction", "guard"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "01234567"),
        ({"name": "My talk"}, "01234567 My talk"),
        ({"resumed": True}, "01234567, resumed after 3 turns"),
    ],
)
def test_a_session_is_described(options: dict[str, Any], text: str) -> None:
    """Its short id, its name, and where it goes on."""
    assert describe_session(make_agent(**options)) == text


def test_a_pipe_is_not_greeted(capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody reads it there."""
    greet(make_agent())
    say_goodbye(make_agent())
    assert capsys.readouterr().out == ""


async def test_a_pipe_is_read_line_by_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the space around them, and without empty ones; the last needs no newline."""
    monkeypatch.setattr("sys.stdin", io.StringIO("one \n\n   \n two\nthree"))
    assert [line async for line in read_prompts(nullcontext)] == ["one", "two", "three"]


async def test_who_has_read_enough_can_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread that reads does not keep the program from ending."""
    monkeypatch.setattr("sys.stdin", io.StringIO("one\ntwo\n"))
    lines = read_prompts(nullcontext)
    assert await anext(lines) == "one"
    await lines.aclose()  # type: ignore[attr-defined]


def test_typed_lines_are_kept_for_their_writer_alone(project: Project, home: Path) -> None:
    """In a file of mode 0600, below the person's data."""
    project({"text": "Hello."})
    with run_at_terminal("chat") as program:
        program.press("a secret thought\r")
        wait_for_prompt(program, 2)
        program.press("\x04")
        assert program.wait_end() == 0
    history = find_data_home() / "amplifier" / "history"
    assert "+a secret thought" in history.read_text()
    assert history.stat().st_mode & 0o777 == 0o600


def test_a_secret_that_was_typed_is_not_kept(home: Path) -> None:
    """The history on disk is scrubbed; in this conversation it can be recalled as it was."""
    history = _open_history(lambda text: text.replace("hunter22", "***"))
    history.append_string("use hunter22 for it")
    written = (find_data_home() / "amplifier" / "history").read_text()
    assert "+use *** for it" in written
    assert "hunter22" not in written
    assert history.get_strings() == ["use hunter22 for it"]


def test_a_new_line_is_begun_with_alt_enter(project: Project) -> None:
    """Enter alone sends; what was typed ahead of the prompt is sent as well."""
    project({"expect": "one\ntwo", "text": "Both."}, {"expect": "three", "text": "The third."})
    with run_at_terminal("chat") as program:
        program.press("one\x1b\rtwo\r")
        program.wait_for("Both.")
        program.press("three\r")
        program.wait_for("The third.")


async def test_a_conversation_lasts_until_the_person_leaves(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every turn is saved; what is said to the agent in between stands before the next prompt."""
    project({"text": "One."}, {"expect": "by the way\n\nsecond", "text": "Two."})
    monkeypatch.setattr("sys.stdin", io.StringIO("first\n/name Talk\nsecond\n/exit\nthird\n"))
    talk = Conversation(AgentOptions())
    talk.add_to_next_prompt("hello")
    said: list[str] = []
    monkeypatch.setattr(talk, "_run_turn", _follow(talk, said))
    assert await talk.run() == exit_codes.DONE
    (info,) = SessionStore().list()
    assert (info.turns, info.name) == (2, "Talk")
    assert said == ["first", "second"]


def _follow(talk: Conversation, said: list[str]):
    take = talk._run_turn

    async def run(line: str) -> None:
        said.append(line)
        await take(line)
        talk.add_to_next_prompt("by the way")

    return run


async def test_only_a_yes_is_a_yes(monkeypatch: pytest.MonkeyPatch) -> None:
    """In either spelling; the end of all lines is a no."""
    talk = Conversation(AgentOptions())

    class Agent:
        def notify(self, message: str, level: str) -> None:
            assert message == "Sure? (y/n)"

    async def lines():
        for line in ("Y", "yes", "n", "yes please"):
            yield line

    talk.agent, talk.lines = Agent(), lines()  # type: ignore[assignment]
    assert [await talk.ask("Sure?") for _ in range(5)] == [True, True, False, False, False]
