"""Where clients keep their servers, as the real programs read them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.guards.mcp.client_files import (
    CLIENTS,
    MCP_NAMES,
    McpPlace,
    McpScope,
    list_mcp_files,
    list_mcp_places,
    list_plugin_tables,
)

SERVERS = {"s": {"command": "x"}}


def _write(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return path


def _install(home: Path, name: str, **more: str) -> Path:
    """A plugin, beside those that are there; its folder."""
    folder = home / "plugins" / "cache" / name
    register = home / "plugins" / "installed_plugins.json"
    plugins = json.loads(register.read_text())["plugins"] if register.exists() else {}
    plugins[name] = [{"scope": "user", "installPath": str(folder), **more}]
    _write(register, {"version": 2, "plugins": plugins})
    return folder


def test_servers_are_in_a_file_of_their_own_or_in_the_manifest(tmp_path: Path) -> None:
    """In each of the forms that Claude Code reads."""
    one, two = _install(tmp_path, "one@m"), _install(tmp_path, "two@m")
    three = _install(tmp_path, "three@m")
    with_key = _write(one / ".mcp.json", {"mcpServers": SERVERS})
    without = _write(two / ".mcp.json", SERVERS)
    manifest = _write(three / ".claude-plugin/plugin.json", {"mcpServers": SERVERS})
    _write(one / ".claude-plugin/plugin.json", {"mcpServers": ["./more.json", "./missing.json"]})
    named = _write(one / "more.json", {"mcpServers": SERVERS})
    assert list(list_plugin_tables(tmp_path, [])) == [
        ("one@m", with_key, ("mcpServers",)),
        ("one@m", named, ("mcpServers",)),
        ("two@m", without, ()),
        ("three@m", manifest, ("mcpServers",)),
    ]


def test_servers_of_a_plugin_may_be_in_its_marketplace_or_in_a_list(tmp_path: Path) -> None:
    """Claude Code starts those, too."""
    one, two = _install(tmp_path, "one@m"), _install(tmp_path, "two@m")
    market = {"m": {"installLocation": str(tmp_path / "m")}}
    _write(tmp_path / "plugins/known_marketplaces.json", market)
    offers = [1, {"name": "one", "mcpServers": ["./a.json", SERVERS]}, {"name": "two"}]
    path = _write(tmp_path / "m/.claude-plugin/marketplace.json", {"plugins": offers})
    named = _write(one / "a.json", SERVERS)
    manifest = _write(two / ".claude-plugin/plugin.json", {"mcpServers": [SERVERS, "b.mcpb"]})
    packed = two / "b.mcpb"
    packed.write_bytes(b"PK")
    assert list(list_plugin_tables(tmp_path, [])) == [
        ("one@m", path, ("plugins", "1", "mcpServers", "1")),
        ("one@m", named, ()),
        ("two@m", manifest, ("mcpServers", "0")),
        ("two@m", packed, ()),
    ]


def test_a_plugin_of_another_project_or_that_is_off_is_left_out(tmp_path: Path) -> None:
    """A project may switch on what the person has switched off."""
    home, project = tmp_path / "home", tmp_path / "project"
    _write(_install(home, "here@m", projectPath=str(project)) / ".mcp.json", SERVERS)
    _write(_install(home, "there@m", projectPath="/elsewhere") / ".mcp.json", SERVERS)
    _write(_install(home, "off@m") / ".mcp.json", SERVERS)
    _write(_install(home, "on@m") / ".mcp.json", SERVERS)
    _write(home / "settings.json", {"enabledPlugins": {"off@m": False, "on@m": False}})
    _write(project / ".claude/settings.json", {"enabledPlugins": {"on@m": True}})
    names = [name for name, _, _ in list_plugin_tables(home, [project])]
    assert names == ["here@m", "on@m"]
    above = [project / "inner", project]
    _write(project / ".claude/settings.json", {"enabledPlugins": {"here@m": False}})
    assert [name for name, _, _ in list_plugin_tables(home, above)] == ["here@m"]


def test_what_cannot_be_read_names_no_servers(tmp_path: Path) -> None:
    """Claude Code does not run it either."""
    assert list(list_plugin_tables(tmp_path, [])) == []
    values: list[Any] = [[], {"plugins": []}, {"plugins": {"a": 1}}, {"plugins": {"a": [1, {}]}}]
    for value in values:
        _write(tmp_path / "plugins/installed_plugins.json", value)
        assert list(list_plugin_tables(tmp_path, [])) == []
    (_install(tmp_path, "a@m") / ".mcp.json").parent.mkdir(parents=True)
    (tmp_path / "plugins/cache/a@m/.mcp.json").write_text("{")
    assert list(list_plugin_tables(tmp_path, [])) == []


ENV = {"HOME": "/h"}
FOLDER = Path("/p")


@pytest.mark.parametrize(
    ("client", "scope", "path", "keys"),
    [
        ("claude", "user", "/h/.claude.json", ("mcpServers",)),
        ("claude", "local", "/h/.claude.json", ("projects", "/p", "mcpServers")),
        ("claude", "project", "/p/.mcp.json", ("mcpServers",)),
        ("claude", "project", "/.mcp.json", ("mcpServers",)),
        ("codex", "user", "/h/.codex/config.toml", ("mcp_servers",)),
        ("codex", "project", "/p/.codex/config.toml", ("mcp_servers",)),
        ("cursor", "user", "/h/.cursor/mcp.json", ("mcpServers",)),
        ("cursor", "project", "/p/.cursor/mcp.json", ("mcpServers",)),
        ("vscode", "project", "/p/.vscode/mcp.json", ("servers",)),
        ("vscode", "project", "/p/.mcp.json", ("mcpServers",)),
        ("vscode", "user", "/h/.copilot/mcp-config.json", ("mcpServers",)),
        ("gemini", "user", "/h/.gemini/settings.json", ("mcpServers",)),
        ("gemini", "project", "/p/.gemini/settings.json", ("mcpServers",)),
    ],
)
def test_each_client_has_its_tables(
    client: str, scope: McpScope, path: str, keys: tuple[str, ...]
) -> None:
    """In the person's files and in those of the folder; of Claude Code, also of those above it."""
    folder = None if scope == "user" else FOLDER if "/p" in (path[:2], *keys) else Path("/")
    place = McpPlace(scope, Path(path), keys, folder=folder)
    assert place in list_mcp_places(client, FOLDER, ENV)


