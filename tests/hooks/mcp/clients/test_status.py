"""Which servers are guarded, and why others are not."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.coding_agents.installing.record import open_mcp_records
from amplifier_hooks.mcp.clients.command_line import Gateway, make_gateway
from amplifier_hooks.mcp.clients.entries import GatewayOptions
from amplifier_hooks.mcp.clients.installation import add_gateway, list_files, read_client

OWN = {
    "command": str(Path(sys.executable).with_name("amplifier")),
    "args": ["mcp", "gateway", "--", "x"],
}


def _write(home: Path, **servers: Any) -> None:
    (home / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))


def _guard(home: Path, gateway: Gateway) -> None:
    for places in list_files("claude", home):
        add_gateway("claude", places, GatewayOptions(gateway), open_mcp_records())


@pytest.mark.parametrize(
    ("entry", "state", "stands"),
    [
        ({"command": "x"}, "not guarded", False),
        (OWN, "guarded", True),
        ({"type": "sse", "url": "https://x/"}, "cannot be guarded", False),
        ({"url": "https://x.test/mcp"}, "cannot be guarded", False),
        ("nonsense", "cannot be guarded", False),
        ({"command": "x", "disabled": True}, "not guarded", False),
        ({"url": "https://x.test/mcp", "enabled": False}, "cannot be guarded", False),
    ],
)
def test_each_server_has_a_state(home: Path, entry: Any, state: str, stands: bool) -> None:
    """Claude Code starts also a server that calls itself disabled."""
    _write(home, s=entry)
    status = read_client("claude", home)
    (server,) = status.servers
    assert (server.name, server.scope, server.state) == ("s", "project", state)
    assert server.path == home / ".mcp.json"
    assert server.stands is status.stands is stands


def test_a_server_is_guarded_after_it_was_put_behind_the_gateway(home: Path) -> None:
    """Also one that is switched off: it may be switched on again."""
    _write(home, s={"command": "x"}, t={"command": "y", "disabled": True})
    _guard(home, make_gateway(None))
    status = read_client("claude", home)
    assert [one.state for one in status.servers] == ["guarded", "guarded"]
    assert status.stands


@pytest.mark.parametrize(
    ("gateway", "what"),
    [
        (Gateway(Path("/nowhere/python")), "program /nowhere/python is not there"),
        (Gateway(Path("/bin/sh")), "another installation of amplifier"),
        (make_gateway(Path("/nowhere/b.yaml")), "bundle /nowhere/b.yaml is not there"),
    ],
)
def test_a_gateway_that_cannot_start_does_not_stand(
    home: Path, gateway: Gateway, what: str
) -> None:
    """With what is missing."""
    _write(home, s={"command": "x"})
    _guard(home, gateway)
    (server,) = read_client("claude", home).servers
    assert what in server.detail
    assert not server.stands


def test_a_line_of_an_earlier_version_is_renewed(home: Path) -> None:
    """Its program had another name: nothing is wrapped twice."""
    _write(home, s={"command": "x"})
    _guard(home, make_gateway(None))
    path = home / ".mcp.json"
    text = path.read_text()
    assert "amplifier_hooks.cli.main" in text
    path.write_text(text.replace("amplifier_hooks.cli.main", "amplifier_apps.cli.main"))
    (server,) = read_client("claude", home).servers
    assert "earlier version of amplifier" in server.detail
    assert not server.stands
    _guard(home, make_gateway(None))
    assert path.read_text() == text


@pytest.mark.parametrize("by_hand", [True, False])
def test_a_gateway_that_would_find_other_rules_does_not_stand(home: Path, by_hand: bool) -> None:
    """A file that came with a project may only look as if it were guarded."""
    command, *args = make_gateway(None).build("s", {"stdio": ""}, ["--", "x"])
    entry = OWN if by_hand else {"command": command, "args": args}
    _write(home, s={**entry, "env": {"HOME": "/tmp/theirs"}})
    (server,) = read_client("claude", home).servers
    assert "has HOME in" in server.detail
    assert not server.stands


def test_a_server_of_codex_that_is_switched_off_needs_no_guard(home: Path) -> None:
    """Codex has a key for that."""
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").write_text('[mcp_servers.s]\ncommand = "x"\nenabled = false\n')
    (server,) = read_client("codex", home).servers
    assert (server.state, server.stands) == ("disabled", True)


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"env": {"PATH": "/theirs"}}, "has PATH in"),
        ({"env": {"PYTHONPATH": "/theirs"}}, "has PYTHONPATH in"),
        ({"envFile": ".env"}, "from a file"),
        ({"cwd": "/elsewhere"}, "rules of /elsewhere judge"),
        ({"cwd": ".."}, "judge, not the project's"),
        ({"args": ["mcp", "gateway", "--folder", "/elsewhere", "--", "x"]}, "rules of /elsewhere"),
        ({"args": ["mcp", "gateway", "--bundle", "/no.yaml", "--", "x"]}, "/no.yaml is not there"),
        ({"args": ["mcp", "gateway", "--listen", "1", "--", "x"]}, "with '--listen'"),
        ({"args": ["mcp", "gateway", "${X}", "--", "x"]}, "new to us"),
    ],
)
def test_a_gateway_of_a_person_that_may_be_steered_does_not_stand(
    home: Path, more: dict[str, Any], what: str
) -> None:
    """The project's file may have come with it."""
    _write(home, s={**OWN, **more})
    (server,) = read_client("claude", home).servers
    assert server.state == "guarded"
    assert what in server.detail
    assert not server.stands


