"""amplifier demo --web: the question is answered on its page, by whoever has the code."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import httpx2
import pytest

from amplifier_apps.cli import exit_codes
from tests.apps.cli.program import PROGRAM, invoke

LINK = re.compile(r"(http://127\.0\.0\.1:\d+)/#code=(\S+)")


def read_link(program: subprocess.Popen[str]) -> tuple[str, str]:
    """The address and the code that it prints."""
    assert program.stdout is not None
    for line in program.stdout:
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


@pytest.mark.parametrize("allow", [True, False])
def test_the_page_decides(home: Path, allow: bool) -> None:
    """What was decided there is what the demonstration finds afterwards."""
    command = [*PROGRAM, "demo", "--web", "--port", "0"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as program:
        approval = decide(*read_link(program), allow=allow)
        rest, errors = program.communicate(timeout=100)
    assert program.returncode == exit_codes.DONE, rest + errors
    assert "workers = 4" in approval["request"]["preview"]
    assert ("was written, as allowed" in rest) == allow
    assert not list(home.rglob("amplifier/store"))


def test_an_answer_and_a_page_are_one_too_many() -> None:
    """Who says yes beforehand is not asked."""
    done = invoke("demo", "--web", "--yes")
    assert done.code == exit_codes.USAGE
    assert "leave out --yes" in done.stderr
