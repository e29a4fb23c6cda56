"""A program that is forked with its packages imported is as one that was started."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hooks.cli.pty_program import run_in_pty
from tests.support.forked_programs import can_fork, run_forked

FACTS = """
import json, os, signal, sys, tempfile, time

def describe(stream):
    terms = (stream.encoding, stream.errors, stream.isatty(), stream.line_buffering)
    return [stream.fileno(), *map(str, terms), stream.write_through, stream.mode]

print(json.dumps({
    "arguments": sys.argv,
    "name": __name__,
    "path": sys.path,
    "folder": os.getcwd(),
    "variables": {**os.environ},
    "leads": os.getsid(0) == os.getpid() == os.getpgrp(),
    "streams": [describe(one) for one in (sys.stdin, sys.stdout, sys.stderr)],
    "kept": [describe(one) for one in (sys.__stdin__, sys.__stdout__, sys.__stderr__)],
    "open": sorted(os.listdir("/proc/self/fd"))[:-1],
    "signals": {one.name: str(signal.getsignal(one)) for one in signal.valid_signals()
                if isinstance(one, signal.Signals) and hasattr(one, "name")},
    "zone": time.tzname,
    "temporary": tempfile.gettempdir(),
    "ours": [name for name in sys.modules if name.partition(".")[0] == "tests"],
    "given": sys.stdin.read() if not sys.stdin.isatty() else "",
    "terminal": os.isatty(0) and list(os.get_terminal_size(0)),
}))
"""
PROGRAMS = {
    "code": ("import sys; sys.exit(7)", 7, ""),
    "text": ("import sys; sys.exit('no')", 1, "no\n"),
    "signal": ("import os; os.kill(os.getpid(), 9)", -signal.SIGKILL, ""),
    "atexit": ("import atexit, sys; atexit.register(sys.stderr.write, 'late')", 0, "late"),
    "error": ("1 / 0", 1, "ZeroDivisionError: division by zero\n"),
}


def command(folder: Path, source: str) -> list[str]:
    """That runs the source as a module of this folder."""
    (folder / "facts.py").write_text(source)
    return [sys.executable, "-m", "facts", "one", "--two=ö"]


def test_it_finds_what_a_started_program_finds(tmp_path: Path) -> None:
    """Arguments, path, folder, variables, streams, descriptors, signals, zone."""
    argv = command(tmp_path, FACTS)
    env = {**os.environ, "TZ": "Asia/Tokyo", "TMPDIR": str(tmp_path), "ONLY": "here"}
    env["LANG"] = "C.UTF-8"
    assert can_fork(argv, env)
    code, stdout, stderr = run_forked(argv, "an ö".encode(), env, tmp_path)
    assert (code, stderr) == (0, b"")
    started = subprocess.run(
        argv,
        env=env,
        cwd=tmp_path,
        input="an ö".encode(),
        capture_output=True,
        check=True,
        start_new_session=True,
    )
    assert json.loads(stdout) == json.loads(started.stdout)


def test_at_a_terminal_it_finds_it_too(tmp_path: Path) -> None:
    """The terminal is its own, and has the size that was asked for."""
    argv = command(tmp_path, FACTS)
    found = []
    for line in (argv, ["/usr/bin/env", *argv]):
        with run_in_pty(*line, columns=3000, rows=7, cwd=tmp_path) as program:
            assert program.wait_end() == 0
            found.append(json.loads(program.raw))
    assert found[0] == found[1]
    assert found[0]["terminal"] == [3000, 7]


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_ends_as_a_started_program_ends(tmp_path: Path, name: str) -> None:
    """With its code, or the signal that it died of, once everything was written."""
    source, code, end = PROGRAMS[name]
    ended, stdout, stderr = run_forked(command(tmp_path, source), b"", os.environ, tmp_path)
    assert (ended, stdout) == (code, b"")
    assert stderr.decode().endswith(end)


def test_one_program_does_not_change_the_next(tmp_path: Path) -> None:
    """Each is forked from a server that has run none."""
    source = "import os, sys; print(hasattr(os, 'mark')); os.mark = 1; sys.exit(0)"
    argv = command(tmp_path, source)
    ran = [run_forked(argv, b"", os.environ, tmp_path) for _ in range(2)]
    assert ran == [(0, b"False\n", b"")] * 2


@pytest.mark.parametrize(
    "variables", [{"PYTHONPATH": "/nowhere"}, {"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}]
)
def test_an_interpreter_that_would_start_differently_is_started(variables: dict[str, str]) -> None:
    """What it reads when it starts cannot be changed in one that runs."""
    argv = [sys.executable, "-m", "json.tool"]
    assert can_fork(argv, os.environ)
    assert not can_fork(argv, {**os.environ, **variables})
    assert not can_fork([sys.executable, "-c", "pass"], os.environ)
    assert not can_fork(["bash", "-m", "json.tool"], os.environ)
