"""Settings that keep hooks from running are found, wherever they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.installing import places
from amplifier_hooks.coding_agents.installing.switches import find_switches

OFF = '{"disableAllHooks": true}'


@pytest.mark.parametrize(
    ("agent", "file", "text"),
    [
        ("claude", ".claude/settings.json", OFF),
        ("claude", "p/.claude/settings.json", OFF),
        ("claude", "p/.claude/settings.local.json", OFF),
        ("copilot", "p/.claude/settings.json", OFF),
        ("copilot", "p/.github/copilot/settings.json", OFF),
        ("copilot", ".copilot/hooks/amplifier.json", OFF),
        ("gemini", ".gemini/settings.json", '{"hooksConfig": {"enabled": false}}'),
        ("gemini", "p/.gemini/settings.json", '// c\n{"hooksConfig": {"disabled": ["amplifier"]}}'),
    ],
)
def test_a_switch_is_named_with_its_file(home: Path, agent: str, file: str, text: str) -> None:
    """A project can switch off what a person has installed, so those count, too."""
    path = home / file
    path.parent.mkdir(parents=True)
    path.write_text(text)
    (found,) = find_switches(agent, home / "p")
    assert found.startswith(f"{path}: '")


@pytest.mark.parametrize(
    "text",
    [
        '{"disableAllHooks": false}',
        "{broken",
        "[]",
        '{"hooksConfig": 1}',
        '{"hooksConfig": {"enabled": true, "disabled": ["other"]}}',
    ],
)
def test_other_settings_switch_nothing_off(home: Path, text: str) -> None:
    """Nor do files that the agent cannot read."""
    for name in (".claude", ".gemini"):
        (home / name).mkdir()
        (home / name / "settings.json").write_text(text)
    assert [find_switches(one, home) for one in ("claude", "gemini", "copilot", "codex")] == [
        [],
        [],
        [],
        [],
    ]


@pytest.mark.parametrize("key", ["disableAllHooks", "allowManagedHooksOnly"])
def test_what_an_administrator_switches_off_is_found(
    home: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    """Our hooks are the person's, not the administrator's."""
    managed = home / "etc" / "claude-code" / "managed-settings.json"
    managed.parent.mkdir(parents=True)
    monkeypatch.setattr(places, "ETC", home / "etc")
    managed.write_text(f'{{"{key}": false}}')
    assert find_switches("claude", home) == []
    managed.write_text(f'{{"{key}": true}}')
    (found,) = find_switches("claude", home)
    assert key in found


def test_a_project_switches_codex_off_in_either_spelling(home: Path) -> None:
    """Also in a profile, which a person may have chosen for good."""
    config = home / ".codex" / "config.toml"
    config.parent.mkdir()
    for text in ("[features]\nhooks = false", "[features]\ncodex_hooks = false"):
        config.write_text(text)
        assert "switches every hook off" in find_switches("codex", home)[0]
    config.write_text("[profiles.quick.features]\nhooks = false")
    assert "profiles.quick.features.hooks" in find_switches("codex", home)[0]
    config.write_text("[features]\nhooks = true")
    assert find_switches("codex", home) == []


def test_with_hooks_of_the_machine_only_a_switch_that_names_them_counts(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gemini takes the names of hooks that a project switches off for all of its settings."""
    monkeypatch.setattr(places, "ETC", home / "etc")
    settings = home / "project" / ".gemini" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"hooksConfig": {"enabled": false, "disabled": ["amplifier"]}}')
    project = home / "project"
    assert len(find_switches("gemini", project)) == 2
    assert find_switches("gemini", project, managed=True) == []
    settings.write_text('{"hooksConfig": {"disabled": ["amplifier-0123"]}}')
    assert len(find_switches("gemini", project, managed=True)) == 1
