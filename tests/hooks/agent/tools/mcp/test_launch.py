"""How a server is started."""

from __future__ import annotations

import shutil
import sys

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.agent.tools.mcp.config import ServerConfig
from amplifier_hooks.agent.tools.mcp.launch import (
    check_files,
    digest_own_files,
    identify_server,
    list_files,
    prepare_launch,
)


def words(launch):
    """The command itself, without what ends it with us."""
    found = [launch.command, *launch.args]
    return found[found.index("--") + 1 :] if "--" in found else found


def test_a_server_gets_what_is_named_and_no_secrets_of_ours(tmp_path, monkeypatch):
    """What every program needs, and what the bundle gives it."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    launch = prepare_launch(ServerConfig(command="sh"), {"TZ": "UTC"}, tmp_path)
    assert launch.env["TZ"] == "UTC"
    assert "PATH" in launch.env
    assert "ANTHROPIC_API_KEY" not in launch.env
    assert launch.cwd == tmp_path


def test_a_program_is_found_beforehand(tmp_path):
    """In PATH, or in the folder if it has a slash."""
    (tmp_path / "server").write_text("#!/bin/sh\n")
    (tmp_path / "server").chmod(0o755)
    launch = prepare_launch(ServerConfig(command="./server", args=["-v"]), {}, tmp_path)
    assert words(launch) == [str(tmp_path / "server"), "-v"]
    assert words(prepare_launch(ServerConfig(command="sh"), {}, tmp_path))[0].endswith("/sh")


@pytest.mark.parametrize("command", ["no-such-program-anywhere", "./nothing"])
def test_a_program_that_is_not_there_is_named(tmp_path, command):
    """Before anything is started."""
    with pytest.raises(ModuleLoadError, match=command):
        prepare_launch(ServerConfig(command=command), {}, tmp_path)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    """Not only that something was not found."""
    with pytest.raises(ModuleLoadError, match="nowhere"):
        prepare_launch(ServerConfig(command="sh"), {}, tmp_path / "nowhere")


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv of util-linux")
def test_on_linux_a_server_dies_with_us(tmp_path):
    """Also when we are killed."""
    launch = prepare_launch(ServerConfig(command="sh"), {}, tmp_path)
    assert "--pdeathsig" in launch.args


def test_elsewhere_the_command_is_started_as_it_is(tmp_path, monkeypatch):
    """Its input ends with us, and good servers with it."""
    monkeypatch.setattr(sys, "platform", "darwin")
    assert prepare_launch(ServerConfig(command="sh"), {}, tmp_path).args == ()


def test_a_server_is_known_by_its_command_or_address(tmp_path):
    """Without a password that stands in it."""
    assert identify_server(ServerConfig(command="uvx", args=["a"]), tmp_path) == ["uvx", "a"]
    url = "https://me:secret@example.com/mcp?key=secret"
    (known,) = identify_server(ServerConfig(url=url), tmp_path)
    assert known.startswith("https://example.com/mcp#")
    assert "secret" not in known
    other = url.replace("key=secret", "key=other")  # one address may lead to several servers
    assert identify_server(ServerConfig(url=other), tmp_path) != [known]


def test_a_secret_in_the_arguments_is_known_by_its_variable(tmp_path, monkeypatch):
    """It may be another one tomorrow, and does not belong into a list of servers."""
    monkeypatch.setenv("DB_PASSWORD", "hunter22")
    server = ServerConfig(command="pg-mcp", args=["postgres://me:hunter22@db"])
    assert identify_server(server, tmp_path) == ["pg-mcp", "postgres://me:${DB_PASSWORD}@db"]


def test_the_folder_counts_if_the_command_has_a_file_in_it(tmp_path):
    """`python server.py` is another server in every project."""
    server = ServerConfig(command="python", args=["server.py"])
    assert identify_server(server, tmp_path) == ["python", "server.py"]
    (tmp_path / "server.py").write_text("")
    assert identify_server(server, tmp_path) == ["python", "server.py", str(tmp_path)]
    assert list_files(server, tmp_path) == [tmp_path / "server.py"]
    assert list_files(ServerConfig(url="https://example.com"), tmp_path) == []


def test_data_that_a_command_names_is_no_part_of_the_server(tmp_path):
    """A database changes with every call; a file that can be executed is run."""
    for name in ("notes.db", "run"):
        (tmp_path / name).write_text("")
    (tmp_path / "run").chmod(0o755)
    server = ServerConfig(command="./run", args=["--db", "notes.db"])
    assert list_files(server, tmp_path) == [tmp_path / "run"]


def test_a_file_of_the_folder_counts_however_it_is_named(tmp_path):
    """One elsewhere does not: no tool of the session writes there."""
    (tmp_path / "server.py").write_text("")
    server = ServerConfig(command="python", args=[f"{tmp_path}/server.py", sys.executable])
    assert list_files(server, tmp_path) == [tmp_path / "server.py"]


def test_a_file_that_changed_since_it_was_trusted_is_not_started(tmp_path):
    """An agent could have changed it, to have it run when the server ends."""
    server, path = ServerConfig(command="python", args=["server.py"]), tmp_path / "server.py"
    path.write_text("good")
    before = digest_own_files(server, tmp_path)
    trusted = {path: b"good"}
    check_files(server, tmp_path, trusted)
    path.write_text("evil")
    with pytest.raises(ModuleLoadError, match=r"server\.py has changed"):
        check_files(server, tmp_path, trusted)
    check_files(server, tmp_path, {})
    assert digest_own_files(server, tmp_path) != before
