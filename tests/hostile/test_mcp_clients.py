"""Files of a project that only look as if the gateway stood before its servers."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.mcp.clients.command_line import make_gateway
from tests.hooks.cli.program import invoke
from tests.support.agent_homes import empty_home
from tests.support.trust import trust_project

SCRIPT = Path(sys.executable).with_name("amplifier")
WORDS = ["mcp", "gateway", "--", "theirs"]
MODULE = ["-m", "amplifier_hooks.cli.main", *WORDS]
OWN = {"command": str(SCRIPT), "args": WORDS}
FILES = {
    "claude": (".mcp.json", "mcpServers"),
    "cursor": (".cursor/mcp.json", "mcpServers"),
    "vscode": (".vscode/mcp.json", "servers"),
    "gemini": (".gemini/settings.json", "mcpServers"),
}


def _make_ours() -> dict[str, Any]:
    command, *args = make_gateway(None).build("s", {"stdio": "", "args": ""}, ["--", "theirs"])
    return {"command": command, "args": args}


OURS = _make_ours()


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Of somebody else, which a person has just cloned; the current folder."""
    with empty_home(monkeypatch) as home:
        folder = home / "project"
        (folder / "bin").mkdir(parents=True)
        for program in ("amplifier", "bin/amplifier", "bin/python3"):
            (folder / program).write_text("#!/bin/sh\nexec theirs\n")
            (folder / program).chmod(0o755)
        monkeypatch.chdir(folder)
        yield folder


def _write(project: Path, *entries: Any, client: str = "claude") -> Path:
    name, table = FILES[client]
    path = project / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({table: {str(at): one for at, one in enumerate(entries)}}))
    return path


def _ask(client: str = "claude") -> dict[str, Any]:
    done = invoke("guard", "mcp", "--client", client, "--status", "--json")
    found = json.loads(done.stdout)
    assert done.code == (0 if found["stands"] else 1)
    return dict(found)


def _list_standing(found: dict[str, Any]) -> list[str]:
    (client,) = found["clients"]
    return [
        one["name"]
        for one in client["servers"]
        if one["state"] == "disabled" or (one["state"] == "guarded" and not one["detail"])
    ]


def test_a_gateway_of_this_installation_stands(project: Path) -> None:
    """What the others only look like."""
    _write(project, OWN, OURS)
    assert _ask()["stands"]


OTHERS: list[dict[str, Any]] = [
    {"command": "./amplifier", "args": WORDS},
    {"command": "bin/amplifier", "args": WORDS},
    {"command": "amplifier", "args": WORDS},
    {"command": "{project}/amplifier", "args": WORDS},
    {"command": "{project}/bin/../bin/amplifier", "args": WORDS},
    {"command": "${{PWD}}/amplifier", "args": WORDS},
    {"command": r".\amplifier", "args": WORDS},
    {"command": "/bin/sh", "args": ["-I", *MODULE]},
    {"command": "{project}/bin/python3", "args": OURS["args"]},
    {"command": "bin/python3", "args": OURS["args"]},
    {"command": "python3", "args": MODULE},
    {"command": sys.executable, "args": MODULE},
    {"command": sys.executable, "args": ["-I", "-m", "theirs", *MODULE]},
    {"command": sys.executable, "args": ["-I", "-X", "pycache_prefix=x", *MODULE]},
    {"command": "/usr/bin/env", "args": [str(SCRIPT), *WORDS]},
    {"command": "/usr/bin/env", "args": ["HOME=/theirs", str(SCRIPT), *WORDS]},
    {"command": "/bin/sh", "args": ["-c", f"theirs; {SCRIPT} mcp gateway -- x"]},
    {"command": f"{SCRIPT} ", "args": WORDS},
    {"command": str(SCRIPT).upper(), "args": WORDS},
]


def test_another_program_is_no_gateway_and_gets_one(project: Path) -> None:
    """It is not guarded as it is, and is once the command was run."""
    entries = [{**one, "command": one["command"].format(project=project)} for one in OTHERS]
    path = _write(project, *entries)
    found = _ask()
    states = [one["state"] for one in found["clients"][0]["servers"]]
    assert states == ["not guarded"] * len(OTHERS)
    assert invoke("guard", "mcp", "--client", "claude").code == 0
    changed = json.loads(path.read_text())["mcpServers"].values()
    assert {one["command"] for one in changed} == {OURS["command"]}
    assert _ask()["stands"]


