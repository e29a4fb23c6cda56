"""Every command into a pipe that nobody reads, onto a full disk, and with its streams closed.

Each program runs in an environment that has nothing of this machine but the path: it is Python's
buffer, which PYTHONUNBUFFERED switches off, that makes the difference. Where a whole interpreter
starts, that is the point: without buffer, with closed streams, and once for each main module. The
others are forked, with streams that are opened anew.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from amplifier_hooks.cli import exit_codes, program
from tests.support.forked_programs import ForkedProgram

AMPLIFIER = ("amplifier_hooks.cli.main",)
AUDIT = ("amplifier_audit",)
MODEL_SERVER = ("amplifier_hooks.agent.model_server",)
LOST = "Error: The output could not be written: No space left on device.\n"
FOLDER = "project"
UNBUFFERED = {"PYTHONUNBUFFERED": "1"}

PROGRAMS = [
    (*AMPLIFIER, "--version"),
    (*AMPLIFIER, "--help"),
    (*AMPLIFIER, "audit", "verify", "--help"),
    (*AMPLIFIER, "run", "--approve", "deny", "hello"),
    (*AMPLIFIER, "run", "--json", "--approve", "deny", "hello"),
    (*AMPLIFIER, "chat", "--approve", "deny"),
    (*AMPLIFIER, "demo"),
    (*AMPLIFIER, "sessions", "list"),
    (*AMPLIFIER, "trust", "--show"),
    (*AMPLIFIER, "hooks", "list"),
    (*AMPLIFIER, "hooks", "stats"),
    (*AMPLIFIER, "rules", "check"),
    (*AMPLIFIER, "events"),
    (*AMPLIFIER, "modules", "list"),
    (*AMPLIFIER, "audit", "list"),
    (*AMPLIFIER, "audit", "show"),
    (*AMPLIFIER, "audit", "verify"),
    (*AMPLIFIER, "replay"),
    (*AMPLIFIER, "backups", "list"),
    (*AMPLIFIER, "approvals", "list"),
    (*AMPLIFIER, "tokens", "list"),
    (*AMPLIFIER, "schema"),
    (*AMPLIFIER, "doctor"),
    (*AMPLIFIER, "completion", "bash"),
    (*AUDIT, "--help"),
    (*AUDIT, "verify", "TRAIL"),
    (*AUDIT, "verify", "--json", "TRAIL"),
    (*MODEL_SERVER, "--help"),
]
STARTED = {
    (*AMPLIFIER, "--version"),
    (*AMPLIFIER, "run", "--approve", "deny", "hello"),
    (*AUDIT, "verify", "TRAIL"),
    (*MODEL_SERVER, "--help"),
}
ONE_OF_EACH_KIND = {
    ("run", "--json", "--approve", "deny", "hello"),
    ("chat", "--approve", "deny"),
    ("demo",),
    ("trust", "--show"),
    ("hooks", "list"),
    ("audit", "show"),
    ("audit", "verify"),
    ("replay",),
    ("approvals", "list"),
    ("schema",),
    ("verify", "--json", "TRAIL"),
}
WRONG = [
    AMPLIFIER,
    (*AMPLIFIER, "no-such-command"),
    (*AMPLIFIER, "run", "--no-such-option"),
    (*AMPLIFIER, "sessions", "show", "nothing"),
    (*AMPLIFIER, "audit", "verify", "/nothing"),
    AUDIT,
    (*AUDIT, "verify", "/nothing"),
    MODEL_SERVER,
    (*MODEL_SERVER, "/nothing"),
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home; in it, a folder with a bundle, a saved session and a trail."""
    home = tmp_path_factory.mktemp("home")
    (home / FOLDER).mkdir()
    for arguments in (("init", "--offline", "."), ("run", "--approve", "deny", "hello")):
        _run((*AMPLIFIER, *arguments), home)
    return home


