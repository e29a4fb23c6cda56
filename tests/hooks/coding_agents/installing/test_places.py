"""Where settings are, and which files a guarded agent must not write."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.installing.places import (
    PLACES,
    find_root,
    find_settings,
    list_beside,
    list_guarded_files,
    list_guarded_names,
)

ENV = {"HOME": "/h"}


@pytest.mark.parametrize(
    ("agent", "user", "project"),
    [
        ("claude", "/h/.claude/settings.json", "/p/.claude/settings.local.json"),
        ("codex", "/h/.codex/hooks.json", "/p/.codex/hooks.json"),
        ("gemini", "/h/.gemini/settings.json", "/p/.gemini/settings.json"),
        ("copilot", "/h/.copilot/hooks/amplifier.json", "/p/.github/hooks/amplifier.json"),
        ("cursor", "/h/.cursor/hooks.json", "/p/.cursor/hooks.json"),
        (
            "opencode",
            "/h/.config/opencode/plugin/amplifier.js",
            "/p/.opencode/plugin/amplifier.js",
        ),
    ],
)
def test_each_agent_has_its_files(agent: str, user: str, project: str) -> None:
    """One for the person, one for a project."""
    assert str(find_settings(agent, "user", Path("/p"), ENV)) == user
    assert str(find_settings(agent, "project", Path("/p"), ENV)) == project


@pytest.mark.parametrize(
    ("agent", "variable", "expected"),
    [
        ("claude", "CLAUDE_CONFIG_DIR", "/o/settings.json"),
        ("codex", "CODEX_HOME", "/o/hooks.json"),
        ("gemini", "GEMINI_CLI_HOME", "/o/.gemini/settings.json"),
        ("copilot", "COPILOT_HOME", "/o/hooks/amplifier.json"),
        ("opencode", "XDG_CONFIG_HOME", "/o/opencode/plugin/amplifier.js"),
    ],
)
def test_agents_can_be_told_another_place(agent: str, variable: str, expected: str) -> None:
    """By the variable that they read themselves."""
    found = find_settings(agent, "user", Path("/p"), {**ENV, variable: "/o"})
    assert str(found) == expected


def test_every_file_that_could_switch_a_guard_off_is_listed() -> None:
    """Those of all agents and both scopes, the runtime folder, and the client."""
    guarded = list_guarded_files(Path("/p"), ENV, Path("/run/guests"))
    for agent in PLACES:
        assert find_settings(agent, "user", Path("/p"), ENV) in guarded
        assert find_settings(agent, "project", Path("/p"), ENV) in guarded
    assert Path("/p/.claude/settings.json") in guarded
    assert Path("/h/.codex/config.toml") in guarded
    assert Path("/run/guests") in guarded
    for path in ("/h/.claude.json", "/h/.cursor/mcp.json", "/p/.mcp.json", "/p/.vscode/mcp.json"):
        assert Path(path) in guarded
    assert any((one / "client.py").is_file() for one in guarded)
    assert all(one.is_absolute() for one in list_guarded_files(env=ENV))


def test_the_root_is_the_nearest_folder_with_a_bundle(tmp_path: Path) -> None:
    """Not beyond the repository that the folder is in."""
    (tmp_path / "amplifier.yaml").touch()
    repository = tmp_path / "repository"
    inner = repository / "a" / "b"
    inner.mkdir(parents=True)
    assert find_root(inner) == (inner, False)
    (repository / ".git").mkdir()
    assert find_root(inner) == (repository, False)
    (repository / "a" / ".amplifier").mkdir()
    (repository / "a" / ".amplifier" / "amplifier.yaml").touch()
    assert find_root(inner) == (repository / "a", True)


def test_the_settings_of_any_project_have_relative_names() -> None:
    """Of every agent, each once."""
    names = list_guarded_names()
    assert Path(".claude/settings.local.json") in names
    assert {Path("opencode.json"), Path(".mcp.json"), Path(".vscode/mcp.json")} <= set(names)
    assert not any(one.is_absolute() for one in names)
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("agent", "path", "beside"),
    [
        ("codex", "/o/hooks.json", "/o/config.toml"),
        ("copilot", "/o/hooks/amplifier.json", "/o/settings.json"),
        ("claude", "/o/settings.json", "/o/settings.json"),
    ],
)
def test_all_settings_of_a_person_are_where_ours_are(agent: str, path: str, beside: str) -> None:
    """A variable moves all of them."""
    assert Path(path) in list_beside(agent, Path(path))
    assert Path(beside) in list_beside(agent, Path(path))
