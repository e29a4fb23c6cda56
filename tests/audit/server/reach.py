"""What a session under another user can do to the writer's files. Runs as a program of its own."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from amplifier_audit.remote_log import RemoteLog
from amplifier_audit.verification import verify
from tests.audit.server.kills import AGENT, PATIENT, WRITER, Stage, rehearse, run_child
from tests.audit.support import VERIFIER


class QuietStage(Stage):
    """With a writer, and without a session."""

    def start_session(self) -> int:
        return 0


def attempt(action: Callable[[], Any]) -> str:
    """What became of it."""
    try:
        action()
    except Exception as error:  # noqa: BLE001 - its name is the result
        return type(error).__name__
    return "done"


def try_everything(stage: Stage) -> dict[str, str]:
    """As the agent's user."""
    home = stage.home
    trail = home / "trails" / str(AGENT) / "agent"
    own = stage.root / "own"
    results = {"appended": attempt(lambda: asyncio.run(append(home / "socket")))}
    actions: dict[str, Callable[[], Any]] = {
        "list the trails": lambda: list((home / "trails").iterdir()),
        "read the log": lambda: (trail / "00000000.jsonl").read_bytes(),
        "move the trails": lambda: (home / "trails").rename(own),
        "replace the socket": lambda: (home / "socket").unlink(),
        "kill the writer": lambda: os.kill(stage.writer, signal.SIGKILL),
        "name a session outside": lambda: open_log(home / "socket", f"../{WRITER}/x", None),
        "trust a socket of its own": lambda: open_log(home / "socket", "agent", AGENT),
    }
    return results | {name: attempt(action) for name, action in actions.items()}


async def append(socket: Path) -> None:
    """As a session does."""
    log = await RemoteLog.open(socket, "agent", PATIENT)
    await log.commit(log.append("tool_started", {}, session="agent"))
    await log.close()


def open_log(socket: Path, session: str, user: int | None) -> None:
    """Connect and see whether the name leads elsewhere."""
    log = RemoteLog(socket, session, PATIENT, server_user=user)
    asyncio.run(log.close())


def main() -> None:
    """Print one line of JSON."""
    root = Path(tempfile.mkdtemp())
    root.chmod(0o755)
    (root / "rehearsal").mkdir()
    asyncio.run(rehearse(root / "rehearsal"))
    verify(root / "rehearsal" / "trails" / str(os.geteuid()) / "ann")
    stage = QuietStage(root, None)  # type: ignore[arg-type]
    try:
        while not (stage.home / "socket").exists():
            time.sleep(0.01)
        reader, writer = os.pipe()

        def report() -> None:
            os.write(writer, json.dumps(try_everything(stage)).encode())

        os.waitpid(run_child(AGENT, report), 0)
        result = json.loads(os.read(reader, 1 << 16))
        path = stage.home / "trails" / str(AGENT) / "agent"
        # Below the number of its user, whatever the session calls itself.
        result["folders"] = [one.name for one in (stage.home / "trails").iterdir()]
        result["verdict"] = verify(path, key=VERIFIER, session="agent").verdict
    finally:
        stage.kill(stage.writer)
        shutil.rmtree(root)
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
