"""The content of a settings file, with and without us."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.coding_agents.installing.agents import AGENTS, Options
from amplifier_hooks.coding_agents.installing.contents import Contents, read_contents
from amplifier_hooks.coding_agents.installing.line import make_guest_command
from amplifier_hooks.coding_agents.installing.settings_file import SettingsError, SettingsFile

OPTIONS = Options(make_guest_command(Path("/f")))
PATH = Path("/h/settings.json")


def make_file(content: bytes | None) -> SettingsFile:
    """As if it had been read."""
    return SettingsFile(PATH, PATH, content, None)


@pytest.mark.parametrize(
    ("agent", "content"),
    [("claude", None), ("codex", b""), ("gemini", b"{}"), ("cursor", b" \n"), ("opencode", None)],
)
def test_an_empty_file_is_filled_and_emptied(agent: str, content: bytes | None) -> None:
    """Whatever emptiness it had."""
    before = read_contents(AGENTS[agent], make_file(content))
    assert before.entries == {}
    full = read_contents(AGENTS[agent], make_file(before.add(OPTIONS, content)))
    assert set(full.entries) == set(AGENTS[agent].list_events())
    assert full.is_empty(full.remove(None))


def test_what_others_say_is_not_empty() -> None:
    """So the file stays."""
    contents = read_contents(AGENTS["claude"], make_file(b'{"model": "opus"}'))
    assert not contents.is_empty(b'{"model": "opus"}')
    assert contents.is_empty(b"{ }\n")


@pytest.mark.parametrize(
    "do",
    [lambda one: one.entries, lambda one: one.add(OPTIONS, None), lambda one: one.remove(None)],
)
def test_a_broken_file_is_refused_with_path_line_and_remedy(do: Callable[[Contents], Any]) -> None:
    """Whatever is done with it."""
    contents = read_contents(AGENTS["codex"], make_file(b'{\n"hooks": {,}\n}'))
    with pytest.raises(SettingsError, match=r"settings\.json, line 2: .*Correct the file"):
        do(contents)
