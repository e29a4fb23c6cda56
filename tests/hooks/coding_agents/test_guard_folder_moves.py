"""Folders in which an agent's guard lives."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.guards.bash import Word
from amplifier_hooks.guards.self_protection import MOST_READINGS, find_uprooted, list_readings
from tests.hooks.coding_agents.sessions.agents import start

HERE, THERE = Path("/here"), Path("/there")


def test_each_word_is_read_from_each_folder() -> None:
    """In the order in which they are written."""
    a, b = Word("a", "a"), Word("b", "b")
    assert list(list_readings([a, b], [HERE, THERE])) == [
        (a, HERE),
        (a, THERE),
        (b, HERE),
        (b, THERE),
    ]


def test_the_most_that_is_looked_at_is_words_times_folders() -> None:
    """One more is an error at once, not only when somebody gets there."""
    words = [Word("a", "a")] * (MOST_READINGS // 2)
    assert len(list(list_readings(words, [HERE, THERE]))) == MOST_READINGS
    with pytest.raises(ValueError, match="5001 words, too many"):
        list_readings([*words, Word("b", "b")], [HERE, THERE])


AWAY = ["mv .claude x", "rm -r .claude", "ln -s .claude x", "mv -t x .claude", "cd .. && rm -r p"]
AWAY += ["rm -rf ../p", "sh -c 'rm -rf .'", "git clean -fdx", "git stash --all", "rm -r link"]
AWAY += ["mv ../p ../q", "git -C . clean -X -f"]
STAYING = ["rm x", "mv x .claude", "mv x .", "ln -s x .", "rm -r .claude/commands", "git clean -f"]
STAYING += ["git stash", "cp -r .claude x", "ls .claude", "git add .claude", "rm -r .codex"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with a settings file, and a link to where it is."""
    found = tmp_path / "p"
    (found / ".claude").mkdir(parents=True)
    (found / ".codex").mkdir()
    (found / ".claude" / "settings.json").touch()
    (found / "link").symlink_to(".claude")
    return found


def _find(command: str, folder: Path) -> Path | None:
    files = [folder / ".claude" / "settings.json", folder / ".codex" / "hooks.json"]
    return find_uprooted(command, folder, files)


def test_taking_the_folder_of_a_guard_away_is_found(folder: Path) -> None:
    """Whichever folder above it is named; not what leaves it in its place, nor where none is."""
    for command in AWAY:
        assert _find(command, folder) == folder / ".claude" / "settings.json", command
    for command in STAYING:
        assert _find(command, folder) is None, command


def test_a_command_with_too_many_words_is_not_looked_through(folder: Path) -> None:
    """The hook that asks fails, and so denies."""
    words = "x " * (MOST_READINGS // 2 + 1)
    with pytest.raises(ValueError, match="5001 words, too many to be looked at"):
        _find(f"cd link && rm -r {words}", folder)


async def test_an_agent_does_not_move_its_guard(project: Path) -> None:
    """The reason names the file."""
    settings = project / ".gemini" / "settings.json"
    settings.parent.mkdir()
    settings.touch()
    async with start("claude", project, guarded=[settings, Path("opencode.json")]) as one:
        verdict = await one.tell("PreToolUse", tool_input={"command": "mv .gemini x"})
        other = await one.tell("PreToolUse", tool_input={"command": "mv .claude x"})
    assert verdict.decision == "deny"
    assert str(settings) in str(verdict.reason)
    assert other.decision is None
