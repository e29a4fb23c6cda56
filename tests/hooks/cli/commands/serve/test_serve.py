"""amplifier serve, as a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.hooks.cli.program import PROGRAM, invoke
from tests.support.processes import heed_interrupts


@contextmanager
def run_serve(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """The server, its address and its code; it is ended if the test does not."""
    with subprocess.Popen(
        [*PROGRAM, "serve", "--port", "0", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        preexec_fn=heed_interrupts,
    ) as process:
        try:
            first, second = process.stdout.readline(), process.stdout.readline()
            address = re.fullmatch(r"Listening on (\S+)\n", first)
            code = re.search(r"the code (\S+) .*: (\S+)/#code=(\S+)$", second)
            assert address, first + process.stderr.read()
            assert code, second
            assert (code[1], code[2]) == (code[3], address[1])
            yield process, address[1], code[1]
        finally:
            process.kill()


def send(address: str, path: str, body: dict | None = None) -> dict:
    """What a server answers."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}/api/v1{path}", data, headers)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=30) as answer:
        found: dict = json.load(answer)
        return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_says_where_it_is_lets_its_person_in_and_ends_in_order(home: Path, number: int):
    """One line with the address, one with the one-time code; Ctrl-C ends it."""
    with run_serve() as (process, address, code):
        assert send(address, "/health") == {"status": "ok"}
        me = send(address, "/login", {"code": code})
        port = address.rpartition(":")[2]
        second = invoke("serve", "--port", port)
        process.send_signal(number)
        rest, errors = process.communicate(timeout=50)
    assert me["scopes"] == ["admin", "decide", "read", "run"]
    assert second.code == 1
    assert second.stderr.startswith(f"Error: Port {port} is in use")
    assert len(second.stderr.splitlines()) == 1
    assert (process.returncode, errors) == (0, "")
    assert rest == "Stopped. Whatever waits is still in the store.\n"


def test_no_code_goes_to_the_journal(home: Path, tmp_path: Path):
    """As a service, it says how to get one instead; the variable names where its output goes."""
    with (tmp_path / "journal").open("w+") as journal:
        facts = os.fstat(journal.fileno())
        env = {**os.environ, "JOURNAL_STREAM": f"{facts.st_dev}:{facts.st_ino}"}
        command = [*PROGRAM, "serve", "--port", "0"]
        with subprocess.Popen(command, stdout=journal, env=env) as process:
            deadline = time.monotonic() + 50
            while "login-code" not in (tmp_path / "journal").read_text():
                assert time.monotonic() < deadline
                time.sleep(0.05)
            process.terminate()
        said = (tmp_path / "journal").read_text()
    assert "#code=" not in said
    assert "Log in with a code from: amplifier login-code" in said


def test_another_interface_is_refused_with_one_line_that_says_what_would_do(home: Path):
    """Another interface only with TLS and login."""
    outcome = invoke("serve", "--host", "0.0.0.0")
    assert outcome.code == 1
    assert "--tls-cert and --tls-key, or --behind-proxy" in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1


def test_the_command_line_starts_without_the_server(home: Path):
    """`import amplifier_hooks.server` is lazy: the CLI's start must not import fastapi."""
    code = (
        "import sys; from amplifier_hooks.cli.main import run; "
        "run(['serve', '--help']); run(['tokens', '--help']); import amplifier_hooks.server; "
        "print({'fastapi', 'uvicorn', 'websockets', 'httpx2'} & set(sys.modules))"
    )
    done = subprocess.run(
        [PROGRAM[0], "-c", code], capture_output=True, text=True, check=True, timeout=50
    )
    assert done.stdout.endswith("set()\n")
