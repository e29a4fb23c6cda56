"""The page for people who run it for a team: its commands exist, and its unit is one."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import click
import pytest

from amplifier_hooks.cli.program import cli

PAGE = (Path(__file__).parents[2] / "docs" / "serving.md").read_text(encoding="utf-8")
COMMANDS = sorted(
    set(re.findall(r"^(?:[A-Z_]+=\S+ |ExecStart=\S*/)*(amplifier .+)$", PAGE, re.MULTILINE))
)


def read_block(beginning: str) -> str:
    """The code block that begins with this line."""
    return PAGE.partition(f"```{beginning}\n")[2].partition("```")[0]


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_of_the_page_is_one(line: str) -> None:
    """With its options and arguments."""
    words = shlex.split(line)[1:]
    command: click.Command = cli
    context = click.Context(cli, info_name="amplifier")
    while isinstance(command, click.Group):
        name, found, words = command.resolve_command(context, words)
        assert found is not None, line
        command, context = found, click.Context(found, parent=context, info_name=name)
    parsed = command.make_context(context.info_name, words, parent=context.parent)
    assert parsed.command is command


def test_the_page_has_commands() -> None:
    """Otherwise nothing above was looked at."""
    assert len(COMMANDS) >= 9
    assert any("--behind-proxy" in line for line in COMMANDS)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    """Every key of it."""
    unit = tmp_path / "amplifier.service"
    text = read_block("ini").replace("/opt/amplifier/bin/amplifier", "/bin/true")
    unit.write_text(text.replace("User=amplifier", "User=root"))
    command = ["systemd-analyze", "verify", "--man=no", str(unit)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    said = [line for line in result.stderr.splitlines() if "amplifier.service" in line]
    assert said == [], result.stderr
