"""The tree of commands: helpful when wrong, one line when it fails."""

from __future__ import annotations

import click
import pytest

from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.commands import doctor
from amplifier_hooks.cli.program import COMMANDS, cli
from tests.hooks.cli.program import invoke


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_there_and_has_help(name: str) -> None:
    """The list of commands and the commands themselves say the same."""
    done = invoke(name, "--help")
    assert done.code == 0
    assert done.stdout.startswith(f"Usage: amplifier {name}")
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert command.name == name
    assert COMMANDS[name] in invoke("--help").stdout


def test_an_unknown_command_names_the_nearest() -> None:
    """Or all of them, where none is near."""
    done = invoke("modles")
    assert done.code == exit_codes.USAGE
    assert "Did you mean 'modules'?" in done.stderr
    assert "There are demo, run, chat" in invoke("zzzzzz\x1b").stderr
    assert "\x1b" not in invoke("zzzzzz\x1b").stderr


def test_version() -> None:
    """Its name and its number, wherever the option stands."""
    for arguments in (["--version"], ["--debug", "--version"], ["--version", "run"]):
        assert invoke(*arguments).stdout.startswith("amplifier 0.")


WRONG_USAGE = {
    "modles": "No command 'modles'. Did you mean 'modules'? See: amplifier --help",
    "hooks lst": "No such command 'lst'. Did you mean 'list'? See: amplifier hooks --help",
    "hooks trace": "Give a prompt, --tool with --input, or --event. "
    "See: amplifier hooks trace --help",
    "completion": "Missing argument 'SHELL'. Choose from: bash, zsh, fish. "
    "See: amplifier completion --help",
    "trust --nothing": "No such option '--nothing'. See: amplifier trust --help",
    "modules list --kind x": "Invalid value for '--kind': 'x' is not one of 'context', 'hook', "
    "'orchestrator', 'provider', 'tool'. See: amplifier modules list --help",
}


@pytest.mark.parametrize("command", WRONG_USAGE)
def test_wrong_usage_is_one_line_that_says_where_the_right_one_stands(command: str) -> None:
    """With exit code 2."""
    done = invoke(*command.split())
    assert (done.code, done.stdout) == (exit_codes.USAGE, "")
    assert done.stderr == f"Error: {WRONG_USAGE[command]}\n"


def test_an_error_that_nobody_expected_is_called_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    """With its kind, and where to see more."""

    def fail() -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(doctor, "examine", fail)
    done = invoke("doctor")
    assert done.code == exit_codes.FAILED
    assert done.stderr == "Error: ZeroDivisionError: oops (this is a bug; --debug shows where)\n"


def test_an_error_without_words_is_called_by_its_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody can do anything about an empty line."""

    def fail() -> None:
        raise TimeoutError

    monkeypatch.setattr(doctor, "examine", fail)
    assert invoke("doctor").stderr == "Error: TimeoutError\n"


def test_an_interrupt_has_the_exit_code_that_shells_give_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And a word."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(doctor, "examine", interrupt)
    done = invoke("doctor")
    assert (done.code, done.stderr.strip()) == (exit_codes.INTERRUPTED, "Interrupted.")
