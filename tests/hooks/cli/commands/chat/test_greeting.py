"""The first and the last lines of a conversation."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_hooks import SessionInfo
from amplifier_hooks.cli.commands.chat.slash_commands import (
    describe_session,
    greet,
    list_hooks,
    say_goodbye,
)


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
