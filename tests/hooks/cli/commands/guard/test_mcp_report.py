"""What is said about the MCP servers of clients."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.hooks.cli.program import invoke

SERVERS = {"mcpServers": {"time": {"command": "uvx"}}}


def test_programs_read_the_status(home: Path) -> None:
    """As JSON, with scope, file and state of each server."""
    (home / ".mcp.json").write_text(json.dumps(SERVERS))
    done = invoke("guard", "mcp", "--client", "claude", "--json")
    said = json.loads(done.stdout)
    assert (done.code, said["stands"], said["problems"]) == (0, True, [])
    (client,) = said["clients"]
    assert client["changed"] == [str(home / ".mcp.json")]
    assert client["servers"] == [
        {
            "name": "time",
            "scope": "project",
            "file": str(home / ".mcp.json"),
            "state": "guarded",
            "detail": "",
            "bundle": None,
            "folder": None,
        }
    ]


def test_without_servers_the_files_are_named(home: Path) -> None:
    """Where a person would look for them."""
    assert "No MCP server is in the settings of" in invoke("guard", "mcp").stdout
    done = invoke("guard", "mcp", "--client", "cursor", "--status")
    assert done.code == 0
    assert str(home / ".cursor/mcp.json") in done.stdout


def test_a_client_that_only_shares_a_file_is_shown_if_it_is_installed(home: Path) -> None:
    """VS Code reads what Claude Code has for a project."""
    (home / ".mcp.json").write_text(json.dumps(SERVERS))
    assert "VS Code" not in invoke("guard", "mcp", "--status").stdout
    (home / "bin" / "code").touch(0o755)
    assert "VS Code" in invoke("guard", "mcp", "--status").stdout


def test_a_broken_file_does_not_stop_the_others(home: Path) -> None:
    """It is named, and the command fails."""
    (home / ".mcp.json").write_text("{")
    (home / ".gemini").mkdir()
    (home / ".gemini/settings.json").write_text(json.dumps(SERVERS))
    done = invoke("guard", "mcp")
    assert done.code == 1
    assert f"✗ {home / '.mcp.json'}, line 1" in done.stdout
    assert "✓ guarded" in done.stdout


def test_what_is_left_to_do_is_said(home: Path) -> None:
    """And how."""
    (home / ".mcp.json").write_text(json.dumps(SERVERS))
    done = invoke("guard", "mcp", "--status")
    assert "not guarded: amplifier guard mcp" in done.stdout


def test_a_gateway_that_somebody_has_changed_stays_and_is_named(home: Path) -> None:
    """Nobody knows what the entry was."""
    path = home / ".mcp.json"
    path.write_text(json.dumps(SERVERS))
    invoke("guard", "mcp")
    changed = path.read_text().replace('"--name", "time"', '"--name=time"')
    path.write_text(changed)
    assert "✓ guarded" in invoke("guard", "mcp").stdout
    assert "before 'time' is not as we wrote it" in invoke("guard", "mcp", "--remove").stdout
    assert path.read_text() == changed


def test_a_file_that_would_be_shared_is_mentioned(home: Path) -> None:
    """It holds paths of this machine."""
    subprocess.run(["git", "init", "-q", home], check=True)
    (home / ".mcp.json").write_text(json.dumps(SERVERS))
    assert "keep it out of version control" in invoke("guard", "mcp").stdout
    assert "version control" not in invoke("guard", "mcp").stdout
