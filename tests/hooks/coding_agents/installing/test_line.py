"""The shell line in the settings: it blocks when the client fails, where that is wanted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.installing.line import (
    MARK,
    GuestCommand,
    UnusablePath,
    is_line,
    list_words,
    make_guest_command,
)

ODD = 'it\'s "odd" $HOME `x` ; é'


def write_client(folder: Path, body: str) -> GuestCommand:
    """A client in a folder with an odd name."""
    place = folder / ODD
    place.mkdir()
    client = place / "client.py"
    client.write_text(body)
    return GuestCommand(Path(sys.executable), client, place)


def run(line: str) -> subprocess.CompletedProcess[str]:
    """As an agent runs it."""
    return subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)


def test_the_client_gets_every_word_as_it_is(tmp_path: Path) -> None:
    """Whatever characters are in the paths."""
    command = write_client(tmp_path, "import sys\nprint(sys.argv[1:])\n")
    bundle = tmp_path / "my bundle's.yaml"
    done = run(command.build_line("claude", "PreToolUse", 590, gate=True, bundle=bundle))
    assert done.returncode == 0
    expected = [str(command.folder), "claude", "PreToolUse", "590", str(bundle)]
    assert done.stdout == f"{expected}\n"


@pytest.mark.parametrize(("gate", "code"), [(True, 2), (False, 1)])
@pytest.mark.parametrize("body", ["raise SystemExit(3)", "import os; os.kill(os.getpid(), 9)", "("])
def test_a_failure_blocks_at_gates_only(tmp_path: Path, gate: bool, code: int, body: str) -> None:
    """At a stop, exit code 2 would make the agent go on."""
    command = write_client(tmp_path, body)
    done = run(command.build_line("claude", "X", 0.8, gate=gate))
    assert done.returncode == code
    assert ("this was not judged" in done.stderr) is gate


def test_a_failure_says_no_where_an_exit_code_does_not(tmp_path: Path) -> None:
    """Copilot lets a prompt through whatever code the hook ends with."""
    command = write_client(tmp_path, "raise SystemExit(3)")
    refusal = '{"decision": "block", "reason": "it\'s not judged"}'
    done = run(command.build_line("copilot", "X", 1, gate=True, refusal=refusal))
    assert (done.returncode, done.stdout) == (0, f"{refusal}\n")


def test_a_missing_interpreter_blocks(tmp_path: Path) -> None:
    """As it is after the environment was removed."""
    command = GuestCommand(tmp_path / "gone", tmp_path / "client.py", tmp_path)
    assert run(command.build_line("codex", "PreToolUse", 1, gate=True)).returncode == 2


def test_our_lines_are_recognized() -> None:
    """By their end."""
    line = make_guest_command(Path("/f")).build_line("codex", "Stop", 0.8, gate=False)
    assert line.endswith(f" 0.8 || exit 1 {MARK}")
    assert is_line(line)
    assert not is_line(f"{line} && other")
    assert not is_line(None)


def test_the_words_of_a_line_can_be_read_back(tmp_path: Path) -> None:
    """To see whether what they name is still there."""
    command = GuestCommand(Path("/p"), tmp_path / ODD, Path("/f"))
    line = command.build_line("codex", "Stop", 590, gate=True)
    assert list_words(line) == ["/p", "-I", "-S", str(tmp_path / ODD), "/f", "codex", "Stop", "590"]
    assert list_words("'open") == []


def test_the_interpreter_is_a_real_file_and_no_shim() -> None:
    """And the client is ours."""
    command = make_guest_command(Path("/f"))
    assert command.python.resolve() == command.python
    assert command.client.is_file()


@pytest.mark.parametrize("name", ["new\nline", "\udcff"])
def test_paths_that_cannot_be_written_are_refused(name: str) -> None:
    """Before anything is."""
    with pytest.raises(UnusablePath, match="without them"):
        GuestCommand(Path("/p"), Path(f"/{name}"), Path("/f")).build_line("a", "E", 1, gate=True)