def test_a_link_of_the_project_on_the_path_is_no_gateway(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the PATH finds first is started, also if ours comes later."""
    monkeypatch.setenv("PATH", f"{project}/bin:{SCRIPT.parent}:/usr/bin:/bin")
    _write(project, {"command": "amplifier", "args": WORDS})
    assert not _ask()["stands"]
    shutil.rmtree(project / "bin")
    assert _ask()["stands"]


ADDRESSES: list[dict[str, Any]] = [
    {"url": "https://theirs.test/mcp"},
    {"type": "http", "url": "https://theirs.test/mcp"},
    {"httpUrl": "https://theirs.test/mcp"},
    {"serverUrl": "https://theirs.test/mcp"},
    {"tcp": "theirs.test:1"},
    {"type": "sse"},
]


@pytest.mark.parametrize("client", FILES)
def test_an_address_beside_the_gateway_is_seen(project: Path, client: str) -> None:
    """Clients take it, and start no command."""
    entries = [{**entry, **beside} for entry in (OWN, OURS) for beside in ADDRESSES]
    path = _write(project, *entries, client=client)
    before = path.read_text()
    done = invoke("guard", "mcp", "--client", client, "--json")
    assert done.code == 1
    assert _list_standing(json.loads(done.stdout)) == []
    assert path.read_text() == before


@pytest.mark.parametrize("client", FILES)
def test_a_server_that_calls_itself_disabled_is_not_believed(project: Path, client: str) -> None:
    """These clients start it all the same, or nobody knows that they do not."""
    switches: list[dict[str, Any]] = [{"disabled": True}, {"enabled": False}]
    _write(project, *({"command": "theirs", **one} for one in switches), client=client)
    assert _list_standing(_ask(client)) == []


STEERING: list[dict[str, Any]] = [
    {"envFile": ".env"},
    *({"env": {name: "/theirs"}} for name in ("HOME", "LD_AUDIT", "LD_LIBRARY_PATH")),
    *({"env": {name: "/theirs"}} for name in ("OPENSSL_CONF", "SSL_CERT_FILE", "HOME=/theirs")),
    {"cwd": "/"},
]


def test_a_gateway_that_is_steered_does_not_stand(project: Path) -> None:
    """It would judge by other rules, run other code, or believe others."""
    entries = [{**entry, **beside} for entry in (OWN, OURS) for beside in STEERING]
    _write(project, *entries, client="cursor")
    found = _ask("cursor")
    assert all(one["detail"] for one in found["clients"][0]["servers"])
    assert _list_standing(found) == []


def test_a_folder_elsewhere_is_judged_by_the_rules_of_the_project(project: Path) -> None:
    """Once the command was run; the server still starts there."""
    path = _write(project, {"command": "theirs", "cwd": "/"})
    assert invoke("guard", "mcp", "--client", "claude").code == 0
    changed = json.loads(path.read_text())["mcpServers"]["0"]
    args = changed["args"]
    assert (args[args.index("--folder") + 1], changed["cwd"]) == (str(project), "/")
    assert _ask()["stands"]
    args[args.index("--folder") + 1] = "/"
    _write(project, changed)
    assert not _ask()["stands"]


def test_the_bundle_that_a_command_names_is_the_one_that_is_looked_at(project: Path) -> None:
    """Nobody has trusted it, also if the project's own was."""
    (project / "amplifier.yaml").write_text("hooks: [{module: hooks-rules}]\n")
    trust_project(project)
    _write(project, OWN)
    assert _ask()["stands"]
    lenient = project / "lenient.yaml"
    lenient.write_text("hooks: [{module: hooks-shell, config: {command: theirs}}]\n")
    _write(project, {**OWN, "args": ["mcp", "gateway", f"--bundle={lenient}", "--", "theirs"]})
    found = _ask()
    assert not found["stands"]
    assert str(lenient) in str(found["problems"])
    assert found["clients"][0]["servers"][0]["bundle"] == str(lenient)


def test_servers_among_other_settings_are_seen(project: Path) -> None:
    """Old versions of VS Code start them."""
    (project / ".vscode").mkdir()
    (project / ".vscode/settings.json").write_text('{"mcp": {"servers": {"a": {"command": "x"}}}}')
    workspace = '{"folders": [], "settings": {"mcp": {"servers": {"b": {"command": "x"}}}}}'
    (project / "my.code-workspace").write_text(workspace)
    found = _ask("vscode")
    servers = {one["name"]: one["state"] for one in found["clients"][0]["servers"]}
    assert servers == {"a": "cannot be guarded", "b": "cannot be guarded"}
    assert not found["stands"]


def test_a_server_that_is_a_single_command_line_is_seen(project: Path) -> None:
    """Gemini CLI starts it beside those of its table, which can be guarded all the same."""
    (project / ".gemini").mkdir()
    path = project / ".gemini/settings.json"
    single = {"serverCommand": "theirs", "allowed": ["s"]}
    path.write_text(json.dumps({"mcp": single, "mcpServers": {"s": {"command": "x"}}}))
    done = invoke("guard", "mcp", "--client", "gemini", "--json")
    servers = {
        one["name"]: one["state"] for one in json.loads(done.stdout)["clients"][0]["servers"]
    }
    assert servers == {"s": "guarded", "serverCommand": "cannot be guarded"}
    assert done.code == 1
    assert json.loads(path.read_text())["mcp"] == single
    assert invoke("guard", "mcp", "--client", "gemini", "--remove").code == 0


def test_variables_that_a_project_sets_for_everything_are_seen(project: Path) -> None:
    """They reach the gateway, too."""
    _write(project, OURS, client="gemini")
    assert _ask("gemini")["stands"]
    (project / ".env").write_text("XDG_DATA_HOME=/theirs\n")
    found = _ask("gemini")
    assert not found["stands"]
    assert "XDG_DATA_HOME" in str(found["problems"])


def test_what_is_not_looked_at_is_said(project: Path) -> None:
    """Else people would take `all guarded` for more than it says."""
    _write(project, OURS)
    assert any("Not looked at" in one for one in _ask()["notes"])
