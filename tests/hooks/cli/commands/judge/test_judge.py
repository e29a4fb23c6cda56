"""amplifier judge, as a process of its own, used as docs/judging.md says."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.docs.blocks import FENCE
from tests.hooks.cli.program import PROGRAM, invoke
from tests.support.processes import handle_interrupts

PAGE = Path(__file__).parents[5] / "docs" / "judging.md"


@contextmanager
def run_judge(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str, Path]]:
    """The judge, its address, and the file of its token; it is ended if the test does not."""
    with subprocess.Popen(
        [*PROGRAM, "judge", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        preexec_fn=handle_interrupts,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            first, second = process.stdout.readline(), process.stdout.readline()
            address = re.fullmatch(r"Listening on (\S+)\n", first)
            token = re.fullmatch(r"The token is in (\S+)\n", second)
            assert address, first + process.stderr.read()
            assert token, second
            yield process, address[1], Path(token[1])
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_says_where_it_is_and_ends_in_order(home: Path, number: int) -> None:
    """One line with the address, one with the file of the token."""
    with run_judge("--port", "0") as (process, address, token):
        port = address.rpartition(":")[2]
        second = invoke("judge", "--port", port)
        process.send_signal(number)
        rest, errors = process.communicate(timeout=50)
    assert stat.S_IMODE(token.stat().st_mode) == 0o600
    assert second.code == 1
    assert second.stderr.startswith(f"Error: Port {port} is in use")
    assert (process.returncode, errors) == (0, "")
    assert rest == "Stopped. Sessions that were open have ended.\n"


def test_another_interface_is_refused_with_one_line_that_says_what_would_do(home: Path) -> None:
    """Another machine is for `amplifier serve`."""
    outcome = invoke("judge", "--host", "0.0.0.0")
    assert outcome.code == 1
    assert "amplifier tokens add NAME --scope judge" in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_lines_of_the_page_do_what_it_says(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From nothing to the end of a session, copied into a shell; only the port is a free one."""
    monkeypatch.delenv("XDG_DATA_HOME")
    text = PAGE.read_text().partition("## The rule")[0]
    start, *lines = [block for kind, block in FENCE.findall(text) if kind == "sh"]
    promised = [block for kind, block in FENCE.findall(text) if kind == "json"]
    assert start == "amplifier judge\n"
    with run_judge("--port", "0") as (_, address, _):
        script = "".join(lines)
        assert script.count("http://127.0.0.1:8412") == 1
        script = script.replace("http://127.0.0.1:8412", address).replace(
            "judge /", "echo; judge /"
        )
        done = subprocess.run(
            ["bash", "-euc", script], capture_output=True, text=True, timeout=60, check=True
        )
    told = [json.loads(line) for line in done.stdout.splitlines() if line]
    expected = "".join(promised).splitlines()
    assert len(told) == len(expected) == 4
    for answer, line in zip(told, expected, strict=True):
        for field, value in json.loads(line.replace(", …", "")).items():
            is_cut = isinstance(value, str) and value.endswith("…")
            assert answer[field].startswith(value[:-1]) if is_cut else answer[field] == value
