"""What an entry says by which the gateway would judge otherwise, or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.mcp.clients.steering import (
    HEADER_VARIABLE,
    URL_VARIABLE,
    find_address,
    find_steering,
    find_steering_files,
)


@pytest.mark.parametrize(
    "name",
    [
        *("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "AMPLIFIER_STORE", "AMPLIFIER_MCP_URL_2"),
        *("LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "GLIBC_TUNABLES"),
        *("OPENSSL_CONF", "OPENSSL_ENGINES", "SSL_CERT_FILE", "__PYVENV_LAUNCHER__"),
        *("HOME=/tmp/theirs", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "AMPLIFIER_MCP_HEADER_1\n"),
    ],
)
def test_a_variable_that_steers_the_gateway_is_named(name: str) -> None:
    """Whatever it is set to."""
    assert find_steering({"env": {"TZ": "UTC", name: ""}}) == f"has {name} in its environment"


def test_variables_of_the_server_itself_do_not_steer() -> None:
    """Nor do ours for the address and the headers."""
    ours = {HEADER_VARIABLE + "12": "x", URL_VARIABLE: "y"}
    assert find_steering({"env": {"HOMEPAGE": "1", "TOKEN": "2", "PATH": "3", **ours}}) == ""
    for entry in ({}, {"env": None}, {"env": "HOME"}, "x", None):
        assert find_steering(entry) == ""


@pytest.mark.parametrize("name", ["PATH", "PYTHONPATH", "PYTHONHOME", "PYTHONPYCACHEPREFIX"])
def test_a_program_that_is_found_by_its_name_is_steered_by_more(name: str) -> None:
    """What we write ourselves is a whole path, and isolated."""
    assert find_steering({"env": {name: "x"}}) == ""
    assert name in find_steering({"env": {name: "x"}}, by_name=True)


@pytest.mark.parametrize("key", ["envFile", "env_file", "ENVFILE"])
def test_an_environment_in_a_file_steers(key: str) -> None:
    """Nobody knows what will be in it."""
    assert key in find_steering({key: "${workspaceFolder}/.env"})


@pytest.mark.parametrize(
    ("entry", "key"),
    [
        ({"command": "x"}, ""),
        ({"command": "x", "type": "stdio", "description": "url"}, ""),
        ({"command": "x", "type": "local"}, ""),
        ({"command": "x", "type": None}, ""),
        ({"command": "x", "type": "STDIO"}, "type"),
        ({"command": "x", "type": {}}, "type"),
        ({"command": "x", "http_url": ""}, "http_url"),
        ({"command": "x", "URL": None}, "URL"),
        ({"command": "x", "__proto__": {"url": "x"}}, "__proto__"),
    ],
)
def test_what_takes_the_place_of_a_command_is_found(entry: dict[str, Any], key: str) -> None:
    """However it is written."""
    assert find_address(entry) == key


@pytest.mark.parametrize("name", [".claude/settings.json", ".claude/settings.local.json"])
def test_variables_in_settings_of_a_project_are_found(home: Path, name: str) -> None:
    """Claude Code sets them for what it starts."""
    path = home / "project" / name
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"env": {"TZ": "UTC", "XDG_DATA_HOME": "/theirs"}}))
    (found,) = find_steering_files("claude", home / "project" / "inner")
    assert found.startswith(f"{path} sets XDG_DATA_HOME")
    for text in ("{", "[]", '{"env": []}', '{"env": {"PYTHONPATH": "x"}}', "[" * 100_000):
        path.write_text(text)
        assert list(find_steering_files("claude", home / "project")) == []
    path.write_text('\ufeff{"env": {"PYTHONPATH": "x"}}')
    assert len(list(find_steering_files("claude", home / "project", by_name=True))) == 1


@pytest.mark.parametrize(
    "line", ["HOME=/theirs", " export AMPLIFIER_STORE = x", "A=1\r\nXDG_DATA_HOME: x", "LD_AUDIT="]
)
def test_variables_in_a_file_of_them_are_found(home: Path, line: str) -> None:
    """Gemini CLI reads the first one that it finds."""
    for name in (".env", ".gemini/.env"):
        path = home / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(line)
        (found,) = find_steering_files("gemini", home / "project")
        assert str(path) in found
        path.write_text("# HOME=/x\nHOMEPAGE=1\nURL=HOME=2\n")
        assert list(find_steering_files("gemini", home / "project")) == []


def test_files_in_a_home_are_the_persons_own(home: Path) -> None:
    """And other clients read none of them."""
    (home / ".env").write_text("XDG_DATA_HOME=/mine")
    (home / "project").mkdir()
    (home / "project/.env").write_text("XDG_DATA_HOME=/theirs")
    assert list(find_steering_files("gemini", home)) == []
    assert list(find_steering_files("codex", home / "project")) == []


def test_a_pipe_is_not_waited_for(home: Path) -> None:
    """Some programs that keep secrets put one there."""
    (home / "project").mkdir()
    os.mkfifo(home / "project/.env")
    assert list(find_steering_files("gemini", home / "project")) == []
