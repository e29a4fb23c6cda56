"""amplifier serve, as a process of its own."""

from __future__ import annotations

import asyncio
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

import click
import pytest

from amplifier_hooks.approvals.stores.store import Store, open_store
from amplifier_hooks.cli.commands import serve
from amplifier_hooks.cli.commands.serve import require_server, use_store
from amplifier_hooks.cli.person import NotAPerson
from tests.hooks.cli.program import PROGRAM, invoke
from tests.support.processes import handle_interrupts


def test_a_code_logs_one_browser_in(home: Path):
    """For who asked, or for somebody else."""
    store = str(home / "other.db")
    made = invoke("login-code", "--name", "ann", "--scope", "read", "--store", store)
    assert made.code == 0
    assert "For ann, once, within 10 minutes." in made.stderr

    async def exchange():
        async with await open_store(store) as opened:
            return await opened.access.exchange_code(made.stdout.strip())

    _, login = asyncio.run(exchange())
    assert (login.identity.name, login.identity.scopes) == ("ann", {"read"})
    assert asyncio.run(exchange()) is None


def test_a_code_is_for_people(home: Path):
    """Agents have tokens."""
    refused = invoke("login-code", "--scope", "agent")
    assert refused.code == 1
    assert "token" in refused.stderr
    assert invoke("login-code", "--minutes", "0").code == 2


def test_missing_packages_are_named_with_what_installs_them(monkeypatch: pytest.MonkeyPatch):
    """The server is an extra."""
    require_server()
    monkeypatch.setattr(serve, "_PACKAGES", ("fastapi", "no_such_package"))
    with pytest.raises(click.ClickException, match=r"no_such_package.*\[web\]"):
        require_server()


def test_a_store_is_opened_and_closed_around_the_work(tmp_path: Path):
    """Also when the work fails."""
    held: list[Store] = []

    async def work(store: Store) -> int:
        held.append(store)
        return len(await store.access.list_tokens())

    assert use_store(str(tmp_path / "store.db"), work) == 0

    async def fail(store: Store) -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        use_store(str(tmp_path / "store.db"), fail)


def test_an_agents_own_command_makes_no_credentials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """With a token or a code of its own it could answer what people are asked about it."""

    async def work(store: Store) -> None:
        raise AssertionError("it was opened")

    monkeypatch.setenv("AMPLIFIER_COMMAND_ID", "/abc")
    with pytest.raises(NotAPerson):
        use_store(str(tmp_path / "store.db"), work)


def identify(token: str):
    """Whom the store takes a token for."""

    async def ask():
        async with await open_store() as store:
            return await store.access.identify_token(token)

    return asyncio.run(ask())


def test_a_token_is_printed_once_and_works_until_it_is_revoked(home: Path):
    """Only the token is on standard output, so that it can be piped."""
    made = invoke("tokens", "add", "build-7", "--scope", "agent", "--days", "1")
    token = made.stdout.strip()
    assert (made.code, len(made.stdout.splitlines())) == (0, 1)
    assert identify(token).name == "build-7"
    listed = invoke("tokens", "list")
    assert "build-7" in listed.stdout
    assert token not in listed.output
    (entry,) = map(json.loads, invoke("tokens", "list", "--json").stdout.splitlines())
    assert (entry["scopes"], entry["name"]) == (["agent"], "build-7")
    revoked = invoke("tokens", "revoke", entry["id"][:6])
    assert (revoked.code, identify(token)) == (0, None)
    assert "no tokens" in invoke("tokens", "list").stdout
    assert "revoked" in invoke("tokens", "list", "--all").stdout


def test_a_person_is_logged_out_of_every_browser(home: Path):
    """However the name is written; others stay logged in."""

    async def log_in() -> list[str]:
        async with await open_store() as store:
            codes = [await store.access.add_code(name, ["read"]) for name in ("ann", "Ann", "bob")]
            logins = [await store.access.exchange_code(code) for code in codes]
            return [cookie for cookie, _ in logins]

    async def find(cookies: list[str]) -> list[bool]:
        async with await open_store() as store:
            return [await store.access.identify_login(one) is not None for one in cookies]

    cookies = asyncio.run(log_in())
    asyncio.run(find(cookies))
    ended = invoke("tokens", "logout", "ann")
    assert (ended.code, ended.stdout) == (0, "Ended 2 logins and codes of ann.\n")
    assert asyncio.run(find(cookies)) == [False, False, True]
    again = invoke("tokens", "logout", "ann")
    assert (again.code, "logged in nowhere" in again.stderr) == (1, True)


def test_what_cannot_be_is_said_in_one_line(home: Path):
    """With what would do."""
    both = invoke("tokens", "add", "x", "--scope", "agent", "--scope", "decide")
    assert both.code == 1
    assert "two tokens" in both.stderr
    none = invoke("tokens", "revoke", "zz")
    assert "amplifier tokens list" in none.stderr
    assert invoke("tokens", "add", "x").code == 2
    invoke("tokens", "add", "x", "--scope", "read")
    assert invoke("tokens", "revoke", "").code == 1


def test_names_cannot_disguise_themselves(home: Path):
    """A name is shown with its control characters visible."""
    invoke("tokens", "add", "a\x1b[2Jb", "--scope", "read")
    assert "\x1b" not in invoke("tokens", "list").stdout


@contextmanager
def run_serve(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """The server, its address and its code; it is ended if the test does not."""
    with subprocess.Popen(
        [*PROGRAM, "serve", "--port", "0", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        preexec_fn=handle_interrupts,
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
