"""A database that dies, and comes back, under a real server."""

from __future__ import annotations

import json
import os
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.hooks.cli.program import PROGRAM
from tests.support.postgres_server import PostgresServer

QUICK = 5.0
"""Seconds: what is not waited for takes less, also on a busy machine."""


@contextmanager
def run_server(store: str, log: Path, *more: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server of its own, and its address."""
    command = [*PROGRAM, "serve", "--port", "0", "--store", store, *more]
    with (
        log.open("w") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as server,
    ):
        try:
            assert server.stdout is not None
            said = server.stdout.readline()
            assert said.startswith("Listening on "), said + log.read_text()
            yield server, said.removeprefix("Listening on ").strip()
        finally:
            server.kill()


def ask(address: str, path: str, **headers: str) -> tuple[int, dict[str, Any], dict[str, str]]:
    """The status, the body and the headers of an answer."""
    request = urllib.request.Request(f"{address}/api/v1{path}", headers=headers)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        answer = opener.open(request, timeout=60)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        found = {key.lower(): value for key, value in answer.headers.items()}
        return answer.status, json.load(answer), found


def wait_for_status(address: str, path: str, status: int, **headers: str) -> float:
    """Ask until it is answered like this; returns how long the last answer took."""
    deadline = time.monotonic() + 60
    while True:
        began = time.monotonic()
        found = ask(address, path, **headers)[0]
        if found == status:
            return time.monotonic() - began
        assert time.monotonic() < deadline, found
        time.sleep(0.1)


def test_health_readiness_and_requests_say_what_is_so_while_the_database_is_dead(
    home: Path, tmp_path: Path, postgres_server: PostgresServer, postgres_url: str
) -> None:
    """Alive, not ready, refused at once with when to come again; all of it in the log, and over."""
    log = tmp_path / "log"
    token = make_token(postgres_url)
    bearer = {"Authorization": f"Bearer {token}"}
    with run_server(postgres_url, log, "--log-format", "json") as (_, address):
        assert ask(address, "/ready")[:2] == (200, {"status": "ready"})
        postgres_server.crash()
        try:
            assert wait_for_status(address, "/ready", 503) < QUICK
            assert ask(address, "/health")[:2] == (200, {"status": "ok"})
            # After the time in which a restart is waited for, nobody waits any more.
            deadline = time.monotonic() + 60
            while "requests are refused" not in log.read_text():
                assert time.monotonic() < deadline
                time.sleep(0.1)
            for path in ("/approvals", "/me", "/statistics"):
                began = time.monotonic()
                status, body, headers = ask(address, path, **bearer, **{"X-Request-Id": "mine-1"})
                assert time.monotonic() - began < QUICK
                assert (status, body["error"]["code"]) == (503, "unavailable")
                assert body["error"]["request_id"] == headers["x-request-id"] == "mine-1"
                assert int(headers["retry-after"]) > 0
        finally:
            postgres_server.start()
        wait_for_status(address, "/ready", 200)
        wait_for_status(address, "/approvals", 200, **bearer)
    written = log.read_text()
    lines = [json.loads(line) for line in written.splitlines()]
    messages = [one["message"] for one in lines]
    assert sum(one.startswith("the store does not answer") for one in messages) == 1
    assert sum(one.startswith("the store answers again") for one in messages) == 1
    failed = [one for one in lines if one.get("request_id") == "mine-1"]
    assert [(one["status"], one["path"]) for one in failed] == [
        (503, f"/api/v1{path}") for path in ("/approvals", "/me", "/statistics")
    ]
    assert token not in written
    assert token.removeprefix("amp_") not in written


def test_a_database_that_hangs_is_not_ready_either(
    home: Path, tmp_path: Path, postgres_server: PostgresServer, postgres_url: str
) -> None:
    """It keeps its connections and says nothing; readiness knows within seconds."""
    with run_server(postgres_url, tmp_path / "log") as (_, address):
        assert ask(address, "/ready")[0] == 200
        with postgres_server.freeze():
            began = time.monotonic()
            assert ask(address, "/ready")[0] == 503
            assert time.monotonic() - began < 3 * QUICK
            assert ask(address, "/health")[0] == 200
        wait_for_status(address, "/ready", 200)


def test_a_server_that_is_started_before_its_database_waits_and_says_so(
    home: Path, tmp_path: Path, postgres_server: PostgresServer, postgres_url: str
) -> None:
    """It listens once the database is there, and gives up when the time is over."""
    postgres_server.crash()
    log = tmp_path / "log"
    command = [*PROGRAM, "serve", "--port", "0", "--store", postgres_url, "--wait-for-store"]
    try:
        over = subprocess.run(
            [*command, "1"], capture_output=True, text=True, timeout=60, check=False
        )
        with (
            log.open("w") as errors,
            subprocess.Popen(
                [*command, "60"], stdout=subprocess.PIPE, stderr=errors, text=True
            ) as server,
        ):
            try:
                deadline = time.monotonic() + 60
                while "not ready" not in log.read_text():
                    assert time.monotonic() < deadline
                    assert server.poll() is None
                    time.sleep(0.05)
                postgres_server.start()
                assert server.stdout is not None
                address = server.stdout.readline().removeprefix("Listening on ").strip()
                assert ask(address, "/ready")[0] == 200
            finally:
                server.kill()
    finally:
        if not postgres_server.answers():
            postgres_server.start()
    assert over.returncode == 1
    assert over.stderr.splitlines()[-1].startswith("Error: The store at ")
    assert "not ready; the store is tried for" in over.stderr


def make_token(url: str) -> str:
    """A person's token in the store."""
    done = subprocess.run(
        [*PROGRAM, "tokens", "add", "ann", "--scope", "read", "--store", url],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env=dict(os.environ),
    )
    return done.stdout.strip()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without anything in it."""
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    return tmp_path / "home"