def _make_environment(home: Path, **more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", **more}


def _make_command(words: tuple[str, ...], home: Path) -> list[str]:
    trails = [str(path) for path in home.glob(".local/share/amplifier/audit/*") if path.is_dir()]
    return [sys.executable, "-m", *(trails[0] if word == "TRAIL" else word for word in words)]


def _run(
    words: tuple[str, ...], home: Path, stdout: int = subprocess.PIPE, **variables: str
) -> tuple[int, str]:
    """The exit code and what was written to standard error."""
    if stdout != subprocess.PIPE and not variables and words not in STARTED:
        return _run_forked(words, home, stdout)
    done = subprocess.run(
        _make_command(words, home),
        cwd=home / FOLDER,
        env=_make_environment(home, **variables),
        input=b"hello\n",
        stdout=stdout,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stderr.decode()


def _run_forked(words: tuple[str, ...], home: Path, stdout: int) -> tuple[int, str]:
    command, environment = _make_command(words, home), _make_environment(home)
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as errors:
        given.write(b"hello\n")
        given.seek(0)
        streams = [given.fileno(), stdout, errors.fileno()]
        forked = ForkedProgram(command, streams, environment, home / FOLDER)
        code = forked.wait(60)
        forked.end()
        errors.seek(0)
        return code, errors.read().decode()


@cache
def _run_usually(words: tuple[str, ...], home: Path) -> tuple[int, str]:
    """What comes of it when everything can be written."""
    with tempfile.TemporaryFile() as everything:
        return _run_forked(words, home, everything.fileno())


@contextmanager
def _open_unread_pipe() -> Iterator[int]:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        yield writer
    finally:
        os.close(writer)


@contextmanager
def _open_full_device() -> Iterator[int]:
    with open("/dev/full", "wb", buffering=0) as device:  # noqa: PTH123
        yield device.fileno()


def _name(words: tuple[str, ...]) -> str:
    return " ".join(words).replace(*AMPLIFIER, "amplifier")


CASES = [
    *(pytest.param(one, {}, id=_name(one)) for one in PROGRAMS),
    # What is printed goes the same few ways, whichever the command is.
    *(pytest.param(one, UNBUFFERED, id=f"{_name(one)}-unbuffered") for one in PROGRAMS[:5]),
]


@pytest.mark.parametrize(("words", "variables"), CASES)
def test_a_reader_that_has_gone_is_no_error(
    words: tuple[str, ...], variables: dict[str, str], home: Path
) -> None:
    """The command ends as it does when everything is read: the same code, and nothing about it."""
    code, errors = _run_usually(words, home)
    with _open_unread_pipe() as pipe:
        left, said = _run(words, home, stdout=pipe, **variables)
    assert "Traceback" not in said
    assert "roken pipe" not in said
    assert left == code
    assert said.count("\n") <= errors.count("\n")


@pytest.mark.parametrize(("words", "variables"), CASES)
def test_output_that_is_lost_is_an_error(
    words: tuple[str, ...], variables: dict[str, str], home: Path
) -> None:
    """One sentence says so, and the exit code is not 0."""
    code, _ = _run_usually(words, home)
    with _open_full_device() as device:
        left, said = _run(words, home, stdout=device, **variables)
    assert "Traceback" not in said
    assert said.endswith(LOST)
    assert said.count(LOST) == 1
    assert left == (code or 1)


CLOSED = [
    *(one for one in PROGRAMS if one in STARTED or one[1:] in ONE_OF_EACH_KIND),
    *WRONG[::2],
]
"""For each a whole interpreter starts, so there is one for each way to read, print and store."""


@pytest.mark.parametrize("words", CLOSED, ids=_name)
def test_streams_that_are_closed_change_nothing(words: tuple[str, ...], home: Path) -> None:
    """Started with `<&- >&-` by a daemon or a job, the command does its work."""
    command = _make_command(words, home)
    closed = ["sh", "-c", 'exec "$@" <&- >&-', "sh", *command]
    code, errors = _run_usually(words, home)
    done = subprocess.run(
        closed,
        cwd=home / FOLDER,
        env=_make_environment(home),
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    assert done.returncode == code
    assert done.stderr.count(b"\n") <= errors.count("\n")


@pytest.mark.parametrize("words", WRONG[::2], ids=_name)
def test_the_exit_code_of_an_error_stands_where_nobody_reads_the_sentence(
    words: tuple[str, ...], home: Path
) -> None:
    """Standard error is a pipe that nobody reads."""
    code, _ = _run_usually(words, home)
    assert code
    with _open_unread_pipe() as pipe:
        done = subprocess.run(
            _make_command(words, home),
            cwd=home / FOLDER,
            env=_make_environment(home),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=pipe,
            timeout=60,
            check=False,
        )
    assert done.returncode == code


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["lines", "json"])
def test_a_run_that_nobody_reads_is_recorded_as_any_other(
    options: tuple[str, ...], home: Path
) -> None:
    """It goes on to its end, and a display without a reader is no hook that failed."""
    with _open_unread_pipe() as pipe:
        _run((*AMPLIFIER, "run", *options, "--approve", "deny", "hello"), home, stdout=pipe)
    shown = subprocess.run(
        _make_command((*AMPLIFIER, "audit", "show"), home),
        cwd=home / FOLDER,
        env=_make_environment(home),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "session ended · 3 tool calls" in shown.stdout.splitlines()[-1]


def test_a_broken_pipe_that_is_not_our_output_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A server or a program that hung up must not look like success."""

    def fail(_: object) -> None:
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr(program.cli, "invoke", fail)
    assert program.run(["doctor"]) == exit_codes.FAILED
    assert capsys.readouterr().err == "Error: [Errno 32] Broken pipe\n"


def test_a_server_goes_on_when_nobody_reads_where_it_listens(home: Path) -> None:
    """Its lines are for the person who started it; its clients know the address."""
    script = home / "script.yaml"
    script.write_text("- text: hello\n")
    for words in (
        (*MODEL_SERVER, "--port", "0", str(script)),
        (*AMPLIFIER, "serve", "--port", "0"),
    ):
        with _open_unread_pipe() as pipe:
            process = subprocess.Popen(
                _make_command(words, home),
                cwd=home / FOLDER,
                env=_make_environment(home),
                stdin=subprocess.DEVNULL,
                stdout=pipe,
                stderr=subprocess.PIPE,
            )
        with process:
            ended = _wait(process, 3)
            process.terminate()
        assert ended is None


def _wait(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None


def test_the_client_of_an_mcp_server_may_leave(home: Path) -> None:
    """It closes its ends in any order."""
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    with _open_unread_pipe() as pipe:
        done = subprocess.run(
            _make_command((*AMPLIFIER, "mcp", "server"), home),
            cwd=home / FOLDER,
            env=_make_environment(home),
            input=json.dumps(hello).encode() + b"\n",
            stdout=pipe,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, b"")
