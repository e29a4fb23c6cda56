"""Where clients keep their servers, as the real programs read them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from amplifier_hooks.guards.mcp.client_files import (
    CLIENTS,
    MCP_NAMES,
    McpPlace,
    McpScope,
    list_mcp_files,
    list_mcp_places,
)

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
