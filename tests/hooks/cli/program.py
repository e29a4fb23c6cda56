"""The `amplifier` command: in this process, in one without a terminal, and in a terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from amplifier_hooks.cli.main import run
from tests.hooks.cli.pty_program import PtyProgram, run_in_pty
from tests.support.forked_programs import can_fork, run_forked

PROGRAM = [sys.executable, "-m", "amplifier_hooks.cli.main"]


@dataclass(frozen=True)
class Outcome:
    """What a command ended with, and what it wrote."""

    code: int
    stdout: str
    stderr: str

    @property
    def output(self) -> str:
        """Both streams."""
        return self.stdout + self.stderr


def invoke(*arguments: object, answer: str | None = None) -> Outcome:
    """The whole command in this process, without a terminal."""
    with CliRunner().isolation(input=answer) as (stdout, stderr, _):
        code = run([str(one) for one in arguments])
        sys.stdout.flush()
        texts = [stream.getvalue().decode() for stream in (stdout, stderr)]
    return Outcome(code, *texts)


def run_amplifier(*arguments: str, stdin: str = "", **env: str) -> Outcome:
    """The command in a process of its own, without a terminal of any kind."""
    command, variables = [*PROGRAM, *arguments], {**os.environ, **env}
    if can_fork(command, variables):
        code, *texts = run_forked(command, stdin.encode(), variables, Path.cwd())
        return Outcome(code, *(text.decode() for text in texts))
    done = subprocess.run(
        command,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
        start_new_session=True,
        env=variables,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def run_at_terminal(*arguments: str, **options: Any) -> AbstractContextManager[PtyProgram]:
    """The command at a terminal, in the current folder."""
    return run_in_pty(*PROGRAM, *arguments, **{"cwd": Path.cwd(), **options})


def wait_for_prompt(program: PtyProgram, number: int) -> list[str]:
    """The screen once the so-manyth prompt is the last line and empty."""

    def is_there(lines: list[str]) -> bool:
        shown = [line for line in lines if line]
        return shown[-1:] == ["›"] and sum(line.startswith("›") for line in shown) == number

    return program.wait_until(is_there, f"prompt {number}")
