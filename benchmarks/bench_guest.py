"""What one event of a coding agent costs: our command, against a script that only copies JSON.

The baseline is the cheapest hook that anybody would write: `python -S`, read, change, write. Ours
is the line that is written into the agents' settings, run by a shell as they run it. Both see the
same event, one after the other, and the medians are compared.
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

from amplifier_hooks.coding_agents.daemon.control import stop_resident
from amplifier_hooks.coding_agents.daemon.folder import HttpPort, choose_port
from amplifier_hooks.coding_agents.daemon.protocol import Request, Response
from amplifier_hooks.coding_agents.daemon.server import run_resident
from amplifier_hooks.coding_agents.installing.line import make_guest_command
from benchmarks.harness import Row, report

ROUNDS = 60
IN_PROCESS_ROUNDS = 5
EVENT = "PreToolUse"
ANSWER = b'{"suppressOutput": true}\n'
PAYLOAD = json.dumps(
    {
        "session_id": "0f0f0f0f-1111-2222-3333-444444444444",
        "transcript_path": "/home/me/.claude/projects/x.jsonl",
        "cwd": "/",
        "permission_mode": "default",
        "hook_event_name": EVENT,
        "tool_name": "Bash",
        "tool_input": {"command": "git status --short", "description": "See what has changed"},
        "tool_use_id": "toolu_01",
    }
).encode()

SCRIPT = """\
import json, sys
event = json.load(sys.stdin)
event["seen"] = True
json.dump(event, sys.stdout)
"""
IN_PROCESS = """\
import asyncio, sys
from amplifier_hooks.coding_agents.daemon.protocol import Request
from amplifier_hooks.coding_agents.sessions.judge import AgentJudge

async def main():
    judge = AgentJudge()
    request = Request("claude", "PreToolUse", sys.stdin.buffer.read(), 30.0, cwd="/")
    response = await judge.answer(request)
    await judge.close()
    sys.stdout.buffer.write(response.stdout)
    return response.code

sys.exit(asyncio.run(main()))
"""


class OpenJudge:
    """Has no opinion about anything: the way there and back is what is measured."""

    async def answer(self, request: Request) -> Response:
        """A few bytes, so that something is written."""
        return Response(0, ANSWER)

    async def close(self) -> None:
        """There is nothing to suspend."""

    def count_sessions(self) -> int:
        """None."""
        return 0

    def list_alarms(self) -> list[str]:
        """None."""
        return []

    def holds_open(self) -> bool:
        """It may go."""
        return False


def run_hook(command: list[str], env: dict[str, str]) -> Callable[[], float]:
    """Seconds of one call of a command that is handed the event."""

    def once() -> float:
        start = perf_counter()
        done = subprocess.run(command, input=PAYLOAD, capture_output=True, env=env, check=False)
        spent = perf_counter() - start
        if done.returncode or (done.stderr and b"Warning" not in done.stderr):
            raise SystemExit(f"{command[0]} failed: {done.stderr.decode(errors='replace')}")
        return spent

    return once


def start_anew(folder: Path, call: Callable[[], float]) -> Callable[[], float]:
    """The same call when the resident process has to be started first."""

    def once() -> float:
        stop_resident(folder)
        return call()

    return once


def post_event(door: HttpPort) -> Callable[[], float]:
    """Seconds of one event on a connection that stays open."""
    line = http.client.HTTPConnection("127.0.0.1", door.port)
    headers = {"Authorization": f"Bearer {door.token}", "Content-Type": "application/json"}

    def once() -> float:
        start = perf_counter()
        line.request("POST", f"/claude/{EVENT}", PAYLOAD, headers)
        answer = line.getresponse().read()
        if answer != ANSWER:
            raise SystemExit(f"HTTP failed: {answer!r}")
        return perf_counter() - start

    return once


def compare_medians(
    what: str,
    baseline: Callable[[], float],
    subject: Callable[[], float],
    *,
    at_most: float | None = None,
    rounds: int = ROUNDS,
) -> Row:
    """The row of both, called in turn; the first call of each warms the caches."""
    baseline(), subject()
    pairs = [(baseline(), subject()) for _ in range(rounds)]
    base, cost = (median(side) for side in zip(*pairs, strict=True))
    return Row(what, cost / base, at_most, base * 1e6, cost * 1e6)


def write_launch_file(folder: Path, door: HttpPort | None) -> None:
    """Let clients start this file as the resident process; without a door, start the real one."""
    root = str(Path(__file__).parents[1])
    words = ["benchmarks.bench_guest", "--serve"] if door else ["amplifier_hooks.coding_agents"]
    data = {
        "argv": [sys.executable, "-m", *words, str(folder)],
        "env": {"PYTHONPATH": root, "HOME": str(folder), "PATH": os.environ["PATH"]},
        "http": door._asdict() if door else None,
    }
    folder.mkdir(mode=0o700)
    (folder / "launch.json").write_text(json.dumps(data))
    (folder / "launch.json").chmod(0o600)


def measure(place: Path) -> list[Row]:
    """All rows, in a folder that is empty."""
    open_folder, real_folder = place / "open", place / "real"
    door = choose_port()
    write_launch_file(open_folder, door)
    write_launch_file(real_folder, None)
    script = place / "script.py"
    script.write_text(SCRIPT)
    env = {"PATH": os.environ["PATH"], "HOME": str(place)}
    baseline = run_hook([str(make_guest_command(place).python), "-S", str(script)], env)
    try:
        return [
            compare_medians(
                "The installed line, against a script that copies JSON",
                baseline,
                run_hook(["/bin/sh", "-c", build_line(open_folder)], env),
                at_most=0.5,
            ),
            compare_medians(
                "The installed line, with a session, its hooks and its trail",
                baseline,
                run_hook(["/bin/sh", "-c", build_line(real_folder)], env),
            ),
            compare_medians(
                "The first event, which starts the resident process and its session",
                baseline,
                start_anew(real_folder, run_hook(["/bin/sh", "-c", build_line(real_folder)], env)),
                at_most=57.0,
                rounds=IN_PROCESS_ROUNDS,
            ),
            compare_medians(
                "The same event by HTTP, without them", baseline, post_event(door), at_most=0.1
            ),
            compare_medians(
                "The same event, judged within the command itself",
                baseline,
                run_hook([sys.executable, "-c", IN_PROCESS], env),
                rounds=IN_PROCESS_ROUNDS,
            ),
        ]
    finally:
        stop_resident(open_folder)
        stop_resident(real_folder)


def build_line(folder: Path) -> str:
    """What the settings of an agent hold."""
    return make_guest_command(folder).build_line("claude", EVENT, 30, gate=True)


def main() -> None:
    """Measure and report; with `--serve FOLDER`, be the resident process."""
    if "--serve" in sys.argv:
        sys.exit(run_resident(Path(sys.argv[-1]), OpenJudge))
    with tempfile.TemporaryDirectory(prefix="amplifier-") as name:
        rows = measure(Path(name).resolve())
    report("One event of a coding agent", rows)


if __name__ == "__main__":
    main()
