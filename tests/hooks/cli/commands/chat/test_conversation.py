"""A conversation: lines of a person, turns of an agent, and commands in between."""

from __future__ import annotations

import io

import pytest

from amplifier_hooks import SessionStore
from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.commands.agent import AgentOptions
from amplifier_hooks.cli.commands.chat.conversation import Conversation
from tests.hooks.cli.conftest import Project


async def test_a_conversation_lasts_until_the_person_leaves(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every turn is saved; what is said to the agent in between stands before the next prompt."""
    project({"text": "One."}, {"expect": "by the way\n\nsecond", "text": "Two."})
    monkeypatch.setattr("sys.stdin", io.StringIO("first\n/name Talk\nsecond\n/exit\nthird\n"))
    talk = Conversation(AgentOptions())
    talk.tell_agent("hello")
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
        talk.tell_agent("by the way")

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
