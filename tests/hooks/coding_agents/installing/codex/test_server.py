"""Speaking with Codex: what it says is read, and a silent or broken one is an error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.installing.codex_trust import CodexError, CodexServer
from tests.support.agent_homes import install_codex

HOOKS = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "mine"}]}]}}


def write_program(home: Path, body: str) -> str:
    """A program that is no Codex."""
    program = home / "bin" / "codex"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    return str(program)


def test_hooks_are_listed_and_trusted(home: Path) -> None:
    """Once trusted they stay so, until they change."""
    program, file = install_codex(home), home / ".codex" / "hooks.json"
    file.parent.mkdir()
    file.write_text(json.dumps(HOOKS))
    with CodexServer(program) as server:
        (hook,) = server.list_hooks(home)
        assert (hook.command, hook.trust, hook.source) == ("mine", "untrusted", file)
        server.trust([hook])
        assert server.list_hooks(home)[0].trust == "trusted"
        file.write_text(json.dumps(HOOKS).replace("mine", "other"))
        assert server.list_hooks(home)[0].trust == "modified"


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("exit 1", "ended"),
        ("echo not json; exit 0", "ended"),
        ("exec sleep 60", "does not answer"),
        (
            """read x; echo '{"id": 1, "error": {"message": "too old"}}'; cat >/dev/null""",
            "too old",
        ),
        (
            """read x; echo '{"id": 1}'; read x; read x; echo '{"id": 2, "result": {"a": 1}}'""",
            "new to us",
        ),
    ],
)
def test_a_codex_that_does_not_answer_is_an_error(home: Path, body: str, what: str) -> None:
    """In a sentence, and within the time that is given."""
    program = write_program(home, body)
    with pytest.raises(CodexError, match=what), CodexServer(program, seconds=0.7) as server:
        server.list_hooks(home)


@pytest.mark.parametrize(("name", "text"), [("config.toml", "[broken"), ("hooks.json", "{,")])
def test_why_codex_runs_no_hook_is_told(home: Path, name: str, text: str) -> None:
    """Else one would look for the reason in the wrong place."""
    (home / ".codex").mkdir()
    (home / ".codex" / name).write_text(text)
    with (
        pytest.raises(CodexError, match="runs no hook"),
        CodexServer(install_codex(home)) as server,
    ):
        server.list_hooks(home)


def test_a_missing_program_is_an_error(home: Path) -> None:
    """With its path."""
    with pytest.raises(CodexError, match="gone cannot be started"), CodexServer(f"{home}/gone"):
        pass