@pytest.mark.parametrize("client", ["vscode", "gemini"])
def test_what_hinders_a_gateway_hinders_one_that_is_there(home: Path, client: str) -> None:
    """Somebody may have added it since."""
    command, *args = make_gateway(None).build("s", {"stdio": "", "args": ""}, ["--", "x"])
    more = {"sandboxEnabled": True, "extension": {"resolvedSettings": [{"envVar": "HOME"}]}}
    name, table = {"vscode": (".vscode/mcp.json", "servers")}.get(
        client, (".gemini/settings.json", "mcpServers")
    )
    (home / name).parent.mkdir()
    (home / name).write_text(json.dumps({table: {"s": {"command": command, "args": args, **more}}}))
    (server,) = read_client(client, home).servers
    assert "may not work there" in server.detail
    assert not server.stands


def test_a_file_of_the_project_that_steers_all_gateways_is_a_problem(home: Path) -> None:
    """Only if there are any."""
    project = home / "project"
    (project / ".claude").mkdir(parents=True)
    (project / ".claude/settings.json").write_text('{"env": {"AMPLIFIER_STORE": "/theirs"}}')
    _write(project, s={"command": "x"})
    assert read_client("claude", project).problems == ()
    _write(project, s=OWN)
    (problem,) = read_client("claude", project).problems
    assert "AMPLIFIER_STORE" in problem


@pytest.mark.parametrize(
    "odd", ["\0", "/\0", "\ud800", "/\ud800", "~nobody-has-this-name/x", "x" * 5000, 1, [], ""]
)
def test_odd_values_are_no_reason_to_fail(home: Path, odd: Any) -> None:
    """What cannot be there does not stand."""
    command, *args = make_gateway(None).build("s", {"stdio": "", "args": ""}, ["--", "x"])
    entries: list[Any] = [{"command": odd, "args": one} for one in (args, OWN["args"])]
    entries += [{**OWN, "cwd": odd}, {"command": command, "args": args, "cwd": odd}]
    words = ["mcp", "gateway", "--bundle", odd, "--folder", odd, "--", "x"]
    entries += [{**OWN, "args": words}, {"command": command, "args": [*args[:5], *words]}]
    _write(home, **{str(at): one for at, one in enumerate(entries)})
    servers = read_client("claude", home).servers
    assert len(servers) == len(entries)
    standing = [one.name for one in servers if one.stands]
    assert standing == (["2", "3"] if odd == "" else [])


def test_the_rules_that_a_person_has_named_are_shown(home: Path) -> None:
    """A relative path begins where the client starts it."""
    (home / "b.yaml").touch()
    words = ["mcp", "gateway", "--bundle=b.yaml", f"--folder={home}", "--", "x"]
    _write(home, s={**OWN, "args": words, "cwd": "."})
    (server,) = read_client("claude", home).servers
    assert (server.bundle, server.folder, server.stands) == (home / "b.yaml", home, True)


def test_a_server_with_a_folder_of_its_own_is_judged_by_the_project(home: Path) -> None:
    """That of a person's own file, by the rules of the folder that the person has written."""
    _write(home, s={"command": "x", "cwd": "/"})
    (home / ".claude.json").write_text((home / ".mcp.json").read_text())
    _guard(home, make_gateway(None))
    own, project = read_client("claude", home).servers
    assert (own.scope, own.folder, own.stands) == ("user", Path("/"), True)
    assert (project.scope, project.folder, project.stands) == ("project", home, True)


def test_a_file_that_cannot_be_read_is_a_problem(home: Path) -> None:
    """The client may read it after all."""
    (home / ".mcp.json").write_text("{")
    status = read_client("claude", home)
    assert len(status.problems) == 1
    assert not status.stands


def test_servers_of_extensions_are_shown(home: Path) -> None:
    """Nobody can say afterwards that all were guarded."""
    path = home / ".gemini/extensions/x/gemini-extension.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"mcpServers": {"s": {"command": "x"}}}')
    (server,) = read_client("gemini", home).servers
    assert server.state == "cannot be guarded"
    assert "belongs to the extension 'x'" in server.detail


def test_a_client_without_servers_has_nothing_to_guard(home: Path) -> None:
    """Its program is found if it is there."""
    program = home / "bin" / "cursor-agent"
    program.touch(0o755)
    status = read_client("cursor", home)
    assert (status.servers, status.stands, status.program) == ((), True, str(program))
