"""How a server is started, and the values that it gets."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.agent.tools.mcp.launch import (
    Config,
    Restart,
    Secrets,
    ServerConfig,
    check_files,
    check_values,
    digest_own_files,
    find_literals,
    identify_server,
    list_files,
    prepare_launch,
)
from amplifier_hooks.modules.options import parse_config


def read(**server):
    return parse_config(Config, {"servers": {"one": server}}, "tool-mcp").servers["one"]


def test_a_server_is_a_command_or_an_address():
    """With what belongs to each."""
    assert read(command="uvx", args=["mcp-server-time"], env={"TZ": "UTC"}).args == [
        "mcp-server-time"
    ]
    assert read(url="https://example.com/mcp", headers={"A": {"env": "B"}}).headers


@pytest.mark.parametrize(
    ("server", "word"),
    [
        ({}, "either `command` or `url`"),
        ({"command": "a", "url": "http://b"}, "either `command` or `url`"),
        ({"command": "a", "headers": {"A": "b"}}, "`headers` are for a server with `url`"),
        ({"url": "http://b", "env": {"A": "b"}}, "are for a server with `command`"),
        ({"url": "ftp://b"}, "http:// or https://"),
        ({"command": "a", "new_tools": "never"}, "'allow' or 'ask'"),
        ({"command": "a", "timeout": 0}, "greater than 0"),
        ({"command": "a", "exlcude": []}, "did you mean 'exclude'"),
    ],
)
def test_what_makes_no_sense_is_named(server, word):
    """With what would do."""
    with pytest.raises(ModuleLoadError, match=word):
        read(**server)


@pytest.mark.parametrize("name", ["a__b", "a b", "_a"])
def test_a_server_needs_a_name_that_cannot_be_mistaken(name):
    """Its tools are told from those of others by it."""
    with pytest.raises(ModuleLoadError, match="no name for a server"):
        parse_config(Config, {"servers": {name: {"command": "a"}}}, "tool-mcp")


def test_tools_are_chosen_by_patterns():
    """`exclude` counts more."""
    server = ServerConfig(command="a", tools=["read_*", "list"], exclude=["read_secret"])
    assert [one for one in ("read_a", "read_secret", "list", "write") if server.wants(one)] == [
        "read_a",
        "list",
    ]
    assert ServerConfig(command="a").wants("anything")


def test_a_pattern_that_fits_nothing_is_noticed():
    """It is most likely misspelt."""
    server = ServerConfig(command="a", tools=["read_*", "lsit"])
    assert server.list_unmet(["read_a", "list"]) == ["lsit"]


def test_each_restart_waits_twice_as_long_up_to_a_limit():
    """So that a broken server does not keep the machine busy."""
    restart = Restart(delay=1, max_delay=5)
    assert [restart.get_delay(one) for one in (1, 2, 3, 4, 500)] == [1, 2, 4, 5, 5]


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


TOKEN = "tok-3f9a8b7c6d5e"


@pytest.fixture
def secrets():
    return Secrets()


def test_values_come_from_the_bundle_variables_and_files(secrets, tmp_path, monkeypatch):
    """A prefix is put before what was found, as in `Bearer TOKEN`."""
    monkeypatch.setenv("DOCS_TOKEN", TOKEN)
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    input = {
        "TZ": "UTC",
        "PORT": 80,
        "DEBUG": True,
        "A": {"env": "DOCS_TOKEN", "prefix": "Bearer "},
        "B": {"file": "token"},
    }
    assert secrets.resolve(input, "env", tmp_path) == {
        "TZ": "UTC",
        "PORT": "80",
        "DEBUG": "true",
        "A": f"Bearer {TOKEN}",
        "B": TOKEN,
    }


def test_what_was_found_is_hidden_in_every_text(secrets, tmp_path, monkeypatch):
    """And what stands in the bundle is not: it is no secret."""
    monkeypatch.setenv("DOCS_TOKEN", TOKEN)
    secrets.resolve({"A": {"env": "DOCS_TOKEN"}, "TZ": "Europe/Berlin"}, "env", tmp_path)
    hidden = secrets.hide(f"cannot log in with {TOKEN} in Europe/Berlin")
    assert hidden == "cannot log in with [secret] in Europe/Berlin"


@pytest.mark.parametrize(
    ("reference", "word"),
    [({"env": "NOT_SET_ANYWHERE"}, "NOT_SET_ANYWHERE"), ({"file": "no/such/file"}, "no/such/file")],
)
def test_a_value_that_is_not_there_is_named(secrets, tmp_path, reference, word):
    """The variable or the file, and the option."""
    with pytest.raises(ModuleLoadError, match=word) as raised:
        secrets.resolve({"A": reference}, "servers.docs.headers", tmp_path)
    assert "servers.docs.headers.A" in str(raised.value)


@pytest.mark.parametrize(
    "value",
    [None, [TOKEN], {}, {"env": "A", "file": "b"}, {"value": TOKEN}, {"env": [TOKEN]}],
)
def test_a_wrong_value_is_refused_and_not_shown(value):
    """It may be the secret, misplaced."""
    with pytest.raises(ModuleLoadError) as raised:
        check_values({"Authorization": value}, "servers.docs.headers")
    assert "servers.docs.headers.Authorization" in str(raised.value)
    assert TOKEN not in str(raised.value)


def test_a_literal_that_looks_like_a_secret_is_noticed(monkeypatch):
    """By its name or by its shape."""
    input = {
        "API_KEY": "abcdefgh123",
        "OTHER": "ghp_" + "a1B2" * 9,
        "TZ": "Europe/Berlin",
        "TOKEN": {"env": "X"},
        "KEY": "x",
    }
    assert list(find_literals(input)) == ["API_KEY", "OTHER"]


def test_a_literal_is_hidden_all_the_same(secrets):
    """Word by word: what comes before a token is no secret."""
    assert secrets.add_literals({"Authorization": f"Bearer {TOKEN}", "TZ": "UTC"}) == [
        "Authorization"
    ]
    assert secrets.hide(f"Bearer {TOKEN}") == "Bearer [secret]"


def test_a_variable_of_the_bundle_is_no_literal(monkeypatch):
    """`${DOCS_TOKEN}` was replaced when the bundle was read."""
    monkeypatch.setenv("DOCS_TOKEN", TOKEN)
    assert list(find_literals({"Authorization": f"Bearer {TOKEN}"})) == []


def test_a_home_folder_is_found(secrets, tmp_path, monkeypatch):
    """`~` in the name of a file."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "token").write_text(TOKEN)
    assert secrets.resolve({"A": {"file": "~/token"}}, "env", Path("/")) == {"A": TOKEN}
