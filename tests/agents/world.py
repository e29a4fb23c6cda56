"""A home and a project to throw away, an agent that works there, and what is left afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.testing import wait_for
from amplifier_hooks.agent.model_server import ModelServer
from amplifier_hooks.agent.model_server.server import Received
from tests.agents.programs import NOWHERE, Program
from tests.hooks.cli.pty_program import run_in_pty

AMPLIFIER = Path(sys.executable).with_name("amplifier")
LONGEST_RUN = 120.0
_LONGEST_LINE = 16 * 1024 * 1024
# Whatever an agent would like to fetch from elsewhere, it does not get.
LOOPBACK = {"HTTPS_PROXY": NOWHERE, "HTTP_PROXY": NOWHERE, "NO_PROXY": "127.0.0.1,localhost"}
JUDGE = Path(__file__).with_name("judge.py")


@dataclass(frozen=True)
class Outcome:
    """What an agent did: its exit code, what it printed, and what it asked its model."""

    code: int | None
    output: str
    requests: list[Received]

    @property
    def asked(self) -> list[str]:
        """The requests of the conversation as text, without side requests that offer no tools."""
        return [json.dumps(one.body) for one in self.requests if one.body.get("tools")]


class World:
    """One person's machine, as far as an agent sees it."""

    def __init__(self, agents: Path) -> None:
        # Short: the path of a socket has to fit below it.
        self._root = Path(tempfile.mkdtemp(prefix="ag-", dir="/tmp")).resolve()
        self._agents = agents
        self.home, self.project = self._root / "h", self._root / "p"
        self._running: list[asyncio.subprocess.Process] = []
        self.home.mkdir()
        self.project.mkdir()
        (self.project / ".git").mkdir()
        node = Path(shutil.which("node") or "/usr/bin/node").parent
        self.env = {"PATH": f"{node}:/usr/bin:/bin", "HOME": str(self.home), "LANG": "C.UTF-8"}
        self.etc = self._root / "etc"
        self._inside: list[str] = []

    @property
    def guests(self) -> Path:
        """Where the resident process and its clients meet."""
        return self.home / ".local" / "share" / "amplifier" / "guests"

    def set_up(self, program: Program) -> None:
        """Install an agent, as its user would have before us."""
        where = self.locate(program).parent
        self.env["PATH"] = f"{where}:{self.env['PATH']}"
        program.write_settings(self.home, self.project)

    def use_own_etc(self) -> None:
        """Have everything run with an /etc of its own, in which root lives in this home."""
        if os.geteuid() != 0:
            pytest.skip("THE SETTINGS OF A MACHINE ARE NOT TESTED HERE: this needs root")
        shutil.copytree("/etc", self.etc, symlinks=True)
        users = (self.etc / "passwd").read_text().splitlines()
        users = [re.sub("^(root(?::[^:]*){4}):[^:]*:", rf"\1:{self.home}:", one) for one in users]
        (self.etc / "passwd").write_text("\n".join([*users, ""]))
        steps = [f"mount --bind {self.etc} /etc", *_open_interpreter(self._agents, self._root)]
        script = " && ".join([*steps, 'exec "$@"'])
        self._inside = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh"]

    def locate(self, program: Program) -> Path:
        """The file of an agent's program."""
        return program.locate(self._agents)

    def read(self, name: str = "out.txt") -> list[str]:
        """The lines of a file of the project; none if it is not there."""
        path = self.project / name
        return path.read_text().splitlines() if path.exists() else []

    # Our side

    def amplifier(self, *words: str, codes: Sequence[int] = (0,)) -> str:
        """Run the command line in the project; what it printed."""
        done = subprocess.run(
            [*self._inside, AMPLIFIER, *words],
            cwd=self.project,
            env=self.env,
            capture_output=True,
            text=True,
        )
        said = f"amplifier {' '.join(words)}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert done.returncode in codes, said
        return done.stdout

    def amplifier_at_terminal(self, *words: str) -> None:
        """Run a command of a person, who sits at a terminal."""
        with run_in_pty(str(AMPLIFIER), *words, cwd=self.project, env=self.env) as program:
            assert program.wait_end() == 0, program.raw

    def write_bundle(self, more: str = "") -> None:
        """Put the hook of these tests into the project, and trust it as its person would."""
        (self.project / "judge.py").write_text(JUDGE.read_text())
        bundle = "name: agents\nhooks:\n  - {module: judge, source: ./judge.py}\n" + more
        (self.project / "amplifier.yaml").write_text(bundle)
        shown = self.amplifier("trust", "--show", codes=(0, 3))
        (digest,) = {word for word in shown.split() if len(word) == 64} or {""}
        self.amplifier("trust", "--digest", digest)

    def guard(self, program: Program, *options: str, codes: Sequence[int] = (0,)) -> str:
        """Put our hooks in front of an agent."""
        return self.amplifier("guard", program.name, *options, codes=codes)

    def ask_resident(self, word: str) -> dict[str, Any]:
        """The state of the resident process, or tell it to stop; empty if there is none."""
        import socket

        from amplifier_hooks.coding_agents.client.client import VERSION

        with socket.socket(socket.AF_UNIX) as line, suppress(OSError):
            line.settimeout(10)
            line.connect(str(self.guests / "guest.sock"))
            line.sendall(f"amplifier-guest 1\t{VERSION}\t-\t{word}\t5\t\t/\t\n".encode())
            line.shutdown(socket.SHUT_WR)
            with line.makefile("rb") as answer:
                _, _, said = answer.read().lstrip(b".\n").partition(b"\n")
            facts: dict[str, Any] = json.loads(said)
            return facts
        return {}

    def let_go(self) -> None:
        """Have the hook that waits go on."""
        (self.project / "go").touch()

    def find_clients(self) -> list[int]:
        """The processes that wait for an answer of the resident process."""
        return [one for one in _list_processes() if self._is_client(one)]

    def _is_client(self, process: int) -> bool:
        try:
            words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
        except OSError:
            return False
        return str(self.guests).encode() in words and b"-I" in words

    # The agent's side

    async def run(
        self,
        program: Program,
        script: Sequence[Mapping[str, Any]],
        env: Mapping[str, str] | None = None,
    ) -> Outcome:
        """Run an agent on a script to its end."""
        async with ModelServer(script, per_conversation=True) as server:
            process = await self.start(program, server.url, env)
            try:
                output, _ = await asyncio.wait_for(process.communicate(), LONGEST_RUN)
            finally:
                await self.end(process)
            return Outcome(process.returncode, output.decode(errors="replace"), server.requests)

    async def start(
        self, program: Program, url: str, env: Mapping[str, str] | None = None
    ) -> asyncio.subprocess.Process:
        """Start an agent whose model is at this address, in a process group of its own."""
        command = program.build_command(self.locate(program), url)
        process = await self.start_command(program, command, url, env)
        assert process.stdin is not None
        process.stdin.close()
        return process

    async def start_command(
        self,
        program: Program,
        command: Sequence[str],
        url: str,
        env: Mapping[str, str] | None = None,
        log: Path | None = None,
    ) -> asyncio.subprocess.Process:
        """Start an agent in another way; what it says about itself goes to a file, if there is one.

        Its input is open, for an editor that talks with it.
        """
        own = program.build_environment(self.home, url)
        with contextlib.ExitStack() as stack:
            errors: Any = asyncio.subprocess.STDOUT
            if log is not None:
                errors = stack.enter_context(log.open("ab"))
            process = await asyncio.create_subprocess_exec(
                *self._inside,
                *command,
                cwd=self.project,
                env={**self.env, **LOOPBACK, **own, **(env or {})},
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
                limit=_LONGEST_LINE,
            )
        self._running.append(process)
        return process

    # The end

    async def close(self) -> None:
        """End every process of this machine, and remove everything."""
        self.let_go()
        for process in tuple(self._running):
            await self.end(process)
        resident = self.ask_resident("stop").get("pid")
        # Agents may start their hooks in sessions of their own.
        for client in self.find_clients():
            _kill(client)
        if resident is not None and not await wait_for(lambda: not _is_there(resident), 15):
            _kill(resident)
        shutil.rmtree(self._root, ignore_errors=True)

    async def end(self, process: asyncio.subprocess.Process) -> None:
        """End what still runs of an agent, with everything it has started in its group."""
        self._running.remove(process)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def _open_interpreter(agents: Path, root: Path) -> list[str]:
    """What makes our interpreter readable for everybody, if it lies in the home of root.

    The agents may lie there as well.
    """
    base = Path(sys.base_prefix)
    closed = [one for one in reversed(base.parents) if not one.stat().st_mode & 0o001]
    if not closed:
        return []
    shown = [closed[0] / base.relative_to(closed[0]).parts[0]]
    shown += [agents] if agents.is_relative_to(closed[0]) else []
    aside = {root / f"aside-{number}": path for number, path in enumerate(shown)}
    hide = f"mount -t tmpfs -o mode=0755 none {closed[0]}"
    keep = [f"mkdir -p {place} && mount --bind {path} {place}" for place, path in aside.items()]
    show = [f"mkdir -p {path} && mount --move {place} {path}" for place, path in aside.items()]
    return [*keep, hide, *show]


def _kill(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def _is_there(process: int) -> bool:
    return Path(f"/proc/{process}").exists()


def _list_processes() -> list[int]:
    return [int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit()]
