"""The command that starts the gateway, and reading it back."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from amplifier_foundation.gateway.clients.line import (
    Gateway,
    is_gateway,
    make_gateway,
    read_line,
)

GATEWAY = Gateway(Path("/opt/python"), Path("/b c.yaml"), "ask")
MEMO = {"stdio": "", "args": "", "passed": "3"}


def test_a_command_is_read_back() -> None:
    """What was in the entry, the bundle, and the server with its own dashes."""
    command, *args = GATEWAY.build("my server", MEMO, ["--", "npx", "-y", "--", "--name", ""])
    line = read_line(command, args)
    assert line is not None
    assert (line.python, line.bundle, line.memo) == (GATEWAY.python, GATEWAY.bundle, MEMO)
    assert line.server == ("npx", "-y", "--", "--name", "")
    assert args[args.index("--name") + 1].startswith("my-server-")


def test_an_address_is_read_back() -> None:
    """With the variables of its headers, and the word before one."""
    words = ["--http", "https://x/mcp", "--header-env", "A=B", "--header-env", "C=D"]
    command, *args = GATEWAY.build("x", {"http": ""}, [*words, "--header-env", "E=Bearer T"])
    line = read_line(command, args)
    assert line is not None
    assert line.url == "https://x/mcp"
    assert line.headers == (("A", "B"), ("C", "D"), ("E", "Bearer T"))


@pytest.mark.parametrize(
    "change",
    [
        lambda args: [],
        lambda args: args[1:],
        lambda args: [*args[:2], "other=1", *args[3:]],
        lambda args: [*args[:2], "amplifier-mcp=a b", *args[3:]],
        lambda args: [*args[:4], "json", *args[5:]],
        lambda args: [*args[:7], "--verbose", *args[7:]],
        lambda args: [*args[:7], "--name", "x"],
        lambda args: [*args[:7], "--listen", "1", "--", "x"],
        lambda args: [*args[:7], "--http", "u", "--", "x"],
        lambda args: [*args, 1],
    ],
)
def test_what_somebody_has_changed_is_not_ours(change) -> None:  # type: ignore[no-untyped-def]
    """Nothing is made of it, so that nothing is lost."""
    command, *args = GATEWAY.build("x", MEMO, ["--", "npx"])
    assert read_line(command, change(args)) is None
    assert read_line(None, args) is None
    assert read_line(command, "args") is None


def test_a_gateway_that_a_person_has_written_is_one() -> None:
    """Under the program's own name; another program with the same words is none."""
    assert is_gateway("/usr/bin/amplifier", ["mcp", "gateway", "--", "npx"])
    assert not is_gateway("/usr/bin/amplifier", ["mcp", "server"])
    assert not is_gateway("amplify", ["mcp", "gateway", "--", "npx"])
    assert is_gateway("python3", ["-m", "amplifier_apps.cli.main", "mcp", "gateway", "--debug"])
    assert not is_gateway("python3", ["-m", "other", "mcp", "gateway"])
    assert not is_gateway("python3", ["-m"])
    assert is_gateway(*_split(GATEWAY.build("x", MEMO, ["--", "npx"])))


def test_the_command_starts_this_installation_from_anywhere(tmp_path: Path) -> None:
    """Not what a folder or a variable puts in its place."""
    (tmp_path / "amplifier_apps.py").write_text("raise SystemExit('from the folder')")
    command, *args = make_gateway(None).build("x", MEMO, [])
    assert Path(command).parent == Path(sys.executable).parent
    done = subprocess.run(
        [command, *args[: args.index("--name")], "--help"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path), "PATH": "/nowhere"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Stand between an MCP client and a server" in done.stdout


def _split(words: list[str]) -> tuple[str, list[str]]:
    return words[0], words[1:]
