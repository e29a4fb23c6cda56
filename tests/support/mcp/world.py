"""A machine with a gateway on it: a home and a project, questions, and what is recorded."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amplifier_audit import open_log, read_records, verify
from amplifier_hooks.agent.trust.store import TrustStore
from amplifier_hooks.approvals.models import (
    Approval,
    ApprovalFilter,
    Choice,
    Decider,
)
from amplifier_hooks.approvals.stores.store import open_store
from tests.support.mcp.wire import Program
from tests.support.trust import look_at
from tests.support.waiting import wait_until

AMPLIFIER = (sys.executable, "-m", "amplifier_hooks.cli.main")
TINY_SERVER = Path(__file__).with_name("tiny_server.py")
JUDGE = Path(__file__).with_name("judge.py")
PERSON = Decider("ann", "cli")
ALLOW, DENY = 0, 1
SOUND = (0, 3)
"""Exit codes of `amplifier audit verify`: proven to an anchor, or consistent without one."""
BUNDLE = """\
name: gateway
inherit: false
session: {orchestrator: loop-basic, context: context-simple}
hooks:
  - {module: judge, source: ./judge.py}
audit: {enabled: true, level: normal, mode: inline, on_failure: deny}
"""


@dataclass(frozen=True)
class Trail:
    """The records of one session, verified."""

    records: list[dict[str, Any]]

    def list_types(self) -> list[str]:
        """What each record is."""
        return [record["type"] for record in self.records]

    def list_events(self, name: str) -> list[dict[str, Any]]:
        """What went through the hooks at one event."""
        return [
            record["body"]
            for record in self.records
            if record["type"] == "dispatch" and record["event"] == name
        ]

    def list_calls(self) -> list[tuple[str, str]]:
        """Each call that was judged, and the verdict."""
        found = self.list_events("tool:pre")
        return [(body["data"]["tool_name"], body["action"]) for body in found]


class World:
    """A home and a project below a folder that is thrown away."""

    def __init__(self, root: Path) -> None:
        self.home, self.project = root / "home", root / "project"
        self.home.mkdir()
        self.project.mkdir()
        self.log = root / "log"
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TMPDIR": str(root),
        }
        self.log.touch()

    def write_bundle(self, text: str = BUNDLE) -> None:
        """Put the hook of these tests into the project, and trust it as its person would."""
        shutil.copy(JUDGE, self.project / "judge.py")
        (self.project / "amplifier.yaml").write_text(text)
        store = TrustStore(self.home / ".local" / "share" / "amplifier" / "trust")
        store.trust(look_at(self.project), "tester")

    # The gateway

    def build_command(self, *command: object, options: tuple[str, ...] = ()) -> list[str]:
        """The gateway before a server, which is the small one if none is given."""
        server = command or self.build_tiny_command()
        return [*AMPLIFIER, "mcp", "gateway", *options, "--", *map(str, server)]

    def build_tiny_command(self) -> list[str]:
        """The small server, alone."""
        return [sys.executable, "-I", "-S", str(TINY_SERVER), str(self.log)]

    async def start(
        self, *command: object, options: tuple[str, ...] = ("--name", "tiny")
    ) -> Program:
        """A client's line to the gateway, in a process of its own."""
        return await Program.start(
            self.build_command(*command, options=options), cwd=self.project, env=self.env
        )

    def read_arrived(self) -> list[dict[str, Any]]:
        """Every message that the small server has been given."""
        return [json.loads(line) for line in self.log.read_bytes().splitlines()]

    def list_called(self) -> list[str]:
        """The tools that it was asked to run."""
        arrived = [one for one in self.read_arrived() if one.get("method") == "tools/call"]
        return [one["params"]["name"] for one in arrived]

    # People

    @property
    def store(self) -> Path:
        """Where questions of this machine are put."""
        return self.home / ".local" / "share" / "amplifier" / "store" / "store.db"

    async def list_asked(self) -> list[Approval]:
        """Everything that was ever asked."""
        async with await open_store(self.store) as store:
            found, _ = await store.approvals.list(ApprovalFilter())
        return list(found)

    async def wait_for_question(self, number: int = 1) -> Approval:
        """The newest question, once so many have been asked."""
        found: list[Approval] = []

        async def is_asked() -> bool:
            found[:] = await self.list_asked() if self.store.exists() else []
            return len(found) >= number

        await wait_until(is_asked)
        return max(found, key=lambda one: one.created)

    async def decide(self, approval: Approval, option: int = ALLOW) -> None:
        """What a person says."""
        async with await open_store(self.store) as store:
            choice = Choice(option=option, nonce=approval.nonce, key=f"click-{approval.id}")
            await store.approvals.decide(approval.id, choice, PERSON)

    # The trail

    def read_trails(self) -> list[Trail]:
        """The trails of all sessions on this machine, each verified."""
        logs = sorted((self.home / ".local" / "share" / "amplifier" / "audit").iterdir())
        return [_read_trail(log) for log in logs]

    def read_trail(self) -> Trail:
        """The only one."""
        (trail,) = self.read_trails()
        return trail

    async def run_amplifier(self, *words: str, codes: tuple[int, ...] = (0,)) -> str:
        """Run the command line in the project; what it printed."""
        process = await asyncio.create_subprocess_exec(
            *AMPLIFIER,
            *words,
            cwd=self.project,
            env=self.env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        stdout, stderr = await process.communicate()
        said = f"amplifier {' '.join(words)}: {process.returncode}\n{stdout!r}\n{stderr!r}"
        assert process.returncode in codes, said
        return stdout.decode()


def _read_trail(log: Path) -> Trail:
    report = verify(log)
    assert report.finding is None, report
    return Trail(list(read_records(open_log(log))))
