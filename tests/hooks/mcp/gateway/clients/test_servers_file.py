"""A settings file as a client reads it: JSON or TOML, with one table of servers or several."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.installing.settings_file import SettingsError, read_settings
from amplifier_hooks.guards.mcp.client_files import McpPlace
from amplifier_hooks.mcp.gateway.clients.entry import Wish
from amplifier_hooks.mcp.gateway.clients.line import Gateway
from amplifier_hooks.mcp.gateway.clients.servers_file import ServersFile

WISH = Wish(Gateway(Path("/opt/python")))


def _open(path: Path, text: str, *tables: tuple[str, ...], client: str = "claude") -> ServersFile:
    path.write_text(text)
    places = tuple(McpPlace("user", path, keys) for keys in tables)
    return ServersFile(client, read_settings(path), places)


def test_the_tables_that_are_asked_about_are_changed_and_no_others(tmp_path: Path) -> None:
    """A file may have one for the person, and one for each project."""
    text = json.dumps({"s": {"a": {"command": "x"}}, "p": {"/": {"s": {"b": {"command": "y"}}}}})
    file = _open(tmp_path / "c.json", text, ("p", "/", "s"))
    assert [name for _, name, _ in file.list_servers()] == ["b"]
    changed = json.loads(file.add(WISH))
    assert changed["s"]["a"] == {"command": "x"}
    assert changed["p"]["/"]["s"]["b"]["command"] == "/opt/python"
    guarded = _open(tmp_path / "c.json", json.dumps(changed), ("p", "/", "s"), ("s",))
    assert guarded.has_ours()
    assert guarded.remove().decode() == text
    assert not file.has_ours()


def test_a_server_that_cannot_be_guarded_does_not_stop_the_others(tmp_path: Path) -> None:
    """It stays as it is."""
    text = '[mcp_servers.old]\nurl = "https://x.test/sse"\n[mcp_servers.new]\ncommand = "x"\n'
    file = _open(tmp_path / "c.toml", text, ("mcp_servers",), client="codex")
    changed = file.add(WISH).decode()
    assert changed.startswith('[mcp_servers.old]\nurl = "https://x.test/sse"\n')
    assert "/opt/python" in changed


@pytest.mark.parametrize(
    ("name", "text", "where"),
    [
        ("c.json", '{\n "s": {"a": {"command": "x"}\n', r"c\.json, line 3: expected"),
        ("c.json", '{"s": {"a": 1, "a": 2}}', r"c\.json, line 1: the key 'a'"),
        ("c.toml", "[s\n", r"c\.toml: .*line 1"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_its_line(
    tmp_path: Path, name: str, text: str, where: str
) -> None:
    """And with the client that reads it."""
    file = _open(tmp_path / name, text, ("s",))
    with pytest.raises(SettingsError, match=f"{where}.*Claude Code.*nothing was changed"):
        file.add(WISH)
