"""The command itself: quick to start, helpful when wrong, one line when it fails."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from amplifier_apps.cli import exit_codes
from amplifier_apps.cli.main import COMMANDS, cli
from amplifier_core.errors import ModuleNotFound, SessionDenied, SessionStateError

HEAVY = [
    "amplifier_core",
    "amplifier_foundation",
    "pydantic",
    "rich",
    "prompt_toolkit",
    "yaml",
    "anthropic",
    "openai",
    "fastapi",
    "mcp",
    "opentelemetry",
    "asyncio",
    "cryptography",
]


def amplifier(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    import os

    return subprocess.run(
        [sys.executable, "-m", "amplifier_apps.cli.main", *arguments],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
        start_new_session=True,
        env={**os.environ, **env},
    )


def test_help_imports_nothing_heavy() -> None:
    """Nothing heavy imported until needed."""
    script = (
        "import sys\nfrom amplifier_apps.cli.main import _run\n_run(['--help'], debug=False)\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stderr.strip() == "[]"


def _best(arguments: list[str]) -> float:
    """Processor time of the quickest of five: the machine may be busy with something else."""

    def spent() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    def once() -> float:
        before = spent()
        subprocess.run(arguments, check=True, capture_output=True)
        return spent() - before

    return min(once() for _ in range(5))


def test_help_starts_within_twice_a_bare_import_of_click() -> None:
    """`amplifier --help` within twice `python -c "import click"`."""
    bare = _best([sys.executable, "-c", "import click"])
    ours = _best([sys.executable, "-m", "amplifier_apps.cli.main", "--help"])
    assert ours < 2 * bare


def test_every_command_has_help_with_an_example_or_a_purpose() -> None:
    """Help texts with examples."""
    runner = CliRunner()
    context = click.Context(cli)
    for name in cli.list_commands(context):
        result = runner.invoke(cli, [name, "--help"])
        assert result.exit_code == 0, name
        assert COMMANDS[name].help
        assert result.output.startswith("Usage: ")


def test_an_unknown_command_names_the_nearest() -> None:
    """Bad input gets a clear sentence."""
    done = amplifier("modles")
    assert done.returncode == exit_codes.USAGE
    assert "Did you mean 'modules'?" in done.stderr


def test_version() -> None:
    """--version"""
    assert amplifier("--version").stdout.startswith("amplifier 0.")


def test_an_error_is_one_line_and_debug_shows_the_traceback(tmp_path: Path) -> None:
    """Errors in one line without traceback (`--debug` shows it)."""
    home = str(tmp_path)
    done = amplifier("sessions", "show", "nothing\x1b[2K", XDG_DATA_HOME=home)
    assert done.returncode == exit_codes.FAILED
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stderr.startswith("Error: No session 'nothing")
    assert "\x1b" not in done.stderr
    assert "Traceback" in amplifier("--debug", "sessions", "show", "x", XDG_DATA_HOME=home).stderr


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ModuleNotFound("x"), exit_codes.CONFIGURATION),
        (SessionDenied("x"), exit_codes.DENIED),
        (SessionStateError("x"), exit_codes.FAILED),
        (RuntimeError("x"), exit_codes.FAILED),
    ],
)
def test_exit_codes_follow_the_error(error: Exception, code: int) -> None:
    """Exit codes documented."""
    assert exit_codes.of(error) == code


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str) -> None:
    """Shell completion."""
    assert "_AMPLIFIER_COMPLETE" in CliRunner().invoke(cli, ["completion", shell]).output


def test_completion_completes_our_commands() -> None:
    """The shell is told our commands."""
    done = amplifier(_AMPLIFIER_COMPLETE="bash_complete", COMP_WORDS="amplifier do", COMP_CWORD="1")
    assert "doctor" in done.stdout


def test_a_closed_pipe_is_no_error() -> None:
    """`amplifier modules list | head -1` ends quietly."""
    command = f"{sys.executable} -m amplifier_apps.cli.main modules list | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stderr == ""
