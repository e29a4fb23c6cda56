"""What runs beside or above our hooks is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.installing import places
from amplifier_hooks.coding_agents.installing.guard import GuardOptions, install_guard
from amplifier_hooks.coding_agents.installing.installation import Target
from amplifier_hooks.coding_agents.installing.switches import list_extensions
from amplifier_hooks.coding_agents.known.agent import MOD, PLUGIN, SKILL


@pytest.fixture
def project(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without anything."""
    monkeypatch.setattr(places, "ETC", home / "etc")
    (home / "project").mkdir()
    return home / "project"


def write(path: Path, content: object = "") -> None:
    """A file with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


def test_plugins_mods_and_skills_of_claude_code(home: Path, project: Path) -> None:
    """Those above hooks come first; one that is switched off is not loaded."""
    copy = home / "copy"
    write(copy / "hooks" / "hooks.json", {"modules": ["./register.js"]})
    installed = {"plugins": {"tool@market": [{"installPath": str(copy)}]}}
    write(home / ".claude/plugins/installed_plugins.json", installed)
    write(
        project / ".claude/settings.json", {"enabledPlugins": {"theirs@repo": True, "no@x": False}}
    )
    write(project / ".claude/skills/deploy/SKILL.md")
    found = [(one.kind, one.name, one.can) for one in list_extensions("claude", project)]
    assert found == [
        ("mod", "tool@market", MOD),
        ("plugin", "theirs@repo", PLUGIN),
        ("plugin", "tool@market", PLUGIN),
        ("skill", "deploy", SKILL),
    ]


def test_those_of_the_other_agents(home: Path, project: Path) -> None:
    """Each where its agent keeps them."""
    write(home / ".gemini/extensions/search/gemini-extension.json", {"name": "search"})
    write(
        home / ".codex/config.toml", '[plugins."a@b"]\nenabled = true\n[plugins.off]\nenabled=false'
    )
    write(home / ".copilot/installed-plugins/market/one/plugin.json")
    write(project / ".opencode/plugin/other.js")
    write(project / "opencode.json", {"plugin": ["from-npm"]})
    found = {
        agent: [one.name for one in list_extensions(agent, project)]
        for agent in ("gemini", "codex", "copilot", "opencode", "cursor")
    }
    assert found == {
        "gemini": ["search"],
        "codex": ["a@b"],
        "copilot": ["market/one"],
        "opencode": ["from-npm", "other.js"],
        "cursor": [],
    }


def test_our_own_plugin_is_not_one_of_them(home: Path, project: Path) -> None:
    """It is the guard."""
    install_guard(Target("opencode", "project", project), GuardOptions())
    assert list_extensions("opencode", project) == []


@pytest.mark.parametrize("content", ["", "[]", '{"enabledPlugins": 5}', '{"plugin": {"a": 1}}'])
def test_files_of_another_form_hide_nothing_else(project: Path, content: str) -> None:
    """Nobody knows what their agent makes of them."""
    for name in (".claude/settings.json", "opencode.json"):
        write(project / name, content)
    write(project / ".claude/skills/deploy/SKILL.md")
    assert [one.name for one in list_extensions("claude", project)] == ["deploy"]
    list_extensions("opencode", project)
