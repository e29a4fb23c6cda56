"""The gateway in files on disk: put in, taken out, and what others write meanwhile."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amplifier_hooks.coding_agents.installing.record import open_mcp_records
from amplifier_hooks.coding_agents.installing.settings_file import SettingsError
from amplifier_hooks.guards.mcp.client_files import McpPlace
from amplifier_hooks.mcp.clients.command_line import Gateway
from amplifier_hooks.mcp.clients.entries import GatewayOptions
from amplifier_hooks.mcp.clients.installation import (
    SCOPES,
    add_gateway,
    list_every_file,
    list_files,
    remove_gateway,
)

WISH = GatewayOptions(Gateway(Path("/opt/python")))
SERVERS = {"a": {"command": "x", "args": ["1"]}, "b": {"command": "y"}}
JSONC = '{\r\n\t// mine\r\n\t"mcpServers": {"a": {"command": "x",},},\r\n}'
TOML = '# mine\n[mcp_servers.a]\ncommand = "x" # why\nargs = [\n  "1",\n]\n'


def _put(client: str, home: Path, scope: str = "all") -> list[str]:
    files = list_files(client, home, SCOPES[scope])
    return [add_gateway(client, one, WISH, open_mcp_records()).kind for one in files]


def _take(client: str, home: Path, scope: str = "all") -> list[str]:
    files = list_files(client, home, SCOPES[scope])
    return [remove_gateway(client, one, open_mcp_records()).kind for one in files]


@pytest.mark.parametrize(
    ("client", "name", "text"),
    [
        ("claude", ".mcp.json", JSONC),
        ("codex", ".codex/config.toml", TOML),
        ("cursor", ".cursor/mcp.json", "\ufeff" + JSONC),
        ("vscode", ".vscode/mcp.json", JSONC.replace("mcpServers", "servers")),
        ("gemini", ".gemini/settings.json", JSONC),
    ],
)
def test_a_file_is_as_before_byte_for_byte(home: Path, client: str, name: str, text: str) -> None:
    """With its mode; a second time changes nothing, and nothing of ours is left."""
    path = home / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode())
    path.chmod(0o640)
    assert _put(client, home) == ["changed"]
    changed = path.read_bytes()
    assert b"/opt/python" in changed
    assert _put(client, home) == ["unchanged"]
    assert _take(client, home) == ["changed"]
    assert path.read_bytes() == text.encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert _take(client, home) == ["unchanged"]
    assert not (home / "data" / "amplifier" / "mcp").exists()


@pytest.mark.parametrize("is_known", [True, False])
def test_what_others_wrote_since_stays(home: Path, is_known: bool) -> None:
    """Also if our own notes are lost: the old entries are in the new ones."""
    path = home / ".mcp.json"
    path.write_text(json.dumps({"mcpServers": SERVERS}, indent=2))
    _put("claude", home)
    changed = json.loads(path.read_text())
    changed["mcpServers"]["c"] = {"command": "z"}
    path.write_text(json.dumps(changed))
    if not is_known:
        open_mcp_records().forget(path)
    assert _put("claude", home) == ["changed"]
    assert _take("claude", home) == ["changed"]
    assert json.loads(path.read_text()) == {"mcpServers": {**SERVERS, "c": {"command": "z"}}}
    assert list(open_mcp_records().list()) == []


def test_the_servers_of_one_scope_are_taken_out_alone(home: Path) -> None:
    """Those of the project stay guarded, in the same file; in the end it is as it was."""
    path = home / ".claude.json"
    projects = {str(home): {"mcpServers": SERVERS}, "/other": {"mcpServers": SERVERS}}
    text = json.dumps({"mcpServers": SERVERS, "projects": projects})
    path.write_text(text)
    _put("claude", home)
    _take("claude", home, "user")
    left = json.loads(path.read_text())
    assert left["mcpServers"] == SERVERS
    assert left["projects"][str(home)]["mcpServers"]["a"]["command"] == "/opt/python"
    assert left["projects"]["/other"]["mcpServers"] == SERVERS
    _take("claude", home, "project")
    assert path.read_text() == text


def test_what_somebody_else_has_taken_out_is_forgotten(home: Path) -> None:
    """The copy of the file is not kept for nothing."""
    path = home / ".mcp.json"
    path.write_text(json.dumps({"mcpServers": SERVERS}))
    _put("claude", home)
    path.write_text("{}")
    assert _take("claude", home) == ["unchanged"]
    assert list(open_mcp_records().list()) == []
    assert path.read_text() == "{}"


def test_a_link_stays_a_link(home: Path) -> None:
    """What it leads to is changed."""
    real = home / "dotfiles.json"
    real.write_text(json.dumps({"mcpServers": SERVERS}))
    (home / ".mcp.json").symlink_to(real)
    _put("claude", home)
    assert (home / ".mcp.json").is_symlink()
    assert "/opt/python" in real.read_text()


def test_a_file_that_changes_meanwhile_is_not_overwritten(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client may write it at any time."""
    path = home / ".mcp.json"
    path.write_text(json.dumps({"mcpServers": SERVERS}))
    records = open_mcp_records()

    def save(*anything: object) -> None:
        path.write_text("{}")

    monkeypatch.setattr(records, "save", save)
    (places,) = list_files("claude", home)
    with pytest.raises(SettingsError, match="just been changed by somebody else"):
        add_gateway("claude", places, WISH, records)
    assert path.read_text() == "{}"


def test_files_that_are_not_the_persons_are_listed_but_not_edited(home: Path) -> None:
    """What belongs to an extension would be overwritten with the next version."""
    path = home / ".gemini/extensions/x/gemini-extension.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"mcpServers": SERVERS}))
    assert list_files("gemini", home) == []
    assert [one[0].path for one in list_every_file("gemini", home)] == [path]


TEXT = st.text(max_size=4)
ENTRIES = st.fixed_dictionaries(
    {},
    optional={
        "command": TEXT,
        "args": st.lists(TEXT, max_size=2),
        "env": st.dictionaries(TEXT, TEXT, max_size=2),
        "url": st.sampled_from(["https://x.test/mcp", "http://127.0.0.1/mcp"]),
        "headers": st.dictionaries(st.sampled_from(["A", "B"]), TEXT, max_size=2),
        "type": st.sampled_from(["http", "stdio"]),
        "unknown": st.integers() | TEXT | st.none(),
    },
)
FILES = st.fixed_dictionaries({"mcpServers": st.dictionaries(TEXT, ENTRIES, max_size=3)})


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=FILES, indent=st.sampled_from([None, 2]), is_known=st.booleans())
def test_any_configuration_comes_back(
    home: Path, content: dict[str, Any], indent: int | None, is_known: bool
) -> None:
    """Its bytes with our notes, its values without."""
    path, records = home / "x.json", open_mcp_records()
    places = [McpPlace("user", path)]
    text = json.dumps(content, indent=indent, ensure_ascii=False)
    path.write_text(text)
    add_gateway("cursor", places, WISH, records)
    once = path.read_bytes()
    assert add_gateway("cursor", places, WISH, records).kind == "unchanged"
    assert path.read_bytes() == once
    if not is_known:
        records.forget(path)
    remove_gateway("cursor", places, records)
    assert json.loads(path.read_text()) == content
    assert not is_known or path.read_text() == text