@pytest.mark.parametrize(
    ("client", "name"),
    [
        ("codex", ".codex/config.toml"),
        ("cursor", ".cursor/mcp.json"),
        ("gemini", ".gemini/settings.json"),
    ],
)
def test_a_project_is_everything_up_to_the_root_of_its_repository(
    tmp_path: Path, client: str, name: str
) -> None:
    """Whatever folder of it a client is started in."""
    inner = tmp_path / "repository" / "a" / "b"
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    paths = {one.path for one in list_mcp_places(client, inner, ENV)}
    assert {inner / name, tmp_path / "repository" / name} <= paths
    assert tmp_path / name not in paths
    local = [one.keys[1] for one in list_mcp_places("claude", inner, ENV) if one.scope == "local"]
    assert local == [str(inner), str(inner.parent), str(tmp_path / "repository")]


@pytest.mark.parametrize(
    ("client", "variable", "expected"),
    [
        ("claude", "CLAUDE_CONFIG_DIR", "/o/.claude.json"),
        ("codex", "CODEX_HOME", "/o/config.toml"),
        ("gemini", "GEMINI_CLI_HOME", "/o/.gemini/settings.json"),
        ("gemini", "GEMINI_CLI_SYSTEM_SETTINGS_PATH", "/o"),
        ("vscode", "COPILOT_HOME", "/o/mcp-config.json"),
    ],
)
def test_clients_can_be_told_another_place(client: str, variable: str, expected: str) -> None:
    """By the variable that they read themselves."""
    places = list_mcp_places(client, FOLDER, {**ENV, variable: "/o"})
    assert Path(expected) in [one.path for one in places]


def test_a_table_is_listed_once() -> None:
    """In a home, the file of the person is that of the project too."""
    home = Path("/h")
    for client in CLIENTS:
        places = list_mcp_places(client, home, ENV)
        assert len({(one.path, one.keys) for one in places}) == len(places)
    assert list_mcp_places("codex", home, ENV)[0].scope == "user"


def test_what_is_not_the_persons_own_is_listed_as_foreign(tmp_path: Path) -> None:
    """What an administrator or an extension has set up, and what is among other settings."""
    extension = tmp_path / ".gemini/extensions/x/gemini-extension.json"
    extension.parent.mkdir(parents=True)
    extension.touch()
    (tmp_path / "my.code-workspace").touch()
    env = {"HOME": str(tmp_path)}
    foreign = [
        str(one.path).removeprefix(str(tmp_path))
        for client in CLIENTS
        for one in list_mcp_places(client, tmp_path, env)
        if one.foreign
    ]
    assert {
        "/etc/claude-code/managed-mcp.json",
        "/etc/codex/config.toml",
        "/.config/Code/User/settings.json",
        "/.vscode/settings.json",
        "/my.code-workspace",
        "/.gemini/extensions/x/gemini-extension.json",
        "/etc/gemini-cli/settings.json",
        "/etc/gemini-cli/system-defaults.json",
    } <= set(foreign)


@pytest.mark.skipif(sys.platform == "darwin", reason="they are elsewhere there")
def test_profiles_of_an_editor_have_files_of_their_own(tmp_path: Path) -> None:
    """Beside that of the default profile."""
    profile = tmp_path / "Code/User/profiles/abc/mcp.json"
    profile.parent.mkdir(parents=True)
    profile.touch()
    env = {"HOME": "/h", "XDG_CONFIG_HOME": str(tmp_path)}
    paths = [one.path for one in list_mcp_places("vscode", FOLDER, env)]
    assert {profile, tmp_path / "Code/User/mcp.json"} <= set(paths)


def test_the_files_of_the_person_and_of_projects_are_those_of_the_tables() -> None:
    """A table that is not in one of the lists could be changed by an agent."""
    listed = set(list_mcp_files(ENV))
    for client in CLIENTS:
        for place in list_mcp_places(client, FOLDER, ENV):
            if place.scope == "user":
                assert place.path in listed
            elif place.scope == "project" and not place.foreign:
                assert any(place.path.match(name) for name in MCP_NAMES)
