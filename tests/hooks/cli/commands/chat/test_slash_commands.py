"""The commands of a conversation."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_core.errors import SessionError
from amplifier_hooks import SessionInfo
from amplifier_hooks.cli.commands.agent import AgentOptions
from amplifier_hooks.cli.commands.chat.slash_commands import (
    COMMANDS,
    NO_BACKUPS,
    EditLog,
    run_command,
)


class FakeAgent:
    """What the commands of a conversation look at."""

    def __init__(self) -> None:
        self.info = SessionInfo("abc")
        self.turns = 1
        self.messages: list[tuple[str, str]] = []
        handlers = {"tool:pre": ["guard", "linter", "cli-edits"], "*": ["cli-display"]}
        registry = SimpleNamespace(list_handlers=lambda: handlers)
        points: dict[str, Any] = {"providers": {}, "orchestrator": None}
        self.session = SimpleNamespace(
            session_id="abc",
            config={},
            compact=self.refuse,
            stats={"tool_invocations": 2},
            mounting=SimpleNamespace(mounted=[]),
            coordinator=SimpleNamespace(hooks=registry, mount_points=points),
        )
        self.display = SimpleNamespace(state=SimpleNamespace(summarize=lambda: "1.0 s"))

    def notify(self, message: str, level: str = "info") -> None:
        self.messages.append((message, level))

    async def refuse(self) -> bool:
        raise SessionError("X cannot be compacted: it has no compact()")

    def rename(self, name: str) -> None:
        self.info = SessionInfo("abc", name=name)


class FakeTalk:
    """A conversation that notes what commands do to it."""

    def __init__(self) -> None:
        self.agent: Any = FakeAgent()
        self.edits = EditLog()
        self.options = AgentOptions()
        self.done: list[str] = []

    def leave(self) -> None:
        self.done.append("leave")

    def start_over(self) -> None:
        self.done.append("start over")

    def tell_agent(self, text: str) -> None:
        self.done.append(text)

    async def ask(self, question: str) -> bool:
        self.done.append(question)
        return True


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("/status", ("abc (not named yet)\nnone\n1 turn, 2 tool calls, last turn 1.0 s", "info")),
        ("/hooks", ("tool:pre: guard, linter", "info")),
        ("/name", ("This session is called nothing yet.", "info")),
        ("/name  My talk ", ("This session is now called My talk.", "info")),
        ("/nmae", ("No command /nmae; did you mean /name? /help lists them.", "warning")),
        ("/xyzzy", ("No command /xyzzy; /help lists them.", "warning")),
        ("/undo", (NO_BACKUPS, "warning")),
        ("/compact", ("X cannot be compacted: it has no compact()", "warning")),
    ],
)
async def test_a_command_is_answered(line: str, message: tuple[str, str]) -> None:
    """And the conversation goes on."""
    talk = FakeTalk()
    await run_command(talk, line)
    assert talk.agent.messages == [message]
    assert talk.done == []


async def test_help_lists_every_command() -> None:
    """With what it does."""
    talk = FakeTalk()
    await run_command(talk, "/HELP")
    ((text, _),) = talk.agent.messages
    for name, command in COMMANDS.items():
        assert f"\n{name} {command.argument}".rstrip() in text
        assert command.about in text


async def test_a_session_gets_the_name_that_was_given() -> None:
    """Without the space around it."""
    talk = FakeTalk()
    await run_command(talk, "/name  My talk ")
    assert talk.agent.info.name == "My talk"


@pytest.mark.parametrize(
    ("line", "done"), [("/exit", "leave"), ("/quit", "leave"), ("/clear", "start over")]
)
async def test_leaving_and_starting_over_need_no_words(line: str, done: str) -> None:
    """They are done."""
    talk = FakeTalk()
    await run_command(talk, line)
    assert (talk.done, talk.agent.messages) == ([done], [])
