"""amplifier guard mcp: the gateway before the servers of clients, and out again."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from tests.hooks.cli.program import invoke
from tests.support.agent_homes import install_codex, list_left
from tests.support.trust import trust_project

SERVERS = {"time": {"command": "uvx", "args": ["mcp-server-time"]}}
TOML = '[mcp_servers.time] # mine\ncommand = "uvx"\n'


@pytest.fixture
def clients(home: Path) -> Path:
    """A home with servers of three clients."""
    (home / ".claude.json").write_text(json.dumps({"mcpServers": SERVERS}))
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").write_text(TOML)
    (home / ".vscode").mkdir()
    (home / ".vscode/mcp.json").write_text(json.dumps({"servers": SERVERS, "inputs": []}))
    return home


def test_every_client_is_guarded_and_as_before_again(clients: Path) -> None:
    """Put in, shown, and taken out without a trace."""
    files = list_left(clients)
    before = {name: (clients / name).read_bytes() for name in files}
    assert invoke("guard", "mcp", "--status").code == 1
    done = invoke("guard", "mcp")
    assert done.code == 0, done.output
    assert "Start Codex anew" in done.stdout
    codex = tomllib.loads((clients / ".codex/config.toml").read_text())
    assert codex["mcp_servers"]["time"]["args"][-2:] == ["--", "uvx"]
    status = invoke("guard", "mcp", "--status")
    assert status.code == 0
    assert status.stdout.count("✓ guarded") == 3
    again = invoke("guard", "mcp")
    assert (again.code, "anew" in again.stdout) == (0, False)
    gone = invoke("guard", "mcp", "--remove")
    assert gone.code == 0
    assert gone.stdout.count("The gateway is no longer in") == 3
    assert {name: (clients / name).read_bytes() for name in list_left(clients)} == before
    assert "There is no gateway of ours" in invoke("guard", "mcp", "--remove").stdout


def test_tools_that_were_never_seen_can_be_asked_about(clients: Path) -> None:
    """Until this is said otherwise."""
    for options, is_there in ((["--new-tools", "ask"], True), ([], False)):
        assert invoke("guard", "mcp", "--client", "claude", *options).code == 0
        assert ('"--new-tools", "ask"' in (clients / ".claude.json").read_text()) is is_there


def test_one_client_can_be_named(clients: Path) -> None:
    """The others stay as they are."""
    assert invoke("guard", "mcp", "--client", "claude").code == 0
    assert (clients / ".codex/config.toml").read_text() == TOML
    assert invoke("guard", "mcp", "--client", "claude", "--status").code == 0
    assert invoke("guard", "mcp", "--client", "codex", "--status").code == 1


def test_a_bundle_is_named_with_its_whole_path_and_must_be_trusted(
    project: Path, home: Path
) -> None:
    """A gateway whose bundle nobody has trusted would not start."""
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": SERVERS}))
    refused = invoke("guard", "mcp", "--project", "--bundle", "../amplifier.yaml")
    assert refused.code == 3
    assert json.loads((project / ".mcp.json").read_text()) == {"mcpServers": SERVERS}
    trust_project(project)
    assert invoke("guard", "mcp", "--project", "--bundle", "../amplifier.yaml").code == 0
    args = json.loads((project / ".mcp.json").read_text())["mcpServers"]["time"]["args"]
    assert Path(args[args.index("--bundle") + 1]).is_absolute()
    (project / "amplifier.yaml").write_text("name: changed\nhooks: [{module: hooks-rules}]\n")
    status = invoke("guard", "mcp", "--status")
    assert status.code == 1
    assert "amplifier trust" in status.stdout


@pytest.mark.parametrize(
    ("agent", "name", "text"),
    [
        (
            "gemini",
            ".gemini/settings.json",
            '{\n  // mine\n  "mcpServers": {"a": {"command": "x"}}\n}',
        ),
        ("codex", ".codex/config.toml", TOML),
    ],
)
def test_a_guard_and_a_gateway_in_one_file_do_not_mind_one_another(
    home: Path, agent: str, name: str, text: str
) -> None:
    """Put in and taken out in the same order, so that neither finds what it wrote."""
    install_codex(home)
    path = home / name
    path.parent.mkdir()
    path.write_text(text)
    guards = (["guard", agent, "--user"], ["guard", "mcp", "--client", agent])
    for words in (*guards, *([*one, "--remove"] for one in guards)):
        assert invoke(*words).code == 0
    assert path.read_text() == text
    assert list_left(home) == [name]


def test_an_agent_cannot_take_the_gateway_out(
    clients: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor put another one in; it may look."""
    invoke("guard", "mcp")
    before = (clients / ".claude.json").read_bytes()
    monkeypatch.setenv("CLAUDECODE", "1")
    for options in (["--remove"], []):
        done = invoke("guard", "mcp", *options)
        assert done.code == 1
        assert "terminal of your own" in done.stderr
    assert invoke("guard", "mcp", "--status").code == 0
    assert (clients / ".claude.json").read_bytes() == before


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (["--status", "--remove"], "only one of"),
        (["--status", "--open", "x"], "say what to install"),
        (["--remove", "--open", "x"], "say what to install"),
        (["--remove", "--new-tools", "ask"], "say what to install"),
        (["--open", "nobody"], "no server 'nobody'; have 'time'"),
        (["--client", "emacs"], "emacs"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    clients: Path, options: list[str], what: str
) -> None:
    """With what would."""
    done = invoke("guard", "mcp", *options)
    assert done.code == 2
    assert what in done.stderr


def test_a_server_without_headers_is_guarded_if_the_person_says_that_it_is_open(
    home: Path,
) -> None:
    """Else it is left alone, and the command does not end well."""
    path = home / ".cursor/mcp.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"mcpServers": {"docs": {"url": "https://x.test/mcp"}}}))
    done = invoke("guard", "mcp")
    assert done.code == 1
    assert "✗ cannot be guarded" in done.stdout
    assert "--open" in done.stdout
    assert "--http" not in path.read_text()
    assert invoke("guard", "mcp", "--open", "docs").code == 0
    assert "--http" in path.read_text()
