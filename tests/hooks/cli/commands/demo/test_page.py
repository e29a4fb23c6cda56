"""amplifier demo --web: the question is answered on its page, by whoever has the code."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
from pathlib import Path
from typing import IO, Any

import httpx2
import pytest

from amplifier_hooks.cli import exit_codes
from tests.hooks.cli.program import PROGRAM, invoke
from tests.support.processes import handle_interrupts

LINK = re.compile(r"(http://127\.0\.0\.1:\d+)/#code=(\S+)")


def find_link(output: IO[str]) -> tuple[str, str]:
    """The address and the code that it prints."""
    for line in output:
        if found := LINK.search(line):
            return found[1], found[2]
    raise AssertionError("it never said where its page is")


def decide(address: str, code: str, *, allow: bool) -> dict[str, Any]:
    """Log in with the code, wait for the question, and answer it."""
    with httpx2.Client(base_url=f"{address}/api/v1", timeout=60, trust_env=False) as client:
        client.headers["Origin"] = address
        me = client.post("/login", json={"code": code}).json()
        client.headers["X-Amplifier-CSRF"] = me["csrf"]
        pending: list[dict[str, Any]] = []
        for _ in range(600):
            pending = client.get("/approvals", params={"status": "pending"}).json()["approvals"]
            if pending:
                break
        (approval,) = pending
        options = approval["request"]["options"]
        option = next(one["id"] for one in options if one["allows"] == allow)
        body = {"option": option, "nonce": approval["nonce"], "key": "k"}
        decided = client.post(f"/approvals/{approval['id']}/decision", json=body)
        assert decided.status_code == 200, decided.text
        return dict(approval)


def test_the_page_decides(home: Path) -> None:
    """What was decided there is what the demonstration finds afterwards."""
    command = [*PROGRAM, "demo", "--web", "--port", "0"]
    pipe = subprocess.PIPE
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdin=quiet, stdout=pipe, stderr=pipe, text=True) as program:
        assert program.stdout is not None
        approval = decide(*find_link(program.stdout), allow=False)
        rest, errors = program.communicate(timeout=100)
    assert program.returncode == exit_codes.DONE, rest + errors
    assert "workers = 4" in approval["request"]["preview"]
    assert "is untouched: the write was refused" in rest
    assert not list(home.rglob("amplifier/store"))


@pytest.mark.parametrize("printed", ["terminal", "file"])
def test_the_page_stays_up_until_its_person_ends_it(home: Path, printed: str) -> None:
    """At a terminal it can be looked at after the answer; Ctrl-C is how it ends, not a failure."""
    person, terminal = pty.openpty()
    command = [*PROGRAM, "demo", "--web", "--port", "0"]
    errors = terminal if printed == "file" else subprocess.STDOUT
    with subprocess.Popen(
        command,
        stdin=terminal,
        stdout=subprocess.PIPE if printed == "file" else terminal,
        stderr=errors,
        text=True,
        preexec_fn=handle_interrupts,
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1"},
    ) as program:
        output = program.stdout or os.fdopen(person, encoding="utf-8", errors="replace")
        try:
            address, code = find_link(output)
            decide(address, code, allow=True)
            lines = []
            for line in output:
                lines.append(line)
                if "Ctrl-C here ends it" in line:
                    break
            assert "was written, as allowed" in "".join(lines)
            found = httpx2.get(f"{address}/api/v1/ready", trust_env=False).json()
            assert found == {"status": "ready"}
            program.send_signal(signal.SIGINT)
            assert program.wait(60) == exit_codes.DONE
        finally:
            program.kill()
            os.close(terminal)
            output.close()
            if program.stdout is not None:
                os.close(person)


def test_an_answer_and_a_page_are_one_too_many() -> None:
    """Who says yes beforehand is not asked."""
    done = invoke("demo", "--web", "--yes")
    assert done.code == exit_codes.USAGE
    assert "leave out --yes" in done.stderr
