"""Runs every command in a folder that nobody trusts, and writes down what each of them touched.

This is a program: it runs in isolation (`tests.support.isolation`), where a listener is behind
every address that the folder names. Each command is forked off from a process that has imported
the program already, with an audit hook that writes down connections and child processes.

    python -m tests.hostile.untrusted_folder JOB.json RESULT.json
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

WATCHED = {
    "socket.connect",
    "socket.getaddrinfo",
    "subprocess.Popen",
    "os.posix_spawn",
    "os.exec",
    "os.system",
}

IMPORTED = (
    "amplifier_hooks.cli.program",
    "amplifier_hooks.agent.bundles",
    "amplifier_hooks.coding_agents.self_test.check",
    "amplifier_hooks.agent.session.inspection.effective_hooks",
    "amplifier_hooks.approvals.stores.store",
    "amplifier_hooks.agent.trust.difference",
)
"""Imported once, before forking: most commands need them."""


def main(job: dict[str, Any]) -> list[dict[str, Any]]:
    """Run the commands of a job one after the other; what each did, and what listeners got."""
    for name in IMPORTED:
        import_module(name)
    received: list[str] = []
    for port in job["ports"]:
        listener = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=_listen, args=(listener, received), daemon=True).start()
    results = []
    for number, command in enumerate(job["commands"]):
        received.clear()
        result = _run(command, Path(job["scratch"]) / str(number), job)
        results.append({**result, "command": command, "received": list(received)})
    return results


def _listen(listener: socket.socket, received: list[str]) -> None:
    while True:
        connection, _ = listener.accept()
        with connection, suppress(OSError):
            connection.settimeout(2)
            received.append("connected")
            received.append(connection.recv(65536).decode("latin-1"))


def _run(command: list[str], scratch: Path, job: dict[str, Any]) -> dict[str, Any]:
    scratch.mkdir()
    child = os.fork()
    if child == 0:
        _become(command, scratch, job)
    started = time.monotonic()
    code = _wait(child, 3 if " ".join(command) in job["endless"] else job["seconds"])
    took = time.monotonic() - started
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    events = (scratch / "events").read_text().splitlines()
    output = (scratch / "output").read_text(errors="replace")
    return {"code": code, "events": events, "output": output, "took": took}


def _wait(child: int, seconds: float) -> int | None:
    """The exit code; None for a command that would have gone on."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _become(command: list[str], scratch: Path, job: dict[str, Any]) -> None:
    """This process is the command from now on."""
    from amplifier_hooks.cli.main import run

    os.setsid()
    os.chdir(job["folder"])
    os.environ.clear()
    os.environ.update(job["env"])
    output = os.open(scratch / "output", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    nothing = os.open("/dev/null", os.O_RDONLY)
    for target, source in ((0, nothing), (1, output), (2, output)):
        os.dup2(source, target)
    events = os.open(scratch / "events", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def note(event: str, arguments: tuple[object, ...]) -> None:
        if event in WATCHED:
            shown = [one for one in arguments if not isinstance(one, dict)]
            os.write(events, f"{event} {shown!r}\n".replace("\\n", " ").encode())

    sys.addaudithook(note)
    sys.argv = ["amplifier", *command]
    code = 70
    try:
        code = run(command)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    wanted = json.loads(Path(sys.argv[1]).read_text())
    Path(sys.argv[2]).write_text(json.dumps(main(wanted)))
