"""A signal at any moment of a program: a sentence, and for `run --json` its last line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.cli import exit_codes
from tests.hooks.cli.conftest import Project
from tests.hooks.cli.program import PROGRAM
from tests.support.processes import handle_interrupts

SLOW = {"text": "Hello.", "delay": 60}
ENDS = {
    signal.SIGINT: (exit_codes.INTERRUPTED, "interrupted"),
    signal.SIGTERM: (exit_codes.TERMINATED, "terminated"),
}
SENTENCES = {"interrupted": "Interrupted.", "terminated": "Ended by SIGTERM."}
STEPS = [round(0.05 * step, 2) for step in range(1, 21)]


def catches(process: int, number: signal.Signals) -> bool:
    """Whether a process has a handler for a signal."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    mask = next(int(line.split()[1], 16) for line in lines if line.startswith("SigCgt"))
    return bool(mask >> (number - 1) & 1)


def interrupt(
    arguments: list[str], delay: float, *numbers: signal.Signals, program: list[str] = PROGRAM
) -> tuple[int, str, str]:
    """Send the signals so long after the program's first line; its code and what it wrote."""
    child = subprocess.Popen(
        [*program, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=handle_interrupts,
    )
    with child:
        # Python has a handler of its own for SIGINT, and none for SIGTERM: that one is ours.
        while not catches(child.pid, signal.SIGTERM):
            assert child.poll() is None, child.communicate()
            time.sleep(0.001)
        time.sleep(delay)
        for number in numbers:
            child.send_signal(number)
        stdout, stderr = child.communicate(timeout=60)
    return child.returncode, stdout, stderr


def check_end(number: signal.Signals, ended: tuple[int, str, str]) -> dict[str, Any]:
    """The last line, after all that must be true of an end by this signal."""
    code, stdout, stderr = ended
    results = [one for one in map(json.loads, stdout.splitlines()) if one["type"] == "result"]
    assert len(results) == 1, ended
    last: dict[str, Any] = json.loads(stdout.splitlines()[-1])
    assert (code, last["status"]) == ENDS[number], ended
    assert "Traceback" not in stderr
    return last


@pytest.mark.parametrize("number", list(ENDS))
def test_a_run_that_is_only_being_imported_has_a_result(
    project: Project, number: signal.Signals
) -> None:
    """With the same fields as every result, and the sentence for people."""
    project(SLOW)
    ended = interrupt(["run", "--json", "hi"], 0, number)
    last = check_end(number, ended)
    assert last["error"] == SENTENCES[last["status"]]
    assert last["error"] in ended[2]
    assert {"type", "response", "session_id", "working_dir", "tokens", "cost"} <= last.keys()


@pytest.mark.parametrize(("delay", "number"), [(0.15, signal.SIGINT), (0.4, signal.SIGTERM)])
def test_there_is_a_result_a_moment_later(
    project: Project, delay: float, number: signal.Signals
) -> None:
    """While the bundle is read, or the session opened."""
    project(SLOW)
    check_end(number, interrupt(["run", "--json", "hi"], delay, number))


@pytest.mark.slow
@pytest.mark.parametrize("delay", STEPS)
@pytest.mark.parametrize("number", list(ENDS))
def test_there_is_a_result_at_every_moment(
    project: Project, delay: float, number: signal.Signals
) -> None:
    """Twenty moments of the first second; this takes a minute."""
    project(SLOW)
    check_end(number, interrupt(["run", "--json", "hi"], delay, number))


@pytest.mark.slow
@pytest.mark.parametrize("delay", STEPS)
def test_two_at_once_have_one_result(project: Project, delay: float) -> None:
    """The second one does not wait for the end of the session."""
    project(SLOW)
    twice = (signal.SIGTERM, signal.SIGTERM)
    check_end(signal.SIGTERM, interrupt(["run", "--json", "hi"], delay, *twice))


@pytest.mark.slow
@pytest.mark.parametrize("delay", STEPS)
@pytest.mark.parametrize("number", list(ENDS))
def test_a_run_that_is_just_ending_has_one_result(
    project: Project, delay: float, number: signal.Signals
) -> None:
    """Either that of the run, or that of the signal."""
    project({"text": "Hello."})
    code, stdout, stderr = interrupt(["run", "--json", "hi"], delay * 1.5, number)
    results = [one for one in map(json.loads, stdout.splitlines()) if one["type"] == "result"]
    assert [one["status"] for one in results] in (["done"], [ENDS[number][1]])
    assert code in (0, ENDS[number][0], -number)
    assert "Traceback" not in stderr


def test_a_run_for_people_says_it_in_one_line(project: Project) -> None:
    """Without a traceback of whatever was being imported."""
    project(SLOW)
    ended = interrupt(["run", "hi"], 0, signal.SIGINT)
    assert ended == (exit_codes.INTERRUPTED, "", "Interrupted.\n")


def call(script: str) -> subprocess.CompletedProcess[str]:
    """A script in a process of its own, with the module at hand."""
    head = "import os, signal, sys\nfrom amplifier_hooks.cli.early_signals import *\n"
    head += "from amplifier_hooks.cli.commands.agent import handle_interrupts\n"
    head += "def hit(number): os.kill(os.getpid(), number)\n"
    return subprocess.run(
        [sys.executable, "-c", head + script],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
        preexec_fn=handle_interrupts,
    )


def test_a_line_that_is_being_written_is_finished() -> None:
    """And it stays the only one; the next signal ends the process."""
    done = call(
        "answer_signals(['run', '--json', 'hi'])\n"
        "with LastLine():\n"
        "    print('half', end='', flush=True)\n"
        "    hit(signal.SIGTERM)\n"
        "    print(' and half', flush=True)\n"
        "hit(signal.SIGINT)\n"
        "print('never')\n"
    )
    assert (done.returncode, done.stdout) == (exit_codes.INTERRUPTED, "half and half\n")


def test_a_line_that_nobody_reads_does_not_hold_the_process() -> None:
    """While it is being written the second signal counts."""
    done = call(
        "answer_signals(['run', '--json', 'hi'])\n"
        "with LastLine():\n"
        "    hit(signal.SIGTERM)\n"
        "    hit(signal.SIGTERM)\n"
        "    print('never')\n"
    )
    assert (done.returncode, done.stdout) == (exit_codes.TERMINATED, "")


@pytest.mark.parametrize(
    ("arguments", "json_line"),
    [
        (["run", "--json", "hi"], True),
        (["--debug", "run", "hi", "--json"], True),
        (["run", "hi"], False),
        (["run", "--", "--json"], False),
        (["chat", "--json", "run"], False),
    ],
)
def test_only_a_run_with_json_has_a_result(arguments: list[str], json_line: bool) -> None:
    """Others have the sentence alone."""
    done = call(f"answer_signals({arguments!r})\nhit(signal.SIGINT)")
    assert (done.returncode, done.stderr) == (exit_codes.INTERRUPTED, "Interrupted.\n")
    assert bool(done.stdout) is json_line


@pytest.mark.parametrize("command", ["chat", "run"])
def test_while_there_is_work_ctrl_c_is_raised(command: str) -> None:
    """In `run` only as long as there is; other commands raise it from their start."""
    done = call(
        f"answer_signals([{command!r}])\n"
        "release_signals()\n"
        "with handle_interrupts():\n"
        "    try:\n"
        "        hit(signal.SIGINT)\n"
        "    except KeyboardInterrupt:\n"
        "        print('raised', flush=True)\n"
        "print(signal.getsignal(signal.SIGINT) is signal.default_int_handler, flush=True)\n"
        "hit(signal.SIGINT)\n"
    )
    assert done.stdout == f"raised\n{command == 'chat'}\n"
    assert ("Traceback" in done.stderr) is (command == "chat")


def test_what_ignores_ctrl_c_goes_on_ignoring_it() -> None:
    """As a job in the background does."""
    done = call(
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "answer_signals(['run', 'hi'])\n"
        "hit(signal.SIGINT)\n"
        "with handle_interrupts(), LastLine():\n"
        "    hit(signal.SIGINT)\n"
        "print('still here')\n"
    )
    assert (done.returncode, done.stdout) == (0, "still here\n")


def test_a_module_that_is_imported_elsewhere_changes_no_signal() -> None:
    """Only the program itself answers them."""
    script = "import signal, amplifier_hooks.cli.main\nprint(signal.getsignal(signal.SIGTERM) == 0)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=50, check=False
    )
    assert done.stdout == "True\n"
    assert os.WEXITSTATUS(done.returncode) == 0
