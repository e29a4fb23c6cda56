"""The table of places is data in good order."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from amplifier_hooks.guards.policy import protected_place_table as table
from amplifier_hooks.guards.policy.protected_places import fold_name

RELATIVE = [*table.PROJECT, *table.HOME, *table.CONFIG, *table.ZSH, *table.GIT_RUNS]


@pytest.mark.parametrize("entry", sorted({*RELATIVE, *table.NAMED_ONLY}))
def test_an_entry_is_a_plain_path_below_something(entry: str) -> None:
    """Without steps up, and in a spelling that no comparison changes beyond letter case."""
    path = PurePosixPath(entry)
    assert not path.is_absolute()
    assert ".." not in path.parts
    assert [fold_name(part) for part in path.parts] == [part.lower() for part in path.parts]


def test_places_of_the_system_are_absolute() -> None:
    """They count wherever the roots are."""
    assert all(PurePosixPath(entry).is_absolute() for entry in table.SYSTEM)
    assert {"/etc/crontab", "/var/spool/cron", "/etc/profile", "/etc/sudoers"} <= {*table.SYSTEM}


@pytest.mark.parametrize(
    "entry",
    [
        ".bashrc",
        ".zshrc",
        ".profile",
        ".ssh",
        ".gnupg",
        ".gitconfig",
        ".npmrc",
        ".kube/config",
        ".local/bin",
        ".claude/settings.json",
        ".codex/config.toml",
    ],
)
def test_what_the_documentation_names_is_sealed_at_home(entry: str) -> None:
    """Start-up files, keys, programs by name, other agents."""
    assert entry in table.HOME


@pytest.mark.parametrize(
    "entry",
    [
        ".claude/settings.json",
        ".codex/hooks.json",
        ".gemini/settings.json",
        ".cursor/hooks.json",
        ".github/hooks",
        ".mcp.json",
        ".opencode/plugin",
        ".vscode/tasks.json",
        ".vscode/settings.json",
        ".vscode/launch.json",
        ".vscode/mcp.json",
        ".copilot/hooks",
        ".qwen/settings.json",
        ".continue/config.yaml",
        ".kiro/hooks",
        ".amazonq/mcp.json",
        ".windsurf/hooks.json",
        ".roo/mcp.json",
        ".junie/mcp",
        ".idea/runConfigurations",
        ".zed/tasks.json",
        ".exrc",
        ".nvim.lua",
        ".vimrc",
        ".helix/languages.toml",
        ".vim/coc-settings.json",
        ".devcontainer",
        ".devcontainer.json",
        ".clinerules/hooks",
        ".factory/settings.json",
        ".augment/settings.json",
        ".kilocode/mcp.json",
        ".trae/mcp.json",
        "crush.json",
        ".aider.conf.yml",
        ".openhands/setup.sh",
        "mise.toml",
    ],
)
def test_settings_of_other_agents_and_editors_are_sealed_in_a_project(entry: str) -> None:
    """Each of them makes a program run that nobody in the project started."""
    assert entry in table.PROJECT
