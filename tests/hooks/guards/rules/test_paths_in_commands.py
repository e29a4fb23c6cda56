"""A rule about a path judges commands by what they read and write."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hooks.guards.rules.asking import answer

NEVER = "[{name: env, path: .env, action: deny, reason: never touch it}]"
READING = "[{name: env, path: .env, access: read, action: deny, reason: unread}]"
WRITING = "[{name: env, path: .env, access: write, action: ask_user, reason: It writes .env}]"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with settings and their template."""
    (tmp_path / ".env").write_text("SECRET=1\n")
    (tmp_path / ".env.example").write_text("SECRET=\n")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("x = 1\n")
    return tmp_path


SEVEN = [
    ("Read", {"file_path": ".env"}),
    ("Bash", {"command": "cat .env"}),
    ("Bash", {"command": "head -5 .env"}),
    ("Bash", {"command": "cat .env*"}),
    ("Bash", {"command": "grep -r SECRET ."}),
    ("Bash", {"command": "grep -r anything ."}),
    ("Bash", {"command": "cat < .env"}),
    ("Bash", {"command": "cp .env x"}),
    ("Bash", {"command": "cat .e?v"}),
]


@pytest.mark.parametrize(("tool", "given"), SEVEN)
async def test_one_rule_stops_every_way(project: Path, tool: str, given: dict[str, str]) -> None:
    """Never touch .env, in one line."""
    result = await answer(project, NEVER, tool, given)
    assert (result.action, result.reason) == ("deny", "never touch it")


@pytest.mark.parametrize(("tool", "given"), SEVEN)
async def test_the_ways_are_ways_to_read(project: Path, tool: str, given: dict[str, str]) -> None:
    assert (await answer(project, READING, tool, given)).action == "deny"
    if not given.get("command", "").startswith("cp"):  # which may write to x/.env
        assert (await answer(project, WRITING, tool, given)).action == "continue"


@pytest.mark.parametrize(
    "command",
    [
        "git add .env.example",
        "cat .env.example",
        "ls -la",
        "grep -r x src",
        "echo .env",
        "npm test",
    ],
)
async def test_what_leaves_the_path_alone_goes_on(project: Path, command: str) -> None:
    assert (await answer(project, NEVER, "Bash", {"command": command})).action == "continue"


@pytest.mark.parametrize(
    "command", ["echo A=1 >> .env", "rm .env", "cp .env.example .env", "tee .env < src/a.py"]
)
async def test_writing_is_the_other_access(project: Path, command: str) -> None:
    """The reason of a rule is its question."""
    given = {"command": command}
    assert (await answer(project, READING, "Bash", given)).action == "continue"
    asked = await answer(project, WRITING, "Bash", given)
    assert (asked.action, asked.approval_prompt) == ("ask_user", "It writes .env")
    assert (await answer(project, NEVER, "Bash", given)).action == "deny"


async def test_tools_are_told_apart_by_what_they_do(project: Path) -> None:
    for tool, given, reads, writes in [
        ("Read", {"file_path": ".env"}, "deny", "continue"),
        ("Write", {"file_path": ".env", "content": ""}, "continue", "ask_user"),
        ("Edit", {"file_path": ".env"}, "deny", "ask_user"),
        ("mcp__files__read_file", {"path": ".env"}, "deny", "continue"),
    ]:
        assert (await answer(project, READING, tool, given)).action == reads, tool
        assert (await answer(project, WRITING, tool, given)).action == writes, tool


async def test_a_denial_without_a_reason_names_its_rule(project: Path) -> None:
    """The shortest rule there is: a path and an action."""
    result = await answer(project, "[{path: .env, action: deny}]", "Bash", {"command": "cat .env"})
    assert (result.action, result.reason) == ("deny", "the rule 'rule-1' denies it")


async def test_what_cannot_be_read_is_asked(project: Path) -> None:
    result = await answer(project, NEVER, "Bash", {"command": "cat $(printf '.e%sv' n)"})
    assert result.action == "ask_user"


async def test_an_exception_names_paths_of_commands(project: Path) -> None:
    """`unless` with nothing but a path takes it out for commands as well."""
    rules = """
    [{name: env, path: ".env*", unless: {path: .env.example}, action: deny, reason: never}]
    """
    given = {"command": "cat .env.example"}
    assert (await answer(project, rules, "Bash", given)).action == "continue"
    assert (await answer(project, rules, "Bash", {"command": "cat .env*"})).action == "deny"
